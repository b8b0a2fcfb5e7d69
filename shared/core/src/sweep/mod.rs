//! The sweeper: whatever was left open comes round again, at growing
//! intervals, and at a bound gets an end that a human sees. From every open
//! state this is the fault-free path on (INV-1).

mod count;
mod drain;
mod walk;

pub use count::MOST_COUNTED;

use crate::deployment::Deployment;
use crate::happened::{Happened, Happenings};
use crate::ids::{CorrelationId, EndpointName};
use crate::key::{DedupScope, EventKey};
use crate::pause::{Drain, Pauses, Remembered, Turns};
use crate::ports::{Due, Message, PauseRecord, Queue, Store, StoreError, Write, apply};
use crate::protocol::action::Action;
use crate::protocol::decide::{Decision, End, Input, Read, State, Then, Undecidable, decide};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::{EffectPolicy, Gate, Limits};
use crate::time::{Clock, UnixMillis};
use std::sync::Arc;
use std::time::Duration;

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

/// Later than any time at which something is due.
const END_OF_TIME: UnixMillis = UnixMillis(i64::MAX);

/// The part of a run, as a divisor, in which it may count what needs a human.
const COUNTING: u32 = 4;

/// What one run goes by: the pauses, whose events are held back by one, and the
/// turns that it has given after one.
struct Round<'s> {
    pauses: Arc<Pauses>,
    held_back: Vec<DedupScope>,
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
    /// How long the oldest event looked at has been open, or an endpoint paused.
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
        let began = self.clock.now();
        // First, since the alarms rest on it, whatever there is to sweep.
        let counted_by = began.plus(end.since(began) / COUNTING);
        let mut swept = Swept { needs_human: self.needs_human(counted_by).await, ..Swept::default() };
        let pauses = match self.pauses.pauses(&self.store, &self.clock).await {
            Ok(pauses) => pauses,
            // Better late than over somebody's pause: the next run is soon.
            Err(error) => {
                tracing::warn!(%error, "pauses were not read: nothing is swept");
                return swept;
            }
        };
        let happenings = Happenings::default();
        swept.oldest = pauses.longest(began);
        let held_back = self.held_back(&pauses);
        let swept_now = &mut swept;
        let mut round =
            Round { pauses, held_back, turns: Turns::default(), swept: swept_now, happenings: &happenings };
        self.due(began, end, &mut round).await;
        self.bring_forward(began, end, &mut round).await;
        swept.happened = happenings.into_all();
        swept
    }

    /// The scopes in whose keys the events of endpoints that are paused or drain
    /// are seen. Where endpoints share one, all that lies in it.
    fn held_back(&self, pauses: &Pauses) -> Vec<DedupScope> {
        let held_back = pauses.endpoints.iter().filter(|(_, pause)| pause.holds_back());
        held_back.map(|(endpoint, _)| self.scope(endpoint)).collect()
    }

    fn scope(&self, endpoint: &EndpointName) -> DedupScope {
        let configured = self.deployment.config.endpoints.get(endpoint);
        configured.map_or_else(|| endpoint.into(), |endpoint| endpoint.dedup_scope.clone())
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
        let mut turn = None;
        for _ in 0..ROUNDS {
            let Some(event) = self.store.event(key).await? else { return Ok(()) };
            let now = self.clock.now();
            round.swept.oldest = round.swept.oldest.max(now.since(event.received_at));
            let limits = self.deployment.limits(&event.endpoint);
            let mut limits = round.pauses.bounding(&event.endpoint, limits, now);
            if let Some(drain) = round.pauses.drain(&event.endpoint).filter(|_| is_open(&event)) {
                limits.gate = gate(&event, drain, now, &mut turn, &mut round.turns);
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

/// The gate of an event whose endpoint drains. It takes one turn, however often
/// it is read; none where it is not due and nothing brings it forward.
fn gate(event: &Event, drain: &Drain, now: UnixMillis, turn: &mut Option<bool>, turns: &mut Turns) -> Gate {
    let early = event.progress.due.is_none_or(|due| due > now);
    if early && !drain.brings(event) {
        return Gate::Open;
    }
    match (*turn.get_or_insert_with(|| turns.take(&event.endpoint, drain)), early) {
        (false, _) => Gate::Later,
        (true, true) => Gate::Ahead,
        (true, false) => Gate::Open,
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
