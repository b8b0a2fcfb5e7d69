//! One run: the world is set going, time passes until everything is at rest,
//! a human deals with what needs one, and everything comes to rest again.

use super::diary::{Diary, shown};
use super::executor::Executor;
use super::human;
use super::mutant::Mutant;
use super::process::{poller, sweeper, vendor};
use super::rest::{self, Round};
use super::shape::Shape;
use super::watch::Violation;
use super::world::World;
use crate::fault::{Fault, Point, PortCall, Schedule};
use crate::memory::{Removal, Tables};
use anyhow::Context;
use sekali::ports::Due;
use sekali::time::UnixMillis;
use std::sync::Arc;
use std::time::Duration;

/// What is simulated. The same case always goes the same way.
#[derive(Debug, Clone)]
pub struct Case {
    /// The traffic.
    pub shape: Arc<Shape>,
    /// Decides whose turn it is, and the odds.
    pub seed: u64,
    /// What goes wrong.
    pub schedule: Schedule,
    /// What a process does wrong.
    pub mutant: Option<Mutant>,
    /// When DynamoDB removes what has expired; the seed decides where this does not.
    pub removal: Option<Removal>,
}

/// How a run went.
#[derive(Debug, Clone)]
pub struct Run {
    /// Promises that were broken.
    pub violations: Vec<Violation>,
    /// The points that were passed.
    pub points: Vec<Point>,
    /// How many of them were passed before a human came.
    pub traffic: usize,
    /// What happened, where that was written down.
    pub lines: Vec<String>,
    /// How many effects happened.
    pub effects: usize,
    /// How many calls reached the destination.
    pub calls: usize,
    /// What was stored before a human came.
    pub before: Tables,
    /// What was stored at the end.
    pub after: Tables,
}

/// A step of one task takes this long, so that no two writes bear one date.
const STEP: Duration = Duration::from_millis(1);

/// A run that takes more steps than this does not come to rest.
const MOST_STEPS: usize = 60_000;

/// How often the schedule starts the sweeper, and how soon a poller comes again.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
const POLL_EVERY: Duration = Duration::from_secs(1);

/// How often events in doubt are looked at before everything counts as at rest.
const LOOKS_AT_DOUBT: usize = 2;

impl Case {
    /// Nothing goes wrong but what belongs to the shape.
    pub fn quiet(shape: &Arc<Shape>, seed: u64) -> Self {
        let shape = Arc::clone(shape);
        let quiet = Self { shape, seed, schedule: Schedule::quiet(), mutant: None, removal: None };
        let Some((call, fault)) = quiet.shape.mishap else { return quiet };
        let point = quiet.run().points.iter().find(|point| point.call == call).map(|point| point.number);
        point.map_or(quiet.clone(), |point| quiet.with(point, fault))
    }

    /// This case with another schedule.
    #[must_use]
    pub fn under(&self, schedule: Schedule) -> Self {
        Self { schedule, ..self.clone() }
    }

    /// This case with one more fault.
    #[must_use]
    pub fn with(&self, point: usize, fault: Fault) -> Self {
        self.under(self.schedule.with(point, fault))
    }

    /// This case with a fault at a call that is known by what it is: the `nth`
    /// (from 0) of this kind that the case makes as it stands.
    ///
    /// # Errors
    /// It makes no such call.
    pub fn meeting(&self, call: PortCall, nth: usize, fault: Fault) -> anyhow::Result<Self> {
        let points = self.run().points;
        let point = points.iter().filter(|point| point.call == call).nth(nth);
        let point = point.with_context(|| format!("call {nth} of {call:?} is never made"))?;
        Ok(self.with(point.number, fault))
    }

    /// Runs it.
    pub fn run(&self) -> Run {
        self.run_with(Diary::default())
    }

    /// Runs it and writes down what happens.
    pub fn told(&self) -> Run {
        self.run_with(Diary::kept())
    }

    fn run_with(&self, diary: Diary) -> Run {
        let (world, executor) = World::new(self.clone(), diary);
        for sent in self.shape.sent.clone() {
            world.spawner.spawn(vendor(Arc::clone(&world), sent));
        }
        if let Some((at, edition)) = self.shape.deploy {
            let deployed = Arc::clone(&world);
            world.spawner.spawn(async move {
                deployed.clock.sleep(at).await;
                deployed.deploy(edition);
            });
        }
        if let Some((from, until)) = self.shape.pause {
            world.spawner.spawn(human::pauses(Arc::clone(&world), from, until));
        }
        if let Some(from) = self.shape.erased {
            world.spawner.spawn(human::erases(Arc::clone(&world), from));
        }
        let mut time = Time::begin(Arc::clone(&world), executor);
        let at_rest = time.pass();
        let before = world.store.tables();
        let traffic = world.faults.log().len();
        if at_rest {
            rest::check(&world, Round::Traffic);
            if human::deals_with_it(&world, &mut time) {
                rest::check(&world, Round::Human);
            }
        }
        Run {
            violations: world.watch.found(),
            points: world.faults.log(),
            traffic,
            lines: world.diary.lines(),
            effects: world.destination.yard().effects(),
            calls: world.destination.yard().calls().len(),
            before,
            after: world.store.tables(),
        }
    }
}

/// Time, and what it sets going.
pub struct Time {
    world: Arc<World>,
    executor: Executor,
    polled_at: Option<UnixMillis>,
    swept_at: Option<UnixMillis>,
    stale: bool,
}

impl Time {
    fn begin(world: Arc<World>, executor: Executor) -> Self {
        Self { world, executor, polled_at: None, swept_at: None, stale: false }
    }

    /// Lets time pass until everything is at rest. `false`: it never is.
    pub fn pass(&mut self) -> bool {
        let mut looks = LOOKS_AT_DOUBT;
        for _ in 0..MOST_STEPS {
            self.set_going(Due::Open);
            if self.executor.step() {
                self.go_on(STEP);
                continue;
            }
            if let Some(span) = self.until_something_happens() {
                self.go_on(span.max(STEP));
                continue;
            }
            // Nothing else is left: somebody looks at what is in doubt.
            let Some(due) = self.next_sweep(Due::InDoubt).filter(|_| looks > 0) else { return true };
            looks -= 1;
            self.go_on(due.since(self.world.now()).max(STEP));
            self.set_going(Due::InDoubt);
        }
        let what = format!("not at rest after {MOST_STEPS} steps");
        self.world.watch.broken("INV-8", what, self.world.now());
        false
    }

    fn go_on(&self, span: Duration) {
        let world = &self.world;
        world.clock.advance(span);
        if span > STEP {
            world.diary.note(world.now(), || format!("-- {} s later", span.as_secs_f64()));
            world.store.remove_expired(world.now(), world.odds().removal);
            world.queue.meddle(|line| line.drop_outlived(world.now()));
        }
        world.watch.look(world.now());
    }

    /// Starts what is due by now.
    fn set_going(&mut self, class: Due) {
        let now = self.world.now();
        if self.next_poll().is_some_and(|at| at <= now) {
            self.polled_at = Some(now);
            self.world.spawner.spawn(poller(Arc::clone(&self.world)));
        }
        if self.next_sweep(class).is_some_and(|at| at <= now) {
            self.swept_at = Some(now);
            self.let_the_index_stand();
            for _ in 0..self.world.odds().sweepers {
                self.world.spawner.spawn(sweeper(Arc::clone(&self.world)));
            }
        }
    }

    /// Every other run of the sweeper sees the index as the one before it did.
    fn let_the_index_stand(&mut self) {
        if !self.world.odds().stale {
            return;
        }
        self.stale = !self.stale;
        if self.stale { self.world.store.hold_index_back() } else { self.world.store.let_index_catch_up() }
    }

    fn until_something_happens(&self) -> Option<Duration> {
        let now = self.world.now();
        let at = [self.next_poll(), self.next_sweep(Due::Open)];
        let spans = at.into_iter().flatten().map(|at| at.since(now));
        spans.chain(self.world.clock.next_alarm()).min()
    }

    /// When the poller will find something.
    fn next_poll(&self) -> Option<UnixMillis> {
        let visible = self.world.queue.look(|line| line.waiting().map(|letter| letter.visible_at).min())?;
        Some(self.polled_at.map_or(visible, |polled| visible.max(polled.plus(POLL_EVERY))))
    }

    /// When the schedule starts a sweeper that finds something.
    fn next_sweep(&self, class: Due) -> Option<UnixMillis> {
        let due = self.world.store.look(|tables| {
            let standing = tables.events().filter(|event| Due::of(event.progress.status) == Some(class));
            standing.filter_map(|event| event.progress.due).min()
        })?;
        if self.world.case.mutant == Some(Mutant::NeverSweeps) {
            return None;
        }
        // A little later: the sweeper's own date may be behind.
        let due = due.plus(Duration::from_secs(10));
        Some(self.swept_at.map_or(due, |swept| due.max(swept.plus(SWEEP_EVERY))))
    }
}

impl Run {
    /// What went wrong, in words: the broken promises, what was done to the
    /// run, and everything that happened.
    pub fn report(&self, case: &Case) -> String {
        let mut text = format!("shape: {}\nseed: {}\n", case.shape.name, case.seed);
        if let Some(mutant) = case.mutant {
            text += &format!("mutant: {mutant:?}\n");
        }
        for violation in &self.violations {
            text += &format!("BROKEN {}: {} at {}\n", violation.promise, violation.what, shown(violation.at));
        }
        for point in self.points.iter().filter(|point| point.fault.is_some()) {
            text += &format!(
                "fault at point {}: {} {:?}: {:?}\n",
                point.number, point.worker, point.call, point.fault
            );
        }
        for line in &self.lines {
            text += line;
            text.push('\n');
        }
        text
    }
}
