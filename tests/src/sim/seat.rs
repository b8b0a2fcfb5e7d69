//! A process's place at a port: its calls take their turn, are written into
//! the diary, and meet what the schedule has for them.

use super::api::JobApi;
use super::diary::{self, Diary};
use super::executor::Spawner;
use super::moody::Moody;
use super::mutant::Mutant;
use super::watch::Watch;
use crate::fault::Faulty;
use crate::memory::{MemoryQueue, MemoryStore, SeededEntropy, VirtualClock};
use sekali::ids::Generation;
use sekali::key::{ActionKey, EventHash, EventKey, ResourceKey};
use sekali::pause::Pauses;
use sekali::payload::Payload;
use sekali::ports::{
    Call, Captured, Create, Destination, DuePage, Erasure, Found, Get, Got, HistoryRecord, IndexShard,
    Message, NotGot, Outbound, Outcome, PauseRecord, Probe, Queue, QueueError, Store, StoreError, Write,
};
use sekali::protocol::action::Action;
use sekali::protocol::event::{ContentFacts, Event};
use sekali::protocol::history::{History, HistoryWrite};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::Transition;
use sekali::time::{Clock, ExpiresAt, UnixMillis};
use std::future::{Future, poll_fn};
use std::task::Poll;

/// The most turns that a call waits before it is made.
const LONGEST_WAIT: u64 = 3;

/// Whose calls they are, and who hears of them.
#[derive(Clone)]
pub struct Desk {
    /// The process.
    pub name: String,
    /// The true clock.
    pub clock: VirtualClock,
    /// How long each call takes.
    pub pace: SeededEntropy,
    /// What is written down.
    pub diary: Diary,
    /// Who checks.
    pub watch: Watch,
    /// Where it sets others going.
    pub spawner: Spawner,
    /// What this process does wrong.
    pub mutant: Option<Mutant>,
}

impl Desk {
    /// Lets others go first, a few turns long.
    pub async fn wait(&self) {
        let mut turns = self.pace.pick(LONGEST_WAIT);
        poll_fn(|context| {
            if turns == 0 {
                return Poll::Ready(());
            }
            turns -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// One call: waits for its turn, and writes down how it ended.
    async fn turn<T>(
        &self,
        what: &str,
        call: impl Future<Output = T>,
        words: impl FnOnce(&T) -> String,
    ) -> T {
        self.wait().await;
        let end = call.await;
        self.diary.note(self.clock.now(), || format!("{} {what}: {}", self.name, words(&end)));
        end
    }
}

/// A port as one process has it.
#[derive(Clone)]
pub struct Seat<P> {
    /// The port, with its faults.
    pub port: Faulty<P>,
    /// The process.
    pub desk: Desk,
}

impl Store for Seat<MemoryStore> {
    async fn create_event(&self, event: &Event) -> Result<Create, StoreError> {
        let create = self.port.create_event(event);
        self.desk.turn("creates the event", create, |end| diary::end(end, diary::created)).await
    }

    async fn put_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        payload: &Payload,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        let put = async {
            match self.desk.mutant {
                Some(mutant) => mutant.put_payload(self, (key, hash), payload, expires).await,
                None => self.port.put_payload(key, hash, payload, expires).await,
            }
        };
        self.desk.turn("puts the payload", put, |end| diary::end(end, |()| "there".to_owned())).await
    }

    async fn keep_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
    ) -> Result<bool, StoreError> {
        let keep = async {
            match self.desk.mutant {
                Some(Mutant::NeverKeepsAPayload) => Ok(true),
                _ => self.port.keep_payload(key, hash, generation).await,
            }
        };
        self.desk
            .turn("keeps the payload", keep, |end| diary::end(end, |there| format!("there: {there}")))
            .await
    }

    async fn expire_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        let expire = self.port.expire_payload(key, hash, generation, expires);
        self.desk.turn("lets the payload expire", expire, |end| diary::end(end, |()| "done".to_owned())).await
    }

    async fn payload(&self, key: &EventKey, hash: &EventHash) -> Result<Option<Payload>, StoreError> {
        let words = |found: &Option<Payload>| diary::found(found, |_| "there".to_owned());
        self.desk.turn("reads the payload", self.port.payload(key, hash), |end| diary::end(end, words)).await
    }

    async fn event(&self, key: &EventKey) -> Result<Option<Event>, StoreError> {
        let words = |found: &Option<Event>| diary::found(found, diary::event);
        self.desk.turn("reads the event", self.port.event(key), |end| diary::end(end, words)).await
    }

    async fn action(&self, key: &ActionKey) -> Result<Option<Action>, StoreError> {
        let words = |found: &Option<Action>| diary::found(found, diary::action);
        self.desk.turn("reads the action", self.port.action(key), |end| diary::end(end, words)).await
    }

    async fn resource(&self, key: &ResourceKey) -> Result<Option<Resource>, StoreError> {
        let words = |found: &Option<Resource>| diary::found(found, |resource| resource.status.to_string());
        self.desk.turn("reads the resource", self.port.resource(key), |end| diary::end(end, words)).await
    }

    async fn write(&self, transition: &Transition) -> Result<Write, StoreError> {
        let write = async {
            match self.desk.mutant {
                Some(mutant) => mutant.write(self, transition).await,
                None => self.port.write(transition).await,
            }
        };
        let what = if self.desk.diary.is_kept() {
            format!("writes [{}]", diary::transition(transition))
        } else {
            String::new()
        };
        self.desk.turn(&what, write, |end| diary::end(end, diary::wrote)).await
    }

    async fn count_duplicate(
        &self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> Result<Option<Event>, StoreError> {
        let words = |found: &Option<Event>| diary::found(found, diary::event);
        let count = self.port.count_duplicate(key, other, at);
        self.desk.turn("counts a duplicate", count, |end| diary::end(end, words)).await
    }

    async fn record_conflict(
        &self,
        key: &EventKey,
        hash: &EventHash,
        at: UnixMillis,
    ) -> Result<(), StoreError> {
        let record = self.port.record_conflict(key, hash, at);
        self.desk.turn("records a conflict", record, |end| diary::end(end, |()| "done".to_owned())).await
    }

    async fn adopt(&self, seen: &Event, to: &ContentFacts, at: UnixMillis) -> Result<Write, StoreError> {
        let adopt = self.port.adopt(seen, to, at);
        self.desk.turn("adopts the content", adopt, |end| diary::end(end, diary::wrote)).await
    }

    async fn capture(&self, captured: &Captured) -> Result<Write, StoreError> {
        let capture = self.port.capture(captured);
        self.desk
            .turn("keeps a secret that was handed over", capture, |end| diary::end(end, diary::wrote))
            .await
    }

    async fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        // An empty part of the index is no point: whatever goes wrong with it,
        // nothing comes of it.
        let page = self.port.inner().due(shard, until, after, limit).await;
        if page.as_ref().is_ok_and(|page| page.events.is_empty()) {
            return page;
        }
        let due = self.port.due(shard, until, after, limit);
        let words = |page: &DuePage| format!("{} due", page.events.len());
        self.desk.turn("reads the index", due, |end| diary::end(end, words)).await
    }
}

impl PauseRecord for Seat<MemoryStore> {
    async fn pauses(&self) -> Result<Pauses, StoreError> {
        // Where nobody has ever paused anything there is no point: a process
        // that cannot read the record does nothing, as if it had not come.
        if self.port.inner().look(|tables| *tables.pauses() == Pauses::default()) {
            return Ok(Pauses::default());
        }
        let words = |pauses: &Pauses| format!("{} on record", pauses.endpoints.len());
        self.desk.turn("reads the pauses", self.port.pauses(), |end| diary::end(end, words)).await
    }

    async fn set_pauses(&self, from: u64, to: &Pauses) -> Result<Write, StoreError> {
        let set = self.port.set_pauses(from, to);
        self.desk.turn("sets the pauses", set, |end| diary::end(end, diary::wrote)).await
    }
}

impl HistoryRecord for Seat<MemoryStore> {
    async fn history(&self, key: &EventKey) -> Result<History, StoreError> {
        let words = |history: &History| format!("{} decisions", history.written);
        self.desk.turn("reads the history", self.port.history(key), |end| diary::end(end, words)).await
    }

    async fn create_recorded(&self, event: &Event, record: &HistoryWrite) -> Result<Create, StoreError> {
        let created = self.port.create_recorded(event, record);
        self.desk.turn("brings an event", created, |end| diary::end(end, diary::created)).await
    }
}

impl Erasure for Seat<MemoryStore> {
    async fn erase_payload(&self, key: &EventKey, hash: &EventHash) -> Result<(), StoreError> {
        let erase = self.port.erase_payload(key, hash);
        self.desk.turn("erases the payload", erase, |end| diary::end(end, |()| "gone".to_owned())).await
    }

    async fn erase_request(&self, action: &Action) -> Result<bool, StoreError> {
        let erase = self.port.erase_request(action);
        self.desk.turn("empties the request", erase, |end| diary::end(end, ToString::to_string)).await
    }
}

impl Queue for Seat<MemoryQueue> {
    async fn send(&self, message: &Message) -> Result<(), QueueError> {
        let words = |end: &Result<(), QueueError>| format!("{end:?}");
        self.desk.turn("sends a message", self.port.send(message), words).await
    }
}

impl Outbound for Seat<JobApi> {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        let words = |end: &Result<Got, NotGot>| match end {
            Ok(got) => format!("{} {}", got.status, String::from_utf8_lossy(&got.body)),
            Err(error) => error.to_string(),
        };
        if let Some(confirming) = self.port.inner().confirming(&get) {
            self.desk.watch.calls(&confirming.call(), self.desk.clock.now());
        }
        self.desk.turn("asks the vendor's API", self.port.get(get), words).await
    }
}

impl Destination for Seat<Moody> {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let mutant = self.desk.mutant;
        let bent = mutant.map_or_else(|| call.clone().into(), |mutant| mutant.bend(call.clone()));
        let call = bent.as_call();
        // Whatever freezes the worker from here on, no clock could have told it.
        self.desk.watch.calls(&call, self.desk.clock.now());
        let heard = async {
            let outcome = self.port.call(call).await;
            match mutant {
                Some(mutant) => mutant.hears(outcome),
                None => outcome,
            }
        };
        self.desk.turn("calls the destination", heard, |end| format!("{end:?}")).await
    }

    async fn probe(&self, probe: Probe<'_>) -> Found {
        let words = |found: &Found| format!("{found:?}");
        self.desk.turn("asks the destination", self.port.probe(probe), words).await
    }
}
