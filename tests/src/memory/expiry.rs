//! Removal by TTL. DynamoDB removes an item some time after it expired, within
//! two days as a rule; the test says when.

use super::tables::Tables;
use sekali::time::{ExpiresAt, UnixMillis};
use std::time::Duration;

/// DynamoDB's usual longest delay.
const LATE: Duration = Duration::from_secs(48 * 3600);

/// When expired items go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Not at all: expired items stay readable.
    Never,
    /// As soon as the TTL has passed.
    Exact,
    /// Two days later.
    Late,
}

impl Removal {
    fn takes(self, expires: Option<ExpiresAt>, now: UnixMillis) -> bool {
        let Some(expires) = expires else { return false };
        match self {
            Self::Never => false,
            Self::Exact => expires.as_millis() < now,
            Self::Late => expires.as_millis().plus(LATE) < now,
        }
    }
}

impl Tables {
    /// Removes what has expired; returns how many items went. Actions and
    /// resources carry no TTL.
    pub fn remove_expired(&mut self, now: UnixMillis, removal: Removal) -> usize {
        let before = self.events.len() + self.payloads.len();
        self.events.retain(|_, event| !removal.takes(event.progress.expires, now));
        self.payloads.retain(|_, stored| !removal.takes(stored.expires, now));
        before - self.events.len() - self.payloads.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::sample::{NOW, Sample, WINDOW, payload, progress};
    use sekali::protocol::event::{Event, EventStatus};

    const HOUR: Duration = Duration::from_secs(3600);

    /// An event in its window, its payload, and one that a human must see.
    fn tables() -> Tables {
        let sample = Sample::new();
        let mut tables = Tables::default();
        let event = sample.event("evt_1");
        let failed = Event { progress: progress(EventStatus::Failed), ..sample.event("evt_2") };
        for event in [&event, &failed] {
            tables.create_event(event).unwrap();
            tables.put_payload(&event.key, &event.hash, &payload(b"{}"), NOW.expires_after(WINDOW));
        }
        tables.keep_payload(&failed.key, &failed.hash, failed.progress.generation);
        tables
    }

    #[test]
    fn expired_items_go_exactly_late_or_never_as_the_test_says() {
        let end = NOW.expires_after(WINDOW).as_millis();
        let gone = |now, removal| tables().remove_expired(now, removal);
        assert_eq!(gone(end, Removal::Exact), 0);
        assert_eq!(gone(UnixMillis(end.0 + 1), Removal::Exact), 2);
        assert_eq!(gone(end.plus(47 * HOUR), Removal::Late), 0);
        assert_eq!(gone(end.plus(49 * HOUR), Removal::Late), 2);
        assert_eq!(gone(end.plus(49 * HOUR), Removal::Never), 0);
    }

    // INV-9: what needs a human carries no TTL.
    #[test]
    fn what_carries_no_ttl_never_goes() {
        let mut tables = tables();
        tables.remove_expired(UnixMillis(i64::MAX), Removal::Exact);
        let left: Vec<_> = tables.events().map(|event| event.progress.status).collect();
        assert_eq!(left, [EventStatus::Failed]);
        assert_eq!(tables.payloads.len(), 1);
    }
}
