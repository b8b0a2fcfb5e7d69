//! The model and another store, called alike and compared.

use super::aim::{at, seen_event};
use super::call::{Call, Sequence};
use super::{ACTIONS, CONTENTS, EVENTS, Pick, RESOURCES};
use crate::contract::sample::{Sample, content, expires, facts, payload, progress};
use crate::contract::{Inspected, index};
use crate::memory::MemoryStore;
use anyhow::ensure;
use sekali::ids::{Generation, PutNonce};
use sekali::ports::{Due, IndexShard, Store, StoreError, index_shard};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::transition::Transition;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::mem::{Discriminant, discriminant};

/// Makes the calls on a model and on the other store.
///
/// # Errors
/// The two differ, or the other store cannot be asked.
pub async fn agree(other: &impl Inspected, sequence: &Sequence) -> anyhow::Result<()> {
    let mut pair = Pair { sample: Sample::new(), model: MemoryStore::default(), other, last: None };
    for call in &sequence.0 {
        pair.step(call).await?;
    }
    pair.compare_items().await?;
    pair.compare_index().await
}

struct Pair<'a, S> {
    sample: Sample,
    model: MemoryStore,
    other: &'a S,
    /// The last transition that was written.
    last: Option<Transition>,
}

impl<S: Inspected> Pair<'_, S> {
    async fn step(&mut self, call: &Call) -> anyhow::Result<()> {
        if let Call::Write(aim) = call {
            self.last = Some(self.model.look(|tables| aim.transition(&self.sample, tables)));
        }
        // Decided before either store changes.
        let seen = match call {
            Call::Adopt { event, stale, .. } => {
                Some(self.model.look(|tables| seen_event(&self.sample, tables, *event, *stale)))
            }
            _ => None,
        };
        let model = self.make(&self.model, call, seen.as_ref()).await;
        let other = self.make(self.other, call, seen.as_ref()).await;
        same(&model, &other, &(call, &self.last))
    }

    /// Makes the call; its end as text, an error by its kind: that is what a
    /// caller decides on.
    async fn make(&self, store: &impl Store, call: &Call, seen: Option<&Event>) -> End {
        let key = |event: &Pick| self.sample.event_key(EVENTS[*event]);
        let hash = |pick: &Pick| content(CONTENTS[*pick]);
        match call {
            Call::Create { event, content, status, nonce } => {
                end(store.create_event(&self.created(*event, CONTENTS[*content], *status, *nonce)).await)
            }
            Call::PutPayload { event, content, seconds } => {
                // Deliveries of one content differ in its volatile fields.
                let (payload, until) = (payload(&[*seconds]), expires(u64::from(*seconds)));
                end(store.put_payload(&key(event), &hash(content), &payload, until).await)
            }
            Call::KeepPayload { event, content, generation } => {
                let generation = Generation::from_stored(*generation);
                end(store.keep_payload(&key(event), &hash(content), generation).await)
            }
            Call::ExpirePayload { event, content, generation, seconds } => {
                let (generation, until) =
                    (Generation::from_stored(*generation), expires(u64::from(*seconds)));
                end(store.expire_payload(&key(event), &hash(content), generation, until).await)
            }
            Call::Count { event, other, at: seconds } => {
                let other = other.as_ref().map(&hash);
                end(store.count_duplicate(&key(event), other.as_ref(), at(*seconds)).await)
            }
            Call::Conflict { event, content, at: seconds } => {
                end(store.record_conflict(&key(event), &hash(content), at(*seconds)).await)
            }
            Call::Adopt { content, at: seconds, .. } => match seen {
                Some(seen) => end(store.adopt(seen, &facts(CONTENTS[*content]), at(*seconds)).await),
                None => Ok(String::new()),
            },
            Call::Write(_) | Call::WriteAgain => match &self.last {
                Some(transition) => end(store.write(transition).await),
                None => Ok(String::new()),
            },
        }
    }

    fn created(&self, event: Pick, content: &str, status: EventStatus, nonce: u8) -> Event {
        let event = self.sample.event(EVENTS[event]).with(&facts(content));
        Event { put_nonce: PutNonce::new(format!("put-{nonce}")), progress: progress(status), ..event }
    }

    async fn compare_items(&self) -> anyhow::Result<()> {
        let (model, other) = (&self.model, self.other);
        for event in EVENTS.map(|id| self.sample.event_key(id)) {
            same(&model.event(&event).await?, &other.event(&event).await?, &event)?;
            for hash in CONTENTS.map(content) {
                let payloads = (model.payload(&event, &hash).await?, other.payload(&event, &hash).await?);
                same(&payloads.0, &payloads.1, &(&event, &hash))?;
                let expiry = model.look(|tables| tables.payload_expiry(&event, &hash));
                same(&expiry, &other.payload_expiry(&event, &hash).await?, &(&event, &hash))?;
            }
        }
        for action in ACTIONS.map(|id| self.sample.action_key(id)) {
            same(&model.action(&action).await?, &other.action(&action).await?, &action)?;
        }
        for resource in RESOURCES.map(|id| self.sample.resource_key(id)) {
            same(&model.resource(&resource).await?, &other.resource(&resource).await?, &resource)?;
        }
        Ok(())
    }

    /// The index of the other store holds the entries of earlier sequences,
    /// too, and may have to catch up.
    async fn compare_index(&self) -> anyhow::Result<()> {
        let keys = EVENTS.map(|id| self.sample.event_key(id));
        for shard in keys.iter().map(index_shard).collect::<BTreeSet<_>>() {
            for class in Due::ALL {
                let shard = IndexShard { class, shard };
                let expected = index::entries(&self.model, shard, at(9), 100).await?;
                let mut found = Vec::new();
                for _ in 0..index::QUESTIONS {
                    found = index::entries(self.other, shard, at(9), 1_000).await?;
                    found.retain(|(key, _)| keys.contains(key));
                    // Whose turn is first among equally due ones is nobody's promise.
                    found.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
                    if found == expected {
                        break;
                    }
                }
                same(&expected, &found, &shard)?;
            }
        }
        Ok(())
    }
}

type End = Result<String, Discriminant<StoreError>>;

fn end<T: Debug>(end: Result<T, StoreError>) -> End {
    end.map(|end| format!("{end:?}")).map_err(|error| discriminant(&error))
}

fn same<T: PartialEq + Debug>(model: &T, other: &T, what: &dyn Debug) -> anyhow::Result<()> {
    ensure!(model == other, "{what:?}\n  model {model:?}\n  other {other:?}");
    Ok(())
}
