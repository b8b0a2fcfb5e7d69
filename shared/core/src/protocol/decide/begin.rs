//! A worker takes an action: for the first time, again, or as its next
//! generation.

use super::step::At;
use super::{End, Wanted};
use crate::ids::{Generation, Token};
use crate::protocol::action::{Action, ActionGuard, ActionStatus, FrozenRequest};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::{Lease, Worker};
use crate::protocol::transition::{ActionWrite, Transition};
use crate::rule::InputDigest;
use crate::time::UnixMillis;

/// A worker begins an action for an event: token + 1, a fresh owner, a lease.
pub(super) struct Begin<'a> {
    pub event: &'a Event,
    pub asks: Asks<'a>,
    pub worker: &'a Worker,
}

/// What a generation is asked for with.
#[derive(Clone, Copy)]
pub(super) struct Asks<'a> {
    pub request: &'a FrozenRequest,
    pub input: &'a InputDigest,
}

impl<'a> Asks<'a> {
    /// As today's rules ask.
    pub fn of(wanted: &'a Wanted) -> Self {
        Self { request: &wanted.request, input: &wanted.input }
    }

    /// As the action was asked for before. Only what is settled can have been
    /// erased, so what is under way goes on with its bytes (INV-2).
    pub fn again(action: &'a Action) -> Self {
        Self { request: &action.request, input: &action.input }
    }

    /// The same for a next generation; `None` where that was erased.
    pub fn anew(action: &'a Action) -> Option<Self> {
        (!action.request.body.is_empty()).then(|| Self::again(action))
    }
}

impl Begin<'_> {
    fn lease(&self, at: At<'_>) -> Result<UnixMillis, End> {
        match self.worker.lease {
            Lease::Until(until) => Ok(until),
            Lease::TooLittleTime => Err(End::Wait(at.now)),
        }
    }

    /// The action's first begin.
    pub fn first(&self, wanted: &Wanted, at: At<'_>) -> Result<Transition, End> {
        let to = Action {
            key: wanted.key.clone(),
            name: wanted.name.clone(),
            status: ActionStatus::Begun,
            generation: Generation::FIRST,
            token: Token::FIRST,
            owner: self.worker.owner.clone(),
            lease_until: self.lease(at)?,
            first_begun_at: at.now,
            request: self.asks.request.clone(),
            input: self.asks.input.clone(),
            begun_by: self.event.key.clone(),
            doubted: false,
            result: None,
            reason: None,
            settled_at: None,
            last_done: None,
        };
        Ok(self.claim(ActionGuard::Absent, to, at))
    }

    /// Begins a ready action again, or takes over an expired one: the same
    /// generation, the same frozen request.
    pub fn again(&self, action: &Action, takeover: bool, at: At<'_>) -> Result<Transition, End> {
        let to = Action {
            status: ActionStatus::Begun,
            token: action.token.next(),
            owner: self.worker.owner.clone(),
            lease_until: self.lease(at)?,
            doubted: action.doubted || takeover,
            ..action.clone()
        };
        Ok(self.claim(action.as_read(), to, at))
    }

    /// Begins the next generation of a rejected action.
    pub fn anew(&self, action: &Action, at: At<'_>) -> Result<Transition, End> {
        let to = Action {
            status: ActionStatus::Begun,
            generation: action.generation.next(),
            token: action.token.next(),
            owner: self.worker.owner.clone(),
            lease_until: self.lease(at)?,
            first_begun_at: at.now,
            request: self.asks.request.clone(),
            input: self.asks.input.clone(),
            begun_by: self.event.key.clone(),
            doubted: false,
            result: None,
            reason: None,
            settled_at: None,
            ..action.clone()
        };
        Ok(self.claim(action.as_read(), to, at))
    }

    fn claim(&self, from: ActionGuard, to: Action, at: At<'_>) -> Transition {
        let mut transition = at.event_to(self.event, EventStatus::Processing, None);
        if let Some(write) = &mut transition.event {
            write.to.action = Some(to.key.clone());
            write.to.action_generation = Some(to.generation);
            write.to.attempts = self.event.progress.attempts.saturating_add(1);
            if self.event.progress.status == EventStatus::Processing {
                write.to.due = Some(at.later_due(self.event));
            }
        }
        transition.action = Some(ActionWrite::Put { from, to: Box::new(to) });
        transition
    }
}
