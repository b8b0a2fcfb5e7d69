//! Endpoints that a human has paused: deliveries are verified, stored and
//! acknowledged as ever, and nothing new begins. After the pause what waits
//! drains at a chosen rate. One small item holds them all; processor and
//! sweeper read it every few seconds.

use crate::ids::{EndpointName, Who};
use crate::ports::{PauseRecord, StoreError};
use crate::protocol::policy::{Gate, Limits};
use crate::time::{Clock, Monotonic, UnixMillis};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a process goes by what it has read: a pause begins, and ends, at
/// most so much later.
pub const REMEMBERED_FOR: Duration = Duration::from_secs(10);

/// How long a process goes by it where it cannot be read anew. Beyond this it
/// rather does nothing than what a human may have stopped.
pub const TRUSTED_FOR: Duration = Duration::from_secs(60);

/// How many of a drained endpoint's events the sweeper sends in a minute where
/// nobody says otherwise.
pub const DRAINED_PER_MINUTE: u32 = 300;

/// How long an ended pause stays on record, beyond every round that it has
/// made longer.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(14 * 24 * 3600);

/// The pause of one endpoint, or one that has ended and drains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub since: UnixMillis,
    /// Who paused it.
    pub who: Who,
    /// Why.
    pub why: String,
    /// How long it was paused before, within the same two weeks.
    pub before: Duration,
    /// When it ended, and how fast it drains.
    pub ended: Option<Drain>,
}

/// The end of a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drain {
    /// When.
    pub at: UnixMillis,
    /// By whom.
    pub who: Who,
    /// How many events the sweeper sends in a minute.
    pub per_minute: u32,
}

impl Pause {
    /// How long events of this endpoint have had to wait: no round grows old by it.
    fn waited(&self) -> Duration {
        self.before + self.ended.as_ref().map_or(Duration::ZERO, |ended| ended.at.since(self.since))
    }

    fn is_forgotten(&self, now: UnixMillis) -> bool {
        let kept = FORGOTTEN_AFTER + self.waited();
        self.ended.as_ref().is_some_and(|ended| now.since(ended.at) > kept)
    }
}

/// Every pause on record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Counts the writes; a write names the one it read. 0: there is no item.
    pub version: u64,
    /// By endpoint.
    pub endpoints: BTreeMap<EndpointName, Pause>,
}

impl Pauses {
    /// With this endpoint paused from now on. One that is paused already
    /// stays as it is; only the reason is new.
    #[must_use]
    pub fn pausing(&self, endpoint: &EndpointName, who: &Who, why: &str, now: UnixMillis) -> Self {
        let earlier = self.endpoints.get(endpoint).filter(|pause| !pause.is_forgotten(now));
        let running = earlier.filter(|pause| pause.ended.is_none());
        let pause = Pause {
            since: running.map_or(now, |pause| pause.since),
            who: who.clone(),
            why: why.to_owned(),
            before: earlier.map_or(Duration::ZERO, Pause::waited),
            ended: None,
        };
        self.with(endpoint, pause, now)
    }

    /// With this endpoint's pause ended. `None`: it is not on record.
    #[must_use]
    pub fn resuming(&self, endpoint: &EndpointName, drain: Drain) -> Option<Self> {
        let pause = self.endpoints.get(endpoint)?;
        let now = drain.at;
        // Only the rate is new where it has ended before.
        let at = pause.ended.as_ref().map_or(drain.at, |ended| ended.at);
        let ended = Some(Drain { at, ..drain });
        Some(self.with(endpoint, Pause { ended, ..pause.clone() }, now))
    }

    fn with(&self, endpoint: &EndpointName, pause: Pause, now: UnixMillis) -> Self {
        let mut endpoints = self.endpoints.clone();
        endpoints.retain(|_, pause| !pause.is_forgotten(now));
        endpoints.insert(endpoint.clone(), pause);
        Self { version: self.version.saturating_add(1), endpoints }
    }

    /// How fast an endpoint drains, where it does.
    pub fn drain(&self, endpoint: &EndpointName) -> Option<&Drain> {
        self.endpoints.get(endpoint)?.ended.as_ref()
    }

    /// The bounds of an endpoint's events with its pauses in them: closed while
    /// it is paused, and older by what they had to wait for (INV-8).
    #[must_use]
    pub fn bounding(&self, endpoint: &EndpointName, limits: Limits) -> Limits {
        match self.endpoints.get(endpoint) {
            None => limits,
            Some(pause) => Limits {
                gate: if pause.ended.is_none() { Gate::Paused } else { limits.gate },
                age: limits.age + pause.waited(),
                ..limits
            },
        }
    }
}

/// What a process remembers of the pauses, for a few seconds.
#[derive(Debug, Default)]
pub struct Remembered(Mutex<Option<(Monotonic, Arc<Pauses>)>>);

impl Remembered {
    /// The pauses, read anew where the memory is old.
    ///
    /// # Errors
    /// They cannot be read, and what is remembered is too old to go by.
    pub async fn pauses(
        &self,
        store: &impl PauseRecord,
        clock: &impl Clock,
    ) -> Result<Arc<Pauses>, StoreError> {
        let now = clock.monotonic();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let age = |read: Monotonic| now.0.saturating_sub(read.0);
        if let Some((read, pauses)) = &known
            && age(*read) < REMEMBERED_FOR
        {
            return Ok(Arc::clone(pauses));
        }
        match (store.pauses().await, known) {
            (Ok(pauses), _) => {
                let pauses = Arc::new(pauses);
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Arc::clone(&pauses)));
                Ok(pauses)
            }
            (Err(error), Some((read, pauses))) if age(read) < TRUSTED_FOR => {
                tracing::warn!(%error, "pauses were not read: going by those read before");
                Ok(pauses)
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// The turns of events that drain, in one run of the sweeper, which comes once
/// a minute: as many as the rate says go at once, the others are spread over
/// the time that comes.
#[derive(Debug, Default)]
pub struct Turns(BTreeMap<EndpointName, u32>);

impl Turns {
    /// The next event's gate.
    pub fn take(&mut self, endpoint: &EndpointName, drain: &Drain, now: UnixMillis) -> Gate {
        let taken = self.0.entry(endpoint.clone()).or_default();
        let turn = *taken;
        *taken = taken.saturating_add(1);
        let per_minute = drain.per_minute.max(1);
        if turn < per_minute {
            return Gate::Open;
        }
        Gate::Turn(now.plus(Duration::from_millis(u64::from(turn) * 60_000 / u64::from(per_minute))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn at(hours: u32) -> UnixMillis {
        UnixMillis(1_800_000_000_000).plus(HOUR * hours)
    }

    fn drain(hours: u32) -> Drain {
        Drain { at: at(hours), who: "bob".into(), per_minute: 60 }
    }

    fn shop() -> EndpointName {
        "shop".into()
    }

    #[test]
    fn a_pause_closes_the_gate_of_its_endpoint_alone() {
        let pauses = Pauses::default().pausing(&shop(), &"alice".into(), "outage", at(0));
        let limits = || Limits::standard(HOUR);
        assert_eq!(pauses.bounding(&shop(), limits()).gate, Gate::Paused);
        assert_eq!(pauses.bounding(&"stripe".into(), limits()), limits());
        let resumed = pauses.resuming(&shop(), drain(5)).unwrap();
        assert_eq!(resumed.bounding(&shop(), limits()).gate, Gate::Open);
        assert_eq!(pauses.resuming(&"stripe".into(), drain(5)), None);
    }

    #[test]
    fn no_round_grows_old_by_a_pause_however_often_it_was_paused() {
        let who = "alice".into();
        let once = Pauses::default().pausing(&shop(), &who, "outage", at(0));
        let again = once.pausing(&shop(), &who, "still", at(1));
        assert_eq!(again.endpoints[&shop()].since, at(0));
        let resumed = again.resuming(&shop(), drain(5)).unwrap();
        let slower = resumed.resuming(&shop(), Drain { per_minute: 1, ..drain(9) }).unwrap();
        let twice = slower.pausing(&shop(), &who, "again", at(10)).resuming(&shop(), drain(12)).unwrap();
        let age = |pauses: &Pauses| pauses.bounding(&shop(), Limits::standard(HOUR)).age;
        let standard = Limits::standard(HOUR).age;
        assert_eq!(
            [age(&resumed), age(&slower), age(&twice)],
            [standard + HOUR * 5, standard + HOUR * 5, standard + HOUR * 7]
        );
    }

    #[test]
    fn an_ended_pause_is_forgotten_with_the_next_write_after_two_weeks() {
        let ended = Pauses::default()
            .pausing(&shop(), &"alice".into(), "outage", at(0))
            .resuming(&shop(), drain(1))
            .unwrap();
        let later = ended.pausing(&"stripe".into(), &"bob".into(), "test", at(1 + 14 * 24 + 2));
        assert!(!later.endpoints.contains_key(&shop()));
        assert_eq!(later.version, 3);
    }

    #[test]
    fn what_is_over_the_rate_gets_its_turn_later() {
        let mut turns = Turns::default();
        let gates: Vec<Gate> = (0..180).map(|_| turns.take(&shop(), &drain(0), at(0))).collect();
        assert!(gates[..60].iter().all(|gate| *gate == Gate::Open));
        assert_eq!(gates[60], Gate::Turn(at(0).plus(Duration::from_secs(60))));
        assert_eq!(gates[179], Gate::Turn(at(0).plus(Duration::from_secs(179))));
    }
}
