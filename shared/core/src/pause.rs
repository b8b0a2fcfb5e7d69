//! Endpoints that a human has paused: deliveries are verified, stored and
//! acknowledged as ever, and nothing new begins. After the pause what waits
//! drains at a chosen rate. One small item holds them all; processor and
//! sweeper read it every few seconds.

use crate::ids::{EndpointName, Who};
use crate::ports::{PauseRecord, StoreError};
use crate::protocol::event::Event;
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

/// How long a pause stays on record after everything that waited has gone,
/// beyond every round that it has made longer.
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
    /// How long events had to wait before, within the same two weeks.
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
    /// When nothing was left that waited. From then on the endpoint is as any other.
    pub over: Option<UnixMillis>,
}

impl Pause {
    /// How long events of this endpoint have had to wait, for the pause to end
    /// and then for their turn: no round grows old by it (INV-8).
    fn waited(&self, now: UnixMillis) -> Duration {
        let until = self.ended.as_ref().and_then(|ended| ended.over).unwrap_or(now);
        self.before + until.since(self.since)
    }

    fn is_forgotten(&self, now: UnixMillis) -> bool {
        let over = self.ended.as_ref().and_then(|ended| ended.over);
        over.is_some_and(|over| now.since(over) > FORGOTTEN_AFTER + self.waited(over))
    }

    /// Whether nothing of this endpoint begins, or only by turns.
    pub fn holds_back(&self) -> bool {
        self.ended.as_ref().is_none_or(|ended| ended.over.is_none())
    }
}

impl Drain {
    /// Whether this event's turn may come before the sweeper would look at it
    /// by itself: it waits, or came before the end of the pause and was never
    /// sent round. Once it is sent neither is so any more.
    pub fn brings(&self, event: &Event) -> bool {
        let progress = &event.progress;
        progress.waits || (progress.sweeps == 0 && progress.opened_at <= self.at)
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
            before: match running {
                Some(pause) => pause.before,
                None => earlier.map_or(Duration::ZERO, |pause| pause.waited(now)),
            },
            ended: None,
        };
        self.with(endpoint, pause, now)
    }

    /// With this endpoint's pause ended, or with another rate where it drains.
    /// `None`: it is not paused, and nothing waits.
    #[must_use]
    pub fn resuming(&self, endpoint: &EndpointName, drain: Drain) -> Option<Self> {
        let pause = self.endpoints.get(endpoint).filter(|pause| pause.holds_back())?;
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

    /// With these endpoints' drains over: nothing waits there any more.
    #[must_use]
    pub fn drained(&self, endpoints: &[EndpointName], now: UnixMillis) -> Self {
        let mut drained = Self { version: self.version.saturating_add(1), endpoints: self.endpoints.clone() };
        for endpoint in endpoints {
            if let Some(ended) = drained.endpoints.get_mut(endpoint).and_then(|pause| pause.ended.as_mut()) {
                ended.over.get_or_insert(now);
            }
        }
        drained
    }

    /// How long the endpoint that was paused first has been so by now. What
    /// waits there is looked at seldom, and nobody shall forget it.
    pub fn longest(&self, now: UnixMillis) -> Duration {
        let paused = self.endpoints.values().filter(|pause| pause.ended.is_none());
        paused.map(|pause| now.since(pause.since)).max().unwrap_or_default()
    }

    /// How fast an endpoint drains, while it does.
    pub fn drain(&self, endpoint: &EndpointName) -> Option<&Drain> {
        self.endpoints.get(endpoint)?.ended.as_ref().filter(|ended| ended.over.is_none())
    }

    /// Every endpoint that drains.
    pub fn drains(&self) -> impl Iterator<Item = (&EndpointName, &Drain)> {
        self.endpoints.keys().filter_map(|endpoint| Some((endpoint, self.drain(endpoint)?)))
    }

    /// The bounds of an endpoint's events with its pauses in them: closed while
    /// it is paused, and older by what they had to wait for (INV-8).
    #[must_use]
    pub fn bounding(&self, endpoint: &EndpointName, limits: Limits, now: UnixMillis) -> Limits {
        match self.endpoints.get(endpoint) {
            None => limits,
            Some(pause) => Limits {
                gate: if pause.ended.is_none() { Gate::Paused } else { limits.gate },
                age: limits.age + pause.waited(now),
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

/// The turns that one run of the sweeper, which comes once a minute, gives the
/// events of endpoints that drain: as many as each one's rate says.
#[derive(Debug, Default)]
pub struct Turns(BTreeMap<EndpointName, u32>);

impl Turns {
    /// Takes one of an endpoint's turns. `false`: none is left in this run.
    pub fn take(&mut self, endpoint: &EndpointName, drain: &Drain) -> bool {
        let left = self.are_left(endpoint, drain);
        if left {
            *self.0.entry(endpoint.clone()).or_default() += 1;
        }
        left
    }

    /// Whether this run has any left.
    pub fn are_left(&self, endpoint: &EndpointName, drain: &Drain) -> bool {
        self.0.get(endpoint).copied().unwrap_or_default() < drain.per_minute.max(1)
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
        Drain { at: at(hours), who: "bob".into(), per_minute: 60, over: None }
    }

    fn shop() -> EndpointName {
        "shop".into()
    }

    #[test]
    fn a_pause_closes_the_gate_of_its_endpoint_alone() {
        let pauses = Pauses::default().pausing(&shop(), &"alice".into(), "outage", at(0));
        let limits = || Limits::standard(HOUR);
        assert_eq!(pauses.bounding(&shop(), limits(), at(1)).gate, Gate::Paused);
        assert_eq!(pauses.bounding(&"stripe".into(), limits(), at(1)), limits());
        let resumed = pauses.resuming(&shop(), drain(5)).unwrap();
        assert_eq!(resumed.bounding(&shop(), limits(), at(6)).gate, Gate::Open);
        assert_eq!(pauses.resuming(&"stripe".into(), drain(5)), None);
    }

    #[test]
    fn no_round_grows_old_by_a_pause_and_what_drains_after_it_however_often_it_was_paused() {
        let who = "alice".into();
        let once = Pauses::default().pausing(&shop(), &who, "outage", at(0));
        let again = once.pausing(&shop(), &who, "still", at(1));
        assert_eq!(again.endpoints[&shop()].since, at(0));
        let resumed = again.resuming(&shop(), drain(5)).unwrap();
        let slower = resumed.resuming(&shop(), Drain { per_minute: 1, ..drain(6) }).unwrap();
        let over = slower.drained(&[shop()], at(9));
        let twice = over.pausing(&shop(), &who, "again", at(10)).resuming(&shop(), drain(12)).unwrap();
        let standard = Limits::standard(HOUR).age;
        let waited =
            |pauses: &Pauses, now| pauses.bounding(&shop(), Limits::standard(HOUR), at(now)).age - standard;
        assert_eq!(
            [waited(&once, 3), waited(&resumed, 8), waited(&slower, 8)],
            [HOUR * 3, HOUR * 8, HOUR * 8]
        );
        assert_eq!(
            [waited(&over, 9), waited(&over, 50), waited(&twice, 12)],
            [HOUR * 9, HOUR * 9, HOUR * 11]
        );
        // While it drains it is paused anew: one long wait.
        let anew = slower.pausing(&shop(), &who, "again", at(7));
        assert_eq!(waited(&anew, 8), HOUR * 8);
    }

    #[test]
    fn a_drain_ends_when_nothing_is_left_for_it() {
        let ended = Pauses::default()
            .pausing(&shop(), &"alice".into(), "outage", at(0))
            .resuming(&shop(), drain(1))
            .unwrap();
        assert!(ended.drain(&shop()).is_some() && ended.endpoints[&shop()].holds_back());
        let over = ended.drained(&[shop(), "stripe".into()], at(2));
        assert_eq!((over.version, over.drain(&shop())), (3, None));
        assert!(!over.endpoints[&shop()].holds_back());
        assert_eq!(over.resuming(&shop(), drain(3)), None, "nothing is left to drain");
    }

    #[test]
    fn a_pause_is_forgotten_with_the_next_write_two_weeks_after_all_has_gone() {
        let ended = Pauses::default()
            .pausing(&shop(), &"alice".into(), "outage", at(0))
            .resuming(&shop(), drain(1))
            .unwrap();
        let later = at(3 + 14 * 24 + 2);
        let drains = ended.pausing(&"stripe".into(), &"bob".into(), "test", later);
        assert!(drains.endpoints.contains_key(&shop()), "it drains still");
        let over = ended.drained(&[shop()], at(2)).pausing(&"stripe".into(), &"bob".into(), "test", later);
        assert!(!over.endpoints.contains_key(&shop()));
    }

    #[test]
    fn a_run_gives_each_endpoint_that_drains_as_many_turns_as_its_rate_says() {
        let mut turns = Turns::default();
        let given = (0..180).filter(|_| turns.take(&shop(), &drain(0))).count();
        assert_eq!(given, 60);
        assert!(turns.take(&"stripe".into(), &drain(0)));
    }
}
