//! A vendor's API as it behaves in a shape: it knows how the job stands, and
//! says so at once, late, not yet, or not at all.

use super::shape::Outlook;
use super::traffic::BEGINNING;
use crate::memory::{MemoryDestination, MemoryStore, VirtualClock, got};
use sekali::ports::{Call, Destination, Get, Got, NotGot, Outbound, Outcome};
use sekali::process::confirm;
use sekali::protocol::action::{Action, IdempotencyKey};
use sekali::time::{Clock, UnixMillis};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How the one job goes: since when it stands so, in seconds from the
/// beginning of the run.
pub const COURSE: [(u64, &str); 3] = [(0, "queued"), (10, "running"), (60, "completed")];

/// An API; clones are the same API.
#[derive(Clone)]
pub struct JobApi {
    outlook: Outlook,
    clock: VirtualClock,
    asked: Arc<AtomicU32>,
    store: MemoryStore,
    yard: MemoryDestination,
}

impl JobApi {
    /// The API of a shape. What is confirmed by a call is an effect like any
    /// other, and happens where the others do.
    pub fn of(outlook: Outlook, clock: &VirtualClock, store: &MemoryStore, yard: &MemoryDestination) -> Self {
        let (store, yard) = (store.clone(), yard.clone());
        Self { outlook, clock: clock.clone(), asked: Arc::default(), store, yard }
    }

    /// The action whose effect this call is.
    pub fn confirming(&self, get: &Get<'_>) -> Option<Confirming> {
        let action = self.store.look(|tables| {
            let mut actions = tables.actions();
            let asks = |action: &&Action| {
                action.request.destination.as_str() == confirm::DESTINATION
                    && action.request.body == get.url.as_str().as_bytes()
            };
            actions.find(asks).cloned()
        })?;
        Some(Confirming { key: action.idempotency_key(), action, at: self.clock.now(), timeout: get.timeout })
    }

    /// How the job stood so long ago.
    fn stands(&self, ago: Duration) -> Got {
        let now = self.clock.now().minus(ago).since(BEGINNING).as_secs();
        let mut until_now = COURSE.iter().enumerate().filter(|(_, (since, _))| *since <= now);
        let (number, (_, state)) = until_now.next_back().unwrap_or((0, &COURSE[0]));
        got(200, &format!(r#"{{"state":"{state}","n":{},"order":"A-1"}}"#, number + 1))
    }
}

/// A call that confirms, as the one who watches knows it.
pub struct Confirming {
    action: Action,
    key: IdempotencyKey,
    at: UnixMillis,
    timeout: Duration,
}

impl Confirming {
    /// The same as a call of a destination.
    pub fn call(&self) -> Call<'_> {
        Call {
            destination: &self.action.request.destination,
            action: &self.action.name,
            key: &self.key,
            body: &self.action.request.body,
            resource: None,
            at: self.at,
            attempt: 1,
            correlation: "",
            trace: None,
            timeout: self.timeout,
        }
    }
}

impl Outbound for JobApi {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        if let Some(confirming) = self.confirming(&get) {
            return match self.yard.call(confirming.call()).await {
                Outcome::Done(_) => Ok(got(200, "<ConfirmSubscriptionResponse/>")),
                Outcome::Rejected { .. } => Ok(got(403, "")),
                Outcome::NotStarted { cause, .. } => Err(NotGot::NotStarted(cause)),
                Outcome::Unknown { cause, .. } => Err(NotGot::Unknown(cause)),
            };
        }
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        match self.outlook {
            Outlook::Prompt => Ok(self.stands(Duration::ZERO)),
            Outlook::Behind(lag) => Ok(self.stands(lag)),
            Outlook::NotThere(times) if asked < times => Ok(got(404, "")),
            Outlook::Busy(times) if asked < times => {
                Ok(Got { retry_after: Some(Duration::from_secs(7)), ..got(429, "") })
            }
            Outlook::Silent(times) if asked < times => {
                self.clock.sleep(get.timeout).await;
                Err(NotGot::Unknown("no answer in time".to_owned()))
            }
            // What it says is true when it is asked, and not when it is heard.
            Outlook::Slow(span) => {
                let answer = self.stands(Duration::ZERO);
                self.clock.sleep(span.min(get.timeout)).await;
                Ok(answer)
            }
            Outlook::NotThere(_) | Outlook::Busy(_) | Outlook::Silent(_) => Ok(self.stands(Duration::ZERO)),
        }
    }
}
