//! A vendor's API as it behaves in a shape: it knows how the job stands, and
//! says so at once, late, not yet, or not at all.

use super::shape::Outlook;
use super::traffic::BEGINNING;
use crate::memory::{VirtualClock, got};
use sekali::ports::{Get, Got, NotGot, Outbound};
use sekali::time::Clock;
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
}

impl JobApi {
    /// The API of a shape.
    pub fn of(outlook: Outlook, clock: &VirtualClock) -> Self {
        Self { outlook, clock: clock.clone(), asked: Arc::default() }
    }

    /// How the job stood so long ago.
    fn stands(&self, ago: Duration) -> Got {
        let now = self.clock.now().minus(ago).since(BEGINNING).as_secs();
        let mut until_now = COURSE.iter().enumerate().filter(|(_, (since, _))| *since <= now);
        let (number, (_, state)) = until_now.next_back().unwrap_or((0, &COURSE[0]));
        got(200, &format!(r#"{{"state":"{state}","n":{},"order":"A-1"}}"#, number + 1))
    }
}

impl Outbound for JobApi {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
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
