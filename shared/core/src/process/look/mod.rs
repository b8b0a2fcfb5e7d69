//! One look at one event: what was read of it, and the loop around `decide`.

mod log;
mod read;

use super::call::Taken;
use super::known::Known;
use super::truth::{Question, Readings};
use super::{
    Deadline, Disposition, LEASE_MARGIN, LEASE_WITHOUT_DEADLINE, Processor, RESERVE, Record, SHORT_WAITS,
    backoff,
};
use crate::happened::{CallEnd, Happened, Happenings};
use crate::ids::OwnerNonce;
use crate::pause::Pauses;
use crate::ports::{
    Destination, Entropy, Found, Outbound, PauseRecord, Secrets, Store, StoreError, Write, apply,
};
use crate::protocol::decide::{Decision, End, Input, Read, Then, Undecidable, decide};
use crate::protocol::policy::{Lease, Limits, Stamp, Worker};
use crate::protocol::resource::ResourceGuard;
use crate::protocol::transition::Transition;
use crate::time::Clock;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Lost races and repeated readings before the message goes back: more means
/// that the event is fought over, and waiting is better.
const ROUNDS: usize = 16;

/// Tries at writing the outcome of a call: the evidence exists only here.
const SETTLING_ROUNDS: usize = 8;

/// Why a look did not come to its end; the message goes back, or to people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unsettled {
    /// The store did not answer as it should.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The protocol has no answer: a bug.
    #[error(transparent)]
    Undecidable(#[from] Undecidable),
    /// The event was fought over.
    #[error("the event changed {ROUNDS} times while it was looked at")]
    Contended,
}

pub(super) struct Look<'p, S, D, A, C, E> {
    pub(super) processor: &'p Processor<S, D, A, C, E>,
    record: &'p Record,
    pub(super) deadline: Deadline,
    /// What vendors' APIs were asked in this batch.
    pub(super) readings: &'p Readings,
    happenings: &'p Happenings,
    /// What was asked for this event.
    question: Option<Question>,
    stamp: Stamp,
    known: Known<'p>,
    worker: Worker,
    taken: Option<Taken>,
    pauses: Arc<Pauses>,
}

impl<'p, S: Store + PauseRecord, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy>
    Look<'p, S, D, A, C, E>
{
    pub fn new(
        processor: &'p Processor<S, D, A, C, E>,
        record: &'p Record,
        deadline: Deadline,
        (readings, happenings): (&'p Readings, &'p Happenings),
    ) -> Self {
        let stamp = Stamp { written_at: record.message.written_at, stamped_at: record.stamped_at };
        let worker = Worker { owner: OwnerNonce::new(""), lease: Lease::TooLittleTime };
        Self {
            processor,
            record,
            deadline,
            readings,
            happenings,
            question: None,
            stamp,
            known: Known::default(),
            worker,
            taken: None,
            pauses: Arc::default(),
        }
    }

    pub async fn run(mut self) -> Disposition {
        match self.settle().await {
            Ok(end) => self.dispose(end),
            Err(trouble) => {
                let key = &self.record.message.event;
                let correlation = &self.record.message.correlation;
                tracing::warn!(event.key = %key, correlation.id = %correlation, error = %trouble, "look ended early");
                match trouble {
                    // Nothing that trying again could change.
                    Unsettled::Store(StoreError::Unreadable(_)) | Unsettled::Undecidable(_) => {
                        Disposition::Fail
                    }
                    Unsettled::Store(_) | Unsettled::Contended => {
                        Disposition::Return(self.processor.after_trouble(self.record))
                    }
                }
            }
        }
    }

    async fn settle(&mut self) -> Result<End, Unsettled> {
        let processor = self.processor;
        self.pauses = processor.pauses.pauses(&processor.store, &processor.clock).await?;
        self.read_event().await?;
        for _ in 0..ROUNDS {
            self.renew_worker();
            let decision = self.ask(|stamp, worker| Input::Message { stamp, worker })?;
            if let Some(end) = self.follow(decision).await? {
                return Ok(end);
            }
        }
        Err(Unsettled::Contended)
    }

    /// Does what was decided. `None`: ask again.
    async fn follow(&mut self, decision: Decision) -> Result<Option<End>, Unsettled> {
        let decision = match decision {
            Decision::Probe => self.probe().await?,
            other => other,
        };
        let (transition, then) = match decision {
            Decision::End(end) => return Ok(Some(end)),
            Decision::Probe => return Ok(None),
            Decision::Read(read) => return self.read(read).await.map(|()| None),
            Decision::Call => return self.effect().await,
            Decision::Write { transition, then } => (transition, then),
        };
        match apply(&self.processor.store, &transition).await {
            Ok(Write::Applied) => {
                self.remember(&transition).await;
                self.applied(*transition);
            }
            // A lost race, or an answer that was lost: read all again. Our own
            // claim is recognised by its nonce.
            Ok(Write::Refused) | Err(StoreError::Contended | StoreError::Unknown(_)) => {
                return self.read_event().await.map(|()| None);
            }
            Err(StoreError::Invalid(cause)) => return self.refused(&cause).await,
            Err(error) => return Err(error.into()),
        }
        match then {
            Then::Decide => Ok(None),
            Then::End(end) => Ok(Some(end)),
            Then::Call => self.effect().await,
        }
    }

    /// A resource that was moved by what the vendor's API said stands where
    /// that answer put it.
    async fn remember(&self, transition: &Transition) {
        if let (Some(question), Some(write)) = (&self.question, &transition.resource) {
            let seen = (write.key().clone(), ResourceGuard::of(Some(&write.to)));
            self.readings.made(question, seen).await;
        }
    }

    /// The call, and the write of its outcome. While the action is still held
    /// under this claim the outcome is evidence: a write whose answer was lost
    /// is tried again before anything else.
    async fn effect(&mut self) -> Result<Option<End>, Unsettled> {
        let (Some(event), Some(Some(action)), Some(taken)) =
            (&self.known.event, &self.known.bound, self.taken)
        else {
            return Ok(None);
        };
        let (key, claim) = (action.key.clone(), action.held());
        let message = &self.record.message;
        let ids = (message.correlation.as_str(), message.trace.as_deref());
        let attempts = event.progress.attempts;
        let (outcome, took) = self.processor.call(action, attempts, taken, ids).await;
        self.log_outcome(&outcome, action, took);
        if let Some(took) = took {
            let (destination, end) = (action.request.destination.clone(), CallEnd::from(&outcome));
            self.happenings.add(Happened::Called { destination, end, again: attempts > 1, took });
        }
        // The next claim draws a new nonce: under this one a call was made.
        self.taken = None;
        for _ in 0..SETTLING_ROUNDS {
            let Decision::Write { transition, then } =
                self.ask(|_, _| Input::Outcome { outcome: &outcome })?
            else {
                return Ok(None);
            };
            match apply(&self.processor.store, &transition).await {
                Ok(Write::Applied) => {
                    self.applied(*transition);
                    return Ok(match then {
                        Then::End(end) => Some(end),
                        Then::Decide | Then::Call => None,
                    });
                }
                Ok(Write::Refused)
                | Err(StoreError::Contended | StoreError::Unknown(_) | StoreError::Throttled) => {
                    self.read_event().await?;
                    self.read(Read::Action(key.clone())).await?;
                    if !claim.admits(self.known.bound.as_ref().and_then(Option::as_ref)) {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Unsettled::Contended)
    }

    /// Asks the destination what became of the effect, and what that means.
    async fn probe(&mut self) -> Result<Decision, Unsettled> {
        let asked_at = self.processor.clock.now();
        let found = match &self.known.bound {
            Some(Some(action)) => self.processor.probe(action).await,
            _ => Found::Unknown("there is no action to ask for".to_owned()),
        };
        self.log_found(&found);
        Ok(self.ask(|_, _| Input::Probed { found: &found, asked_at })?)
    }

    async fn refused(&mut self, cause: &str) -> Result<Option<End>, Unsettled> {
        let decision = self.ask(|stamp, _| Input::StoreRefused { cause, stamp })?;
        let (transition, end) = match decision {
            Decision::Write { transition, then: Then::End(end) } => (transition, end),
            Decision::End(end) => return Ok(Some(end)),
            Decision::Write { .. } | Decision::Read(_) | Decision::Call | Decision::Probe => return Ok(None),
        };
        match apply(&self.processor.store, &transition).await? {
            Write::Applied => {
                self.applied(*transition);
                Ok(Some(end))
            }
            Write::Refused => self.read_event().await.map(|()| None),
        }
    }

    fn ask<'a>(
        &'a self,
        input: impl FnOnce(Stamp, &'a Worker) -> Input<'a>,
    ) -> Result<Decision, Undecidable> {
        let event = self.known.event.as_ref();
        let deployment = &self.processor.deployment;
        let now = self.processor.clock.now();
        // Without an event nothing is bounded: its message goes to people.
        let limits = event.map_or(Limits::standard(Duration::ZERO), |event| {
            self.pauses.bounding(&event.endpoint, deployment.limits(&event.endpoint), now)
        });
        decide(self.known.state(), input(self.stamp, &self.worker), now, &limits)
    }

    /// Draws the nonce of the next claim, which is kept until a call was made
    /// under it, and measures what is left of the invocation.
    fn renew_worker(&mut self) {
        let wall = self.processor.clock.now();
        let taken = *self.taken.get_or_insert_with(|| {
            self.worker.owner = self.processor.entropy.owner();
            let until = match self.deadline {
                Deadline::At(end) => end.plus(LEASE_MARGIN),
                Deadline::Unknown => wall.plus(LEASE_WITHOUT_DEADLINE),
            };
            Taken { wall, monotonic: self.processor.clock.monotonic(), until }
        });
        // Once it is known whom it is about, others may be as slow as they like.
        let call = self.known.timeout().unwrap_or_else(|| self.processor.deployment.longest_call());
        let enough = taken.until.since(wall) > call + RESERVE + LEASE_MARGIN;
        self.worker.lease = if enough { Lease::Until(taken.until) } else { Lease::TooLittleTime };
    }

    fn dispose(&self, end: End) -> Disposition {
        let now = self.processor.clock.now();
        match end {
            End::Wait(until) => {
                let wait = until.since(now);
                let short =
                    wait < self.processor.deployment.visibility && self.record.receive_count <= SHORT_WAITS;
                if short { Disposition::Return(wait) } else { Disposition::Delete }
            }
            End::Retry { attempts, not_before } => {
                Disposition::Return(backoff::after(attempts, not_before, &self.processor.entropy))
            }
            End::AskAgain { not_before } if self.record.receive_count <= SHORT_WAITS => {
                let received = self.record.receive_count;
                Disposition::Return(backoff::after(received, not_before, &self.processor.entropy))
            }
            End::Fail => Disposition::Fail,
            End::Drop
            | End::AskAgain { .. }
            | End::Send
            | End::AsNew
            | End::Duplicate { .. }
            | End::Conflict
            | End::Adopt
            | End::Refuse(_) => Disposition::Delete,
        }
    }

    /// A write is durable: what it means is told, and known from here on.
    fn applied(&mut self, transition: Transition) {
        self.log_prevented(&transition);
        if let Some(event) = &self.known.event {
            let action = self.known.bound.as_ref().and_then(Option::as_ref);
            self.happenings.applied(&transition, event, action, self.processor.clock.now());
        }
        self.known.apply(transition);
    }
}
