//! The writes that several decisions share.

use super::{Decision, End, Then};
use crate::protocol::action::Action;
use crate::protocol::event::{Event, EventStatus, Progress};
use crate::protocol::policy::{Gate, Limits, TAKEOVER};
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::{ActionWrite, EventWrite, PayloadTtl, Transition};
use crate::time::UnixMillis;
use std::time::Duration;

/// When a decision is taken, and within which bounds.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub now: UnixMillis,
    pub limits: &'a Limits,
}

impl At<'_> {
    /// The event's move to `status`, alone. TTL and index follow from the
    /// status (INV-9): what needs a human carries none; what is finished gets
    /// one again if it had lost it, and leaves the index.
    pub fn event_to(&self, event: &Event, status: EventStatus, reason: Option<Reason>) -> Transition {
        let reason = reason.or_else(|| asked_with_other_input(event, status));
        let mut to = Progress { status, reason, waits: false, ..event.progress.clone() };
        if status.needs_human() {
            to.expires = None;
        }
        to.failed_at = (status == EventStatus::Failed).then_some(self.now);
        to.due = match status {
            EventStatus::Processed | EventStatus::Ignored => None,
            EventStatus::Failed | EventStatus::Held => Some(self.now),
            EventStatus::InDoubt => Some(self.limits.next_sweep(event.progress.sweeps, self.now)),
            // What has waited at a gate is looked at as usual again.
            EventStatus::Received | EventStatus::Processing if event.progress.waits => {
                Some(self.later_due(event))
            }
            EventStatus::Received | EventStatus::Processing => event.progress.due,
        };
        if status.is_finished() && to.expires.is_none() {
            to.expires = Some(self.now.expires_after(self.limits.window));
        }
        self.event_with(event, to)
    }

    /// The event's move to the given progress, with its payload's TTL in step.
    pub fn event_with(&self, event: &Event, to: Progress) -> Transition {
        let (key, hash, generation) = (event.key.clone(), event.hash.clone(), to.generation);
        let payload = match (event.progress.expires, to.expires) {
            (Some(_), None) => PayloadTtl::KeepBefore(key, hash, generation),
            (None, Some(expires)) => PayloadTtl::ExpireAfter(key, hash, generation, expires),
            _ => PayloadTtl::Unchanged,
        };
        let mut from = event.guard();
        if matches!(payload, PayloadTtl::KeepBefore(..)) {
            // A payload that was put after it was kept, or missed, is counted
            // before anybody acknowledges it.
            from.counted = Some(event.seen.counted());
        }
        let write = EventWrite { key: event.key.clone(), from, to, content: None };
        Transition { payload, ..Transition::event(write) }
    }

    /// The event fails. `failed_at` is never earlier than the stamp of the
    /// message that failed, or its own message would look like a redrive.
    pub fn fail(&self, event: &Event, reason: Reason, stamped_at: Option<UnixMillis>) -> Decision {
        Decision::write(self.failed(event, reason, stamped_at), Then::End(End::Fail))
    }

    /// The write of [`At::fail`].
    pub fn failed(&self, event: &Event, reason: Reason, stamped_at: Option<UnixMillis>) -> Transition {
        let mut transition = self.event_to(event, EventStatus::Failed, Some(reason));
        if let Some(write) = &mut transition.event {
            write.to.failed_at = Some(stamped_at.map_or(self.now, |stamp| stamp.max(self.now)));
        }
        transition
    }

    /// The event fails at a bound while its action is ready, or rejected and
    /// to be begun anew: only if the action still stands as read, so that no
    /// worker begins it at the same moment (INV-4).
    pub fn fail_while_standing(
        &self,
        event: &Event,
        action: &Action,
        reason: Reason,
        stamped_at: Option<UnixMillis>,
    ) -> Decision {
        let mut transition = self.failed(event, reason, stamped_at);
        transition.action = Some(ActionWrite::Check { action: Box::new(action.clone()) });
        Decision::write(transition, Then::End(End::Fail))
    }

    /// The event goes round again as the next generation, attempts and sweeps
    /// at nought. It keeps its action: an event that won its move owns it to
    /// the end, across generations.
    pub fn reopen(&self, event: &Event) -> Transition {
        let progress = &event.progress;
        // Later than what it failed for, by whatever clock that was told: a
        // redrive from a machine whose clock is slow wants a rejected action
        // anew, too.
        let failed = progress.failed_at.map(|failed| failed.plus(Duration::from_millis(1)));
        let to = Progress {
            status: EventStatus::Received,
            generation: progress.generation.next(),
            opened_at: self.now.max(failed.unwrap_or(self.now)),
            attempts: 0,
            sweeps: 0,
            action: progress.action.clone(),
            action_generation: progress.action_generation,
            let_go: progress.let_go.clone(),
            reason: None,
            failed_at: None,
            // Nothing open can reach its TTL (INV-9); it gets a new one at its end.
            expires: None,
            due: Some(self.limits.next_sweep(0, self.now)),
            waits: false,
        };
        self.event_with(event, to)
    }

    /// When the sweeper looks at an event that goes on as what it is. Always
    /// later than before: every event write names the due time as read, so that
    /// of two writers with one reading only one writes (INV-5). Only what waited
    /// at a gate comes earlier, and never at the same time.
    pub fn later_due(&self, event: &Event) -> UnixMillis {
        let next = self.limits.next_sweep(event.progress.sweeps, self.now);
        match event.progress.due {
            Some(_) if event.progress.waits => apart(event, next),
            Some(due) => next.max(due.plus(Duration::from_millis(1))),
            None => next,
        }
    }

    /// May nothing new begin at present?
    pub fn is_paused(&self) -> bool {
        self.limits.gate == Gate::Paused
    }

    /// Nothing to do until the pause ends, which nobody knows.
    pub fn wait_for_the_pause(&self) -> Decision {
        Decision::End(End::Wait(self.now.plus(self.limits.longest_sweep)))
    }

    /// When the sweeper looks again at an event that waits at the gate; `None`
    /// where it may go on. Never further off than two sweeps are apart: each
    /// look also keeps the event from its TTL (INV-9).
    pub fn turn(&self, event: &Event) -> Option<UnixMillis> {
        if matches!(self.limits.gate, Gate::Open | Gate::Ahead) {
            return None;
        }
        let next = self.now.plus(self.limits.longest_sweep);
        Some(event.progress.due.map_or(next, |due| next.max(due.plus(Duration::from_millis(1)))))
    }

    /// Does the sweeper look at this event now?
    pub fn is_due(&self, event: &Event) -> bool {
        let ahead = self.limits.gate == Gate::Ahead;
        event.progress.due.is_some_and(|due| ahead || due <= self.now)
    }

    /// Has this round reached its bound of age or tries?
    pub fn exhausted(&self, event: &Event) -> bool {
        event.progress.attempts >= self.limits.attempts || self.too_old(event)
    }

    /// Is the event so young that what this version does not know of it may be
    /// a newer version's?
    pub fn takes_over(&self, event: &Event) -> bool {
        self.now.since(event.received_at) < TAKEOVER
    }

    /// Has this round reached its bound of age?
    pub fn too_old(&self, event: &Event) -> bool {
        self.now.since(event.progress.opened_at) >= self.limits.age
    }
}

/// A due time other than the event's own: whoever has read the same is refused (INV-5).
pub(super) fn apart(event: &Event, due: UnixMillis) -> UnixMillis {
    if event.progress.due == Some(due) { due.plus(Duration::from_millis(1)) } else { due }
}

/// That an event asked for its action with other values stays visible to its end.
fn asked_with_other_input(event: &Event, next: EventStatus) -> Option<Reason> {
    let goes_on = matches!(next, EventStatus::Processing | EventStatus::Processed);
    event.progress.reason.clone().filter(|reason| goes_on && reason.slug == Slug::OtherInput)
}
