//! Every single fault, every pair, and faults drawn from a seed.

use super::run::{Case, Run};
use super::shape::Shape;
use crate::fault::{Exploration, Fault, Menu, Point, PortCall, Schedule, Trouble};
use crate::memory::SeededEntropy;
use std::collections::{BTreeSet, VecDeque};
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What came of many runs.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many schedules were run.
    pub schedules: usize,
    /// How many runs broke a promise.
    pub violations: usize,
    /// How many runs never came to a fault that their schedule has.
    pub unmet: usize,
    /// Which faults were met at which calls.
    pub met: BTreeSet<(PortCall, Fault)>,
    /// The runs that broke a promise.
    pub broken: Vec<Case>,
}

/// Broken runs that are kept to be played again; more are only counted.
const KEPT: usize = 1_000;

/// Beyond a lease, and within the visibility of a message.
pub const SHORT_PAUSE: Duration = Duration::from_secs(90);

/// Beyond a lease and the visibility of a message.
pub const LONG_PAUSE: Duration = Duration::from_secs(400);

impl Tally {
    fn count(&mut self, case: &Case, run: &Run) {
        self.schedules += 1;
        let met: Vec<_> = run.points.iter().filter_map(|point| Some((point.call, point.fault?))).collect();
        self.unmet += usize::from(met.len() < case.schedule.len());
        self.met.extend(met);
        if run.violations.is_empty() {
            return;
        }
        self.violations += 1;
        if self.broken.len() < KEPT {
            self.broken.push(case.clone());
        }
    }

    /// Adds what came of other runs.
    pub fn add(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.violations += other.violations;
        self.unmet += other.unmet;
        self.met.extend(other.met);
        let room = KEPT.saturating_sub(self.broken.len());
        self.broken.extend(other.broken.into_iter().take(room));
    }

    /// The faults of a menu that no run has met. A fault that is never met
    /// proves nothing.
    pub fn never_met(&self, menu: Menu) -> Vec<(PortCall, Fault)> {
        let all = PortCall::all().flat_map(|call| menu.of(call).into_iter().map(move |fault| (call, fault)));
        all.filter(|met| !self.met.contains(met)).collect()
    }
}

/// Runs a shape under every set of up to `most` faults of the menu.
pub fn every(shape: &Arc<Shape>, seed: u64, menu: Menu, most: usize) -> Tally {
    let case = Case::quiet(shape, seed);
    let exploration = Exploration::of(menu, most).around(case.schedule.clone());
    let open = Mutex::new((exploration, 0_usize));
    let always = case.schedule.len();
    on_every_core(|| {
        let mut tally = Tally::default();
        loop {
            let next = {
                let mut open = lock(&open);
                let next = open.0.next_schedule();
                open.1 += usize::from(next.is_some());
                next.ok_or(open.1)
            };
            let schedule = match next {
                Ok(schedule) => schedule,
                Err(0) => return tally,
                // Others are still running what the next schedules come from.
                Err(_) => {
                    thread::yield_now();
                    continue;
                }
            };
            let case = case.under(schedule.clone());
            let run = case.run();
            tally.count(&case, &run);
            let mut open = lock(&open);
            open.0.learn(&schedule, worth_it(&run, schedule.len() > always));
            open.1 -= 1;
        }
    })
}

/// The points at which one more fault is tried: what a human does after a
/// fault is left alone.
fn worth_it(run: &Run, has_a_fault: bool) -> &[Point] {
    let points = if has_a_fault { run.traffic } else { run.points.len() };
    &run.points[..points.min(run.points.len())]
}

/// Runs the cases of these seeds.
pub fn seeds(seeds: impl Iterator<Item = u64>) -> Tally {
    let shapes: Vec<Arc<Shape>> = Shape::all().into_iter().map(Arc::new).collect();
    let open = Mutex::new(seeds.collect::<VecDeque<u64>>());
    on_every_core(|| {
        let mut tally = Tally::default();
        while let Some(seed) = { lock(&open).pop_front() } {
            let case = drawn(&shapes, seed);
            tally.count(&case, &case.run());
        }
        tally
    })
}

/// The case that a seed draws: a shape, and up to six faults anywhere.
pub fn drawn(shapes: &[Arc<Shape>], seed: u64) -> Case {
    let dice = SeededEntropy::seeded(seed ^ 0x5eed);
    let pick = |most: usize| usize::try_from(dice.pick(most as u64)).unwrap_or(0);
    let case = Case::quiet(&shapes[pick(shapes.len())], seed);
    let pauses = [1, 30, 90, 400, 2_000].map(Duration::from_secs);
    let schedule = (0..pick(7)).fold(case.schedule.clone(), |schedule: Schedule, _| {
        let pause = pauses[pick(pauses.len())];
        let faults = [
            Fault::Refused(Trouble::Throttled),
            Fault::Refused(Trouble::Contended),
            Fault::Refused(Trouble::Unanswered),
            Fault::AnswerLost,
            Fault::Repeated,
            Fault::PauseBefore(pause),
            Fault::PauseAfter(pause),
            Fault::CrashBefore,
            Fault::CrashAfter,
        ];
        schedule.with(pick(70), faults[pick(faults.len())])
    });
    case.under(schedule)
}

/// The same case with as few of its faults as still break a promise.
pub fn shrunk(case: &Case) -> Case {
    let mut smallest = case.clone();
    loop {
        let fewer = smallest.schedule.without_each().into_iter().map(|schedule| smallest.under(schedule));
        match fewer.into_iter().find(|case| !case.run().violations.is_empty()) {
            Some(case) => smallest = case,
            None => return smallest,
        }
    }
}

fn on_every_core(work: impl Fn() -> Tally + Sync) -> Tally {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut all = Tally::default();
    thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(&work)).collect();
        for tally in running {
            match tally.join() {
                Ok(tally) => all.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
