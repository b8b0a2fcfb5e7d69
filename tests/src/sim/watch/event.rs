//! What an event may become.

use super::Seen;
use crate::memory::Tables;
use sekali::ids::Generation;
use sekali::protocol::action::ActionStatus;
use sekali::protocol::event::{Event, EventStatus, Progress};
use sekali::time::UnixMillis;

impl Seen {
    pub(super) fn check_event(&mut self, last: &Tables, after: &Event, tables: &Tables, now: UnixMillis) {
        match last.event(&after.key) {
            None => self.new_event(after, now),
            // INV-2: with what was erased nothing goes round.
            Some(before) if before.is_erased() && before.progress != after.progress => {
                self.broken("INV-2", format!("{} was erased, and moved", after.id), now);
            }
            Some(before) if before.progress == after.progress => return,
            Some(before) if before.progress.generation == after.progress.generation => {
                self.moved(&before.progress, after, (last, tables), now);
            }
            Some(before) => self.reopened(&before.progress, after, now),
        }
        self.stands(after, tables, now);
    }

    fn new_event(&mut self, event: &Event, now: UnixMillis) {
        let progress = &event.progress;
        let born = matches!(progress.status, EventStatus::Received | EventStatus::Held);
        if !born || progress.generation != Generation::FIRST || progress.action.is_some() {
            self.broken("INV-3", format!("{} was born {}", event.id, progress.status.as_str()), now);
        }
    }

    fn moved(&mut self, from: &Progress, after: &Event, (last, tables): (&Tables, &Tables), now: UnixMillis) {
        let to = &after.progress;
        if !from.status.may_become(to.status) {
            let what = format!("{} went from {} to {}", after.id, from.status.as_str(), to.status.as_str());
            self.broken("INV-3", what, now);
        }
        if from.action.is_some() && from.action != to.action {
            self.broken("INV-3", format!("{} lost the action that it had won", after.id), now);
        }
        // INV-8: an attempt is a claim. Waiting is none.
        let claimed = || {
            let key = to.action.as_ref()?;
            let token = |tables: &Tables| tables.action(key).map(|action| action.token);
            Some(token(tables) > token(last))
        };
        let attempts = to.attempts.checked_sub(from.attempts);
        if attempts.is_none_or(|more| more > 1) || (attempts == Some(1) && claimed() != Some(true)) {
            self.broken("INV-8", format!("{} counted an attempt that was none", after.id), now);
        }
    }

    fn reopened(&mut self, before: &Progress, after: &Event, now: UnixMillis) {
        let to = &after.progress;
        let closed =
            !matches!(before.status, EventStatus::Received | EventStatus::Processing | EventStatus::InDoubt);
        let fresh = to.status == EventStatus::Received
            && to.generation == before.generation.next()
            && (to.attempts, to.sweeps) == (0, 0);
        if !closed || !fresh {
            let what = format!("{} was opened anew from {}", after.id, before.status.as_str());
            self.broken("INV-3", what, now);
        }
        if before.action.is_some() && before.action != to.action {
            self.broken("INV-3", format!("{} lost the action that it had won", after.id), now);
        }
    }

    /// What must hold of an event wherever it comes from.
    fn stands(&mut self, event: &Event, tables: &Tables, now: UnixMillis) {
        let progress = &event.progress;
        let (id, status) = (&event.id, progress.status);
        if status.needs_human() && progress.expires.is_some() && !event.has_ended() {
            self.broken("INV-9", format!("{id} is {} and can expire", status.as_str()), now);
        }
        if event.has_ended() != progress.due.is_none() {
            self.broken("INV-1", format!("{id} is {} and nobody will look", status.as_str()), now);
        }
        if event.has_ended() && progress.expires.is_none() {
            self.broken("INV-9", format!("{id} is finished and never expires"), now);
        }
        let action = progress.action.as_ref().and_then(|key| tables.action(key));
        let agrees = match (status, action) {
            (EventStatus::Received | EventStatus::Processing, _) => true,
            (EventStatus::Processed, action) => {
                progress.action.is_none() || action.is_some_and(|action| action.status == ActionStatus::Done)
            }
            (EventStatus::Failed, Some(action)) => {
                matches!(action.status, ActionStatus::Ready | ActionStatus::Rejected)
            }
            (EventStatus::InDoubt, Some(action)) => action.status == ActionStatus::InDoubt,
            (EventStatus::Held | EventStatus::Ignored, _) => progress.action.is_none(),
            (EventStatus::Failed, None) => true,
            (EventStatus::InDoubt, None) => false,
        };
        if !agrees {
            let promise = if status == EventStatus::InDoubt { "INV-6" } else { "INV-4" };
            let action = action.map_or("absent", |action| action.status.as_str());
            self.broken(promise, format!("{id} is {} while its action is {action}", status.as_str()), now);
        }
    }
}
