//! Time that passes when the test says so. A skewed view shares the passing of
//! time and disagrees about the date, like another machine's clock.

use super::lock;
use sekali::time::{Clock, Monotonic, UnixMillis};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// A clock under the test's control; clones are the same clock.
#[derive(Debug, Clone)]
pub struct VirtualClock {
    /// What time it really is, and how long the test has run.
    truth: Arc<Mutex<Truth>>,
    /// How far this view's date is ahead (behind, if negative), in milliseconds.
    skew: Arc<Mutex<i64>>,
}

#[derive(Debug)]
struct Truth {
    wall: UnixMillis,
    monotonic: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

impl VirtualClock {
    /// A clock that stands at `wall`.
    pub fn at(wall: UnixMillis) -> Self {
        let truth = Truth { wall, monotonic: Duration::ZERO, sleepers: Vec::new() };
        Self { truth: Arc::new(Mutex::new(truth)), skew: Arc::default() }
    }

    /// Another machine's view of the same time, `millis` ahead of the true
    /// date. Its monotonic clock runs alike.
    #[must_use]
    pub fn skewed(&self, millis: i64) -> Self {
        Self { truth: Arc::clone(&self.truth), skew: Arc::new(Mutex::new(millis)) }
    }

    /// Time passes, for every view; whoever slept until then wakes.
    pub fn advance(&self, span: Duration) {
        let mut truth = lock(&self.truth);
        truth.wall = truth.wall.plus(span);
        truth.monotonic += span;
        let now = truth.monotonic;
        for (_, waker) in truth.sleepers.extract_if(.., |(until, _)| *until <= now) {
            waker.wake();
        }
    }

    /// Ends when `span` has passed: whoever polls it goes on with others, and
    /// advances the clock when nobody has anything left to do.
    pub fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send + use<> {
        let truth = Arc::clone(&self.truth);
        let until = lock(&truth).monotonic.saturating_add(span);
        poll_fn(move |context| {
            let mut truth = lock(&truth);
            if truth.monotonic >= until {
                return Poll::Ready(());
            }
            truth.sleepers.push((until, context.waker().clone()));
            Poll::Pending
        })
    }

    /// How long until the next sleeper wakes; `None`: nobody sleeps.
    pub fn next_alarm(&self) -> Option<Duration> {
        let truth = lock(&self.truth);
        let next = truth.sleepers.iter().map(|(until, _)| *until).min()?;
        Some(next.saturating_sub(truth.monotonic))
    }

    /// Somebody sets this view's date, e.g. back; monotonic clocks and other
    /// views do not notice.
    pub fn set_skew(&self, millis: i64) {
        *lock(&self.skew) = millis;
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> UnixMillis {
        let skew = *lock(&self.skew);
        UnixMillis(lock(&self.truth).wall.0.saturating_add(skew))
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic(lock(&self.truth).monotonic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Context;

    #[test]
    fn time_passes_alike_for_every_view() {
        let clock = VirtualClock::at(UnixMillis(1_000));
        let ahead = clock.skewed(250);
        clock.advance(Duration::from_millis(10));
        assert_eq!((clock.now(), ahead.now()), (UnixMillis(1_010), UnixMillis(1_260)));
        assert_eq!(clock.monotonic(), ahead.monotonic());
    }

    #[test]
    fn a_sleeper_wakes_when_its_time_has_passed_and_not_before() {
        let clock = VirtualClock::at(UnixMillis(0));
        let mut sleep = pin!(clock.sleep(Duration::from_secs(5)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.next_alarm(), Some(Duration::from_secs(5)));
        clock.advance(Duration::from_secs(4));
        assert!(sleep.as_mut().poll(&mut context).is_pending());
        clock.advance(Duration::from_secs(1));
        assert!(sleep.as_mut().poll(&mut context).is_ready());
        assert_eq!(clock.next_alarm(), None);
    }

    #[test]
    fn a_date_set_back_leaves_the_monotonic_clock_alone() {
        let clock = VirtualClock::at(UnixMillis(1_000));
        let view = clock.skewed(0);
        let before = view.monotonic();
        view.set_skew(-900);
        assert_eq!((view.now(), clock.now()), (UnixMillis(100), UnixMillis(1_000)));
        assert_eq!(view.monotonic(), before);
    }
}
