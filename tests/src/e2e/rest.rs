//! Everything comes to rest: whatever happened before, with workers that live
//! and a destination that answers, time and the sweeper bring every event to
//! an end that people can see (INV-1).

use super::driven::Driven;
use super::worker::Worker;
use anyhow::{Result, bail};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use std::time::Duration;

/// More sweeps than the product allows an event before it ends it.
const ROUNDS: usize = 24;

impl Driven {
    /// Lets `processor` and `sweeper` work, and time pass, until no event is
    /// open any more.
    ///
    /// # Errors
    /// An event never came to an end; which.
    pub async fn come_to_rest(&self, processor: &Worker, sweeper: &Worker) -> Result<()> {
        for _ in 0..ROUNDS {
            while self.hand_over(processor).await? > 0 {}
            let Some(wait) = self.until_all_are_due().await? else { return Ok(()) };
            self.kept.pass_for_all_open(wait).await?;
            self.sweep(sweeper).await?;
        }
        let events = self.kept.events().await?;
        let open: Vec<_> = events.iter().filter(|event| !event.is_at_rest()).collect();
        bail!("these events never came to an end: {open:?}")
    }

    /// How long until the sweeper is to look at every open event and every
    /// lease is over. `None`: there is none.
    async fn until_all_are_due(&self) -> Result<Option<Duration>> {
        let mut latest = None;
        for event in self.kept.events().await? {
            if event.is_at_rest() {
                continue;
            }
            latest = latest.max(event.number("due"));
            if event.has("action") {
                latest = latest.max(self.kept.action_of(&event).await?.number("lease_until"));
            }
        }
        let now = SystemClock.now();
        Ok(latest.map(|at| UnixMillis(at).since(now) + Duration::from_millis(1)))
    }
}
