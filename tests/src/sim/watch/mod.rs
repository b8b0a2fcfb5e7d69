//! Who looks at every change of the tables and at every call, and says which
//! promise it breaks. It knows the true time and what really happened at the
//! destination; no process does.

mod action;
mod call;
mod event;

use super::setup::Promise;
use crate::memory::{Expiry, MemoryDestination, MemoryStore, Tables};
use sekali::config::{Graph, MARGIN};
use sekali::ids::EndpointName;
use sekali::ports::Call;
use sekali::protocol::event::Event;
use sekali::time::UnixMillis;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How far a worker's date may be off.
pub const SKEW: Duration = Duration::from_secs(5);

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its tag.
    pub promise: &'static str,
    /// How.
    pub what: String,
    /// When, by the true clock.
    pub at: UnixMillis,
}

/// The one who watches; clones are the same.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Seen>>);

struct Seen {
    store: MemoryStore,
    yard: MemoryDestination,
    promise: Promise,
    /// Of the kinds of resource, which share no status.
    graphs: [Graph; 2],
    last: Tables,
    found: Vec<Violation>,
}

impl Watch {
    /// Watches these tables and this destination.
    pub fn over(store: MemoryStore, yard: MemoryDestination, promise: Promise, graphs: [Graph; 2]) -> Self {
        let last = store.tables();
        Self(Arc::new(Mutex::new(Seen { store, yard, promise, graphs, last, found: Vec::new() })))
    }

    /// Looks at what has changed since the last look.
    pub fn look(&self, now: UnixMillis) {
        let mut seen = self.lock();
        let store = seen.store.clone();
        store.look(|tables| {
            if *tables != seen.last {
                seen.compare(tables, now);
                seen.last = tables.clone();
            }
        });
    }

    /// A worker is about to call.
    pub fn calls(&self, call: &Call<'_>, now: UnixMillis) {
        let mut seen = self.lock();
        let store = seen.store.clone();
        store.look(|tables| seen.check_call(call, tables, now));
    }

    /// Everything is at rest after a delivery was acknowledged: the payload is
    /// there, and does not go before its event (INV-1, INV-9).
    pub fn at_rest(&self, event: &Event, tables: &Tables, now: UnixMillis) {
        let (id, expires) = (&event.id, event.progress.expires);
        // Clocks of two deliveries may differ. Where another content was
        // acknowledged, the first may come again only much later; the margin
        // of every window is for that.
        let apart = if event.seen.conflicts > 0 { MARGIN } else { SKEW * 3 };
        match (tables.payload_expiry(&event.key, &event.hash), expires) {
            // A delivery that came after that may have brought it once more.
            _ if event.is_erased() => {}
            (Expiry::Absent, _) => {
                self.broken("INV-1", format!("{id} was acknowledged, and its payload is not there"), now);
            }
            (Expiry::At(_), None) => {
                self.broken("INV-9", format!("{id} has no TTL, and its payload has one"), now);
            }
            (Expiry::At(payload), Some(expires)) if payload.as_millis().plus(apart) < expires.as_millis() => {
                self.broken("INV-9", format!("the payload of {id} goes before it"), now);
            }
            (Expiry::At(_) | Expiry::Kept, _) => {}
        }
    }

    /// A promise was broken in a way that only the caller saw.
    pub fn broken(&self, promise: &'static str, what: String, at: UnixMillis) {
        self.lock().broken(promise, what, at);
    }

    /// What was found so far.
    pub fn found(&self) -> Vec<Violation> {
        self.lock().found.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn broken(&mut self, promise: &'static str, what: String, at: UnixMillis) {
        let violation = Violation { promise, what, at };
        if !self.found.iter().any(|known| known.what == violation.what) {
            self.found.push(violation);
        }
    }

    fn compare(&mut self, tables: &Tables, now: UnixMillis) {
        let last = std::mem::take(&mut self.last);
        for event in tables.events() {
            self.check_event(&last, event, tables, now);
            self.check_ttl(event, &last, tables, now);
        }
        // INV-10: the first secret that was handed over stays.
        let newcomer = EndpointName::from("newcomer");
        let handed_over =
            |tables: &Tables| tables.captured(&newcomer).map(|captured| captured.secret.clone());
        if let Some(first) = handed_over(&last).filter(|first| handed_over(tables).as_ref() != Some(first)) {
            let length = first.expose().len();
            self.broken("INV-10", format!("a secret of {length} bytes was written over"), now);
        }
        for gone in last.events().filter(|event| tables.event(&event.key).is_none()) {
            let may_go = gone.progress.status.is_finished();
            if !may_go {
                let what =
                    format!("{} was removed by its TTL while {}", gone.id, gone.progress.status.as_str());
                self.broken("INV-9", what, now);
            }
        }
        for action in tables.actions() {
            self.check_action(last.action(&action.key), action, now);
        }
        for resource in tables.resources() {
            self.check_resource(last.resource(&resource.key), resource, now);
        }
    }

    /// INV-9: what is open keeps its payload, and what has no TTL keeps it so.
    fn check_ttl(&mut self, event: &Event, last: &Tables, tables: &Tables, now: UnixMillis) {
        let before = last.payload_expiry(&event.key, &event.hash);
        let after = tables.payload_expiry(&event.key, &event.hash);
        let open = !event.has_ended();
        if open && before != Expiry::Absent && after == Expiry::Absent {
            self.broken("INV-9", format!("the payload of {} is gone while it is open", event.id), now);
        }
        let lacks = event.progress.expires.is_none() && before == Expiry::Kept;
        if lacks && matches!(after, Expiry::At(_)) {
            self.broken("INV-9", format!("the payload of {} got a TTL that its event lacks", event.id), now);
        }
    }
}
