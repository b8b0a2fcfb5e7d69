//! The sweeper: whatever was left open comes round again, at growing
//! intervals, and at a bound gets an end that a human sees. From every open
//! state this is the fault-free path on (INV-1).

mod count;

pub use count::MOST_COUNTED;

use crate::deployment::Deployment;
use crate::happened::{Happened, Happenings};
use crate::ids::CorrelationId;
use crate::key::EventKey;
use crate::pause::{Pauses, Remembered, Turns};
use crate::ports::{
    Due, INDEX_SHARDS, IndexShard, Message, PauseRecord, Queue, Store, StoreError, Write, apply,
};
use crate::protocol::action::Action;
use crate::protocol::decide::{Decision, End, Input, Read, State, Then, Undecidable, decide};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::{EffectPolicy, Limits};
use crate::time::{Clock, UnixMillis};
use std::sync::Arc;
use std::time::Duration;

/// Events read from one page of the index.
const PAGE: usize = 50;

/// Lost races at one event before it is left to the next run.
const ROUNDS: usize = 6;

/// The sweeper over its ports.
pub struct Sweeper<S, Q, C> {
    /// The tables.
    pub store: S,
    /// The queue. Only ingest and the sweeper send to it; the processor never
    /// does, since Lambda stops such loops.
    pub queue: Q,
    /// Time.
    pub clock: C,
    /// Today's destinations and windows.
    pub deployment: Arc<Deployment>,
    /// What this process remembers of the pauses.
    pub pauses: Remembered,
}

/// What one run goes by: the pauses, and whose turn it is after one.
struct Round<'s> {
    pauses: Arc<Pauses>,
    turns: Turns,
    swept: &'s mut Swept,
    happenings: &'s Happenings,
}

/// What one run did; the numbers become metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// Events looked at.
    pub looked_at: u64,
    /// Enqueued again.
    pub sent: u64,
    /// Given an end, or found settled.
    pub moved: u64,
    /// Left to the next run because a port failed or a race was lost.
    pub left: u64,
    /// The run ended with work left, because its time did.
    pub out_of_time: bool,
    /// How long the oldest event looked at has been open.
    pub oldest: Duration,
    /// How many events need a human, counted up to [`MOST_COUNTED`] each:
    /// failed, held, in doubt. `None` where a page of the index was not read.
    pub needs_human: [(EventStatus, Option<u64>); 3],
    /// What became of the events that it gave an end.
    pub happened: Vec<Happened>,
}

impl Default for Swept {
    fn default() -> Self {
        Self {
            looked_at: 0,
            sent: 0,
            moved: 0,
            left: 0,
            out_of_time: false,
            oldest: Duration::ZERO,
            needs_human: count::NOT_COUNTED,
            happened: Vec::new(),
        }
    }
}

impl<S: Store + PauseRecord, Q: Queue, C: Clock> Sweeper<S, Q, C> {
    /// Sweeps everything that is due, until `end` at the latest. Several
    /// sweepers may run at once.
    pub async fn run(&self, end: UnixMillis) -> Swept {
        let mut swept = Swept::default();
        let pauses = match self.pauses.pauses(&self.store, &self.clock).await {
            Ok(pauses) => pauses,
            // Better late than over somebody's pause: the next run is soon.
            Err(error) => {
                tracing::warn!(%error, "pauses were not read: nothing is swept");
                return swept;
            }
        };
        let happenings = Happenings::default();
        let mut round = Round { pauses, turns: Turns::default(), swept: &mut swept, happenings: &happenings };
        for class in [Due::Open, Due::InDoubt] {
            for shard in 0..INDEX_SHARDS {
                self.shard(IndexShard { class, shard }, end, &mut round).await;
            }
        }
        swept.happened = happenings.into_all();
        swept.needs_human = self.needs_human(end).await;
        swept
    }

    async fn shard(&self, shard: IndexShard, end: UnixMillis, round: &mut Round<'_>) {
        let until = self.clock.now();
        let mut after = None;
        loop {
            let page = match self.store.due(shard, until, after.as_ref(), PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(index.part = shard.class.as_str(), index.shard = shard.shard, %error, "a page of the index was not read");
                    round.swept.left += 1;
                    return;
                }
            };
            for (key, _) in &page.events {
                if self.clock.now() >= end {
                    round.swept.out_of_time = true;
                    return;
                }
                self.sweep(key, round).await;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return,
            }
        }
    }

    async fn sweep(&self, key: &EventKey, round: &mut Round<'_>) {
        round.swept.looked_at += 1;
        match self.look(key, round).await {
            Ok(()) => {}
            Err(trouble) => {
                tracing::warn!(event.key = %key, error = %trouble, "an event was left to the next sweep");
                round.swept.left += 1;
            }
        }
    }

    async fn look(&self, key: &EventKey, round: &mut Round<'_>) -> Result<(), Trouble> {
        let mut gate = None;
        for _ in 0..ROUNDS {
            let Some(event) = self.store.event(key).await? else { return Ok(()) };
            round.swept.oldest = round.swept.oldest.max(self.clock.now().since(event.received_at));
            let mut limits = round.pauses.bounding(&event.endpoint, self.deployment.limits(&event.endpoint));
            if let Some(drain) = round.pauses.drain(&event.endpoint).filter(|_| is_open(&event)) {
                // One turn for each event, however often it is read.
                let now = self.clock.now();
                limits.gate = *gate.get_or_insert_with(|| round.turns.take(&event.endpoint, drain, now));
            }
            let mut decision = self.ask(State::Stored(&event), &limits)?;
            let mut bound = None;
            if let Decision::Read(Read::Action(action)) = &decision {
                bound = self.store.action(action).await?;
                let policy = self.policy(bound.as_ref());
                let (action, policy) = (bound.as_ref(), policy.as_ref());
                decision = self.ask(State::Bound { event: &event, action, policy, intent: None }, &limits)?;
            }
            let (transition, then) = match decision {
                Decision::Write { transition, then } => (transition, then),
                Decision::End(_) | Decision::Read(_) | Decision::Call | Decision::Probe => return Ok(()),
            };
            match apply(&self.store, &transition).await {
                Ok(Write::Applied) => {
                    round.happenings.applied(&transition, &event, bound.as_ref(), self.clock.now());
                    return self.finish(&event, then, round.swept).await;
                }
                Ok(Write::Refused) | Err(StoreError::Contended | StoreError::Unknown(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Trouble::Contended)
    }

    async fn finish(&self, event: &Event, then: Then, swept: &mut Swept) -> Result<(), Trouble> {
        if then != Then::End(End::Send) {
            swept.moved += 1;
            return Ok(());
        }
        self.queue.send(&message(event, event.correlation.clone(), self.clock.now())).await?;
        swept.sent += 1;
        Ok(())
    }

    fn ask(&self, state: State<'_>, limits: &Limits) -> Result<Decision, Undecidable> {
        decide(state, Input::Sweep, self.clock.now(), limits)
    }

    fn policy(&self, action: Option<&Action>) -> Option<EffectPolicy> {
        action.and_then(|action| self.deployment.policy(&action.request.destination))
    }
}

/// Does it wait to be sent round?
fn is_open(event: &Event) -> bool {
    Due::of(event.progress.status) == Some(Due::Open)
}

/// The message that sends an event round.
pub fn message(event: &Event, correlation: CorrelationId, now: UnixMillis) -> Message {
    Message {
        event: event.key.clone(),
        generation: event.progress.generation,
        correlation,
        written_at: now,
        trace: None,
    }
}

/// Why one event was left to the next run.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Queue(#[from] crate::ports::QueueError),
    #[error(transparent)]
    Undecidable(#[from] Undecidable),
    #[error("it changed {ROUNDS} times while it was looked at")]
    Contended,
}
