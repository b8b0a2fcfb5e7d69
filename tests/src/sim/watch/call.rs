//! A worker is about to call: may it?

use super::{SKEW, Seen};
use crate::memory::Tables;
use sekali::ports::Call;
use sekali::protocol::action::ActionStatus;
use sekali::time::UnixMillis;

impl Seen {
    /// Calls only under a lease that covers them, and always the same bytes
    /// under the same key (INV-2).
    pub(super) fn check_call(&mut self, call: &Call<'_>, tables: &Tables, now: UnixMillis) {
        let Some(action) = tables.actions().find(|action| action.idempotency_key() == *call.key) else {
            return self.broken(
                "INV-2",
                format!("a call under {}, which no action has", call.key.as_str()),
                now,
            );
        };
        if action.status != ActionStatus::Begun {
            let what = format!("a call while the action is {}", action.status.as_str());
            return self.broken("INV-2", what, now);
        }
        if now.plus(call.timeout).plus(SKEW) > action.lease_until {
            self.broken("INV-2", "a call that its lease does not cover".to_owned(), now);
        }
        if action.request.body != call.body || action.request.destination != *call.destination {
            self.broken("INV-2", "a call with other bytes than were frozen".to_owned(), now);
        }
    }
}
