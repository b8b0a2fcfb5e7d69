//! What an action and a resource may become.

use super::{Promise, SKEW, Seen};
use sekali::ids::Token;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::reason::Slug;
use sekali::protocol::resource::Resource;
use sekali::time::UnixMillis;
use std::cmp::Ordering;

impl Seen {
    pub(super) fn check_action(&mut self, before: Option<&Action>, after: &Action, now: UnixMillis) {
        match before {
            None => {
                if after.token != Token::FIRST || after.status != ActionStatus::Begun {
                    self.broken("INV-6", "an action that was never begun".to_owned(), now);
                }
            }
            Some(before) if before == after => return,
            Some(before) if before.generation == after.generation => self.same_round(before, after, now),
            Some(before) => self.next_round(before, after, now),
        }
        self.agrees_with_the_truth(after, now);
    }

    fn same_round(&mut self, before: &Action, after: &Action, now: UnixMillis) {
        if !before.status.may_become(after.status) {
            let what = format!("an action went from {} to {}", before.status.as_str(), after.status.as_str());
            self.broken("INV-3", what, now);
        }
        if after.token < before.token {
            self.broken("INV-3", "a token went back".to_owned(), now);
        }
        if after.token == before.token && after.owner != before.owner {
            self.broken("INV-5", "another owner wrote under the same token".to_owned(), now);
        }
        // What is settled may be erased; nothing is sent with it any more.
        let emptied = before.status == after.status && after.request.body.is_empty();
        let settled = matches!(after.status, ActionStatus::Done | ActionStatus::Rejected);
        let erased = emptied && settled && before.request.destination == after.request.destination;
        if (before.request != after.request && !erased) || before.first_begun_at != after.first_begun_at {
            self.broken("INV-2", "a frozen request was changed".to_owned(), now);
        }
        // A destination that was asked says what happened: that ends a doubt.
        let asked = self.promise == Promise::Asked && after.status == ActionStatus::Ready;
        if before.doubted && !after.doubted && !asked {
            self.broken("INV-6", "a doubt was forgotten".to_owned(), now);
        }
        let held = before.status == ActionStatus::Begun;
        if held && after.token != before.token && after.status == ActionStatus::Begun {
            self.taken_over(before, after, now);
        }
        let expired = after.reason.as_ref().is_some_and(|reason| reason.slug == Slug::LeaseExpired);
        if held && after.status == ActionStatus::InDoubt && expired && now.plus(SKEW) < before.lease_until {
            self.broken("INV-6", "in doubt by its lease before that ran out".to_owned(), now);
        }
    }

    /// Expiry alone never runs an effect again (INV-2).
    fn taken_over(&mut self, before: &Action, after: &Action, now: UnixMillis) {
        if now.plus(SKEW) < before.lease_until {
            self.broken("INV-2", "taken over under a living lease".to_owned(), now);
        }
        let covered =
            self.promise.span().is_some_and(|span| after.lease_until <= after.first_begun_at.plus(span));
        if !covered {
            self.broken("INV-2", "taken over beyond what the destination promises".to_owned(), now);
        }
    }

    fn next_round(&mut self, before: &Action, after: &Action, now: UnixMillis) {
        let follows = after.generation == before.generation.next()
            && after.token == before.token.next()
            && before.status == ActionStatus::Rejected
            && after.status == ActionStatus::Begun
            && !after.request.body.is_empty();
        if !follows {
            let what = format!("a generation began after {}", before.status.as_str());
            self.broken("INV-2", what, now);
        }
    }

    /// What is certain must be true; what is true need not be certain.
    fn agrees_with_the_truth(&mut self, action: &Action, now: UnixMillis) {
        let happened = self.yard.effects_of(&action.idempotency_key());
        match action.status {
            ActionStatus::Done if happened == 0 => {
                self.broken("INV-6", "done, and nothing happened".to_owned(), now);
            }
            ActionStatus::Done if action.result.is_none() => {
                self.broken("INV-4", "done without a recorded effect".to_owned(), now);
            }
            ActionStatus::Rejected | ActionStatus::Ready if happened > 0 => {
                let what = format!("{}, and it happened", action.status.as_str());
                self.broken("INV-6", what, now);
            }
            _ => {}
        }
    }

    pub(super) fn check_resource(&mut self, before: Option<&Resource>, after: &Resource, now: UnixMillis) {
        let Some(before) = before.filter(|before| *before != after) else { return };
        let forth = before.status == after.status
            || self.graphs.iter().any(|graph| graph.reaches(&before.status, &after.status));
        let older = after.order.compare(&before.order) == Some(Ordering::Less);
        if !forth || older {
            let what = format!("a resource went from {} to {}", before.status, after.status);
            self.broken("INV-3", what, now);
        }
        if after.version != before.version.next() {
            self.broken("INV-5", "a resource was written over a version nobody read".to_owned(), now);
        }
    }
}
