//! Every single fault, every pair, every triple. What comes after a fault is
//! learned by running it, since a faulty run goes another way than a quiet one.

use super::kind::Menu;
use super::schedule::{Point, Schedule};
use std::collections::VecDeque;

/// The schedules still to be run, fewest faults first.
#[derive(Debug, Clone)]
pub struct Exploration {
    menu: Menu,
    most: usize,
    open: VecDeque<Schedule>,
}

impl Exploration {
    /// Up to `most` faults in one run; the first schedule is the quiet one.
    pub fn of(menu: Menu, most: usize) -> Self {
        Self { menu, most, open: VecDeque::from([Schedule::quiet()]) }
    }

    /// The same, around faults that every run has.
    #[must_use]
    pub fn around(self, always: Schedule) -> Self {
        Self { most: self.most + always.len(), open: VecDeque::from([always]), ..self }
    }

    /// The next schedule to run. Its log is then given to [`learn`](Self::learn).
    pub fn next_schedule(&mut self) -> Option<Schedule> {
        self.open.pop_front()
    }

    /// What the run of `schedule` showed: each point behind its last fault can
    /// meet one more. Every set of faults comes up once.
    pub fn learn(&mut self, schedule: &Schedule, log: &[Point]) {
        if schedule.len() >= self.most {
            return;
        }
        for point in log.iter().filter(|point| point.number >= schedule.open_from()) {
            let more = self.menu.of(point.call).into_iter().map(|fault| schedule.with(point.number, fault));
            self.open.extend(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Fault, PortCall, Trouble};
    use std::collections::BTreeSet;
    use std::time::Duration;

    const MENU: Menu = Menu { pause: Duration::from_secs(60), permanent: false };

    fn point(number: usize, fault: Option<Fault>) -> Point {
        Point { number, worker: "w".to_owned(), call: PortCall::Send, fault }
    }

    /// A run of two sends that sends once more after a lost answer.
    fn run(schedule: &Schedule) -> Vec<Point> {
        let mut log = Vec::new();
        let mut left = 2;
        while left > 0 {
            let fault = schedule.at(log.len());
            left = if fault == Some(Fault::AnswerLost) { left } else { left - 1 };
            log.push(point(log.len(), fault));
        }
        log
    }

    #[test]
    fn every_single_fault_and_every_pair_comes_up_once() {
        let mut exploration = Exploration::of(MENU, 2);
        let mut seen = Vec::new();
        while let Some(schedule) = exploration.next_schedule() {
            exploration.learn(&schedule, &run(&schedule));
            seen.push(schedule);
        }
        let faults = MENU.of(PortCall::Send).len();
        // A lost answer at the first or second point opens a third.
        let pairs = faults * faults + faults + faults;
        assert_eq!(seen.len(), 1 + 2 * faults + pairs);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
        assert!(seen.is_sorted_by_key(Schedule::len));
    }

    #[test]
    fn what_repeats_for_good_is_tried_only_on_request() {
        let permanent = Menu { permanent: true, ..MENU };
        assert!(!MENU.of(PortCall::Effect).contains(&Fault::Refused(Trouble::Invalid)));
        assert!(permanent.of(PortCall::Effect).contains(&Fault::Refused(Trouble::Invalid)));
    }
}
