//! The world of one run: the ports, the processes that vendors, the queue and
//! the clock set going, and what they were promised.

use super::api::JobApi;
use super::diary::Diary;
use super::executor::{Executor, Slot, Spawner};
use super::moody::Moody;
use super::mutant::{Dice, Mutant, Watchmaker};
use super::run::Case;
use super::seat::{Desk, Seat};
use super::setup::{self, Edition, LINE};
use super::traffic::{BEGINNING, Named, Sent};
use super::watch::Watch;
use crate::fault::{Ended, Faults, Worker};
use crate::memory::{MemoryQueue, MemoryStore, Removal, SeededEntropy, Tables, VirtualClock};
use sekali::deployment::Deployment;
use sekali::ids::{ResourceKind, Tenant};
use sekali::protocol::event::Event;
use sekali::time::{Clock, UnixMillis};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The world of one run.
pub struct World {
    /// The true clock.
    pub clock: VirtualClock,
    /// The tables.
    pub store: MemoryStore,
    /// The queue.
    pub queue: MemoryQueue,
    /// The destination.
    pub destination: Moody,
    /// The API of the vendor that only signals.
    pub api: JobApi,
    /// What goes wrong.
    pub faults: Faults,
    /// Where processes are set going.
    pub spawner: Spawner,
    /// Who checks.
    pub watch: Watch,
    /// What is written down.
    pub diary: Diary,
    /// What is simulated.
    pub case: Case,
    dice: SeededEntropy,
    odds: Odds,
    started: AtomicUsize,
    edition: Mutex<Edition>,
    promised: Mutex<Promised>,
}

/// What else a seed decides, besides whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Odds {
    /// Whether dates of workers differ.
    pub skewed: bool,
    /// When DynamoDB removes what has expired.
    pub removal: Removal,
    /// How many sweepers run at once.
    pub sweepers: usize,
    /// Whether the index falls behind now and then.
    pub stale: bool,
    /// Whether dates of processors are set back while they run.
    pub set_back: bool,
}

/// A processor's date is set back this long after it started, in the middle
/// of its work, by this many milliseconds: more than the margin of a lease.
const SET_BACK_AFTER: Duration = Duration::from_millis(9);
const SET_BACK_BY: i64 = 30_000;

/// What vendors were told.
#[derive(Debug, Default)]
pub struct Promised {
    /// Events whose delivery was answered 2xx.
    pub acknowledged: BTreeSet<Named>,
    /// Deliveries that were never acknowledged, however often they were made.
    pub given_up: usize,
}

impl Odds {
    fn drawn(dice: &SeededEntropy) -> Self {
        let removal = [Removal::Never, Removal::Exact, Removal::Late];
        Self {
            skewed: dice.pick(2) == 1,
            removal: removal[usize::try_from(dice.pick(3)).unwrap_or(0)],
            sweepers: if dice.pick(2) == 1 { 2 } else { 1 },
            stale: dice.pick(3) == 0,
            set_back: dice.pick(3) == 0,
        }
    }
}

impl World {
    /// The world of a case, and who moves it. Nothing has happened yet.
    pub fn new(case: Case, diary: Diary) -> (Arc<Self>, Executor) {
        let dice = SeededEntropy::seeded(case.seed);
        let (turns, odds) = (dice.fork(), Odds::drawn(&dice));
        let odds = Odds { removal: case.removal.unwrap_or(odds.removal), ..odds };
        let clock = VirtualClock::at(BEGINNING);
        let (spawner, store) = (Spawner::default(), MemoryStore::default());
        let destination = Moody::of(&case.shape, &clock, &spawner);
        let edition = case.mutant.and_then(Mutant::edition).unwrap_or(Edition::First);
        let deployment = setup::deployment(case.shape.promise, edition);
        let graph = |kind: &str| deployment.config.resources[&ResourceKind::from(kind)].graph.clone();
        let graphs = [graph("payment"), graph("job")];
        let watch = Watch::over(store.clone(), destination.yard().clone(), case.shape.promise, graphs);
        let world = Self {
            queue: MemoryQueue::new(LINE, clock.clone()),
            faults: Faults::new(case.schedule.clone(), clock.clone()).interleaved(),
            started: AtomicUsize::new(0),
            edition: Mutex::new(edition),
            promised: Mutex::default(),
            api: JobApi::of(case.shape.api, &clock, &store, destination.yard()),
            clock,
            store,
            destination,
            spawner: spawner.clone(),
            watch,
            diary,
            case,
            dice,
            odds,
        };
        (Arc::new(world), Executor::new(spawner, turns))
    }

    /// The true time.
    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// The configuration that a process starts with by now.
    pub fn deployment(&self) -> Arc<Deployment> {
        setup::deployment(self.case.shape.promise, *lock(&self.edition))
    }

    /// Deploys another edition: processes that start from now on have it.
    pub fn deploy(&self, edition: Edition) {
        self.diary.note(self.now(), || format!("deploys {edition:?}"));
        *lock(&self.edition) = edition;
    }

    /// Whether the action's destination is gone from the configuration for good.
    pub fn has_lost_its_destination(&self) -> bool {
        *lock(&self.edition) == Edition::NoDestination
    }

    /// What the seed decided besides.
    pub fn odds(&self) -> Odds {
        self.odds
    }

    /// A new process of this kind.
    pub fn process(&self, kind: &str) -> Process {
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let name = format!("{kind}-{number}");
        let skew = if self.odds.skewed { [-5_000, 0, 5_000][number % 3] } else { 0 };
        let desk = Desk {
            name: name.clone(),
            clock: self.clock.clone(),
            pace: self.dice.fork(),
            diary: self.diary.clone(),
            watch: self.watch.clone(),
            spawner: self.spawner.clone(),
            mutant: self.case.mutant,
        };
        let worker = self.faults.worker(&name);
        let view = self.clock.skewed(skew);
        if kind == "processor" && self.odds.set_back {
            let (set_back, sleep) = (view.clone(), self.clock.sleep(SET_BACK_AFTER));
            self.spawner.spawn(async move {
                sleep.await;
                set_back.set_skew(skew - SET_BACK_BY);
            });
        }
        let clock = Watchmaker::of(view, &desk);
        let dice = Dice::of(self.dice.fork(), &desk);
        Process { desk, worker, clock, dice }
    }

    /// A delivery was answered 2xx: is what that promises true (INV-1)?
    pub fn acknowledge(&self, sent: &Sent) {
        for named in sent.says.events() {
            let held = self.store.look(|tables| {
                // What was erased is known, and needs no content any more.
                find(tables, named).is_some_and(|event| {
                    event.is_erased() || tables.payload(&event.key, &event.hash).is_some()
                })
            });
            if !held {
                let what = format!("{} was acknowledged, and it or its payload is not there", named.id);
                self.watch.broken("INV-1", what, self.now());
            }
            lock(&self.promised).acknowledged.insert(named);
        }
    }

    /// A delivery was made as often as its vendor makes it, and never acknowledged.
    pub fn give_up(&self) {
        lock(&self.promised).given_up += 1;
    }

    /// What vendors were told.
    pub fn promised(&self) -> MutexGuard<'_, Promised> {
        lock(&self.promised)
    }
}

/// The event that a vendor calls so.
pub fn find(tables: &Tables, named: Named) -> Option<&Event> {
    tables.events().find(|event| {
        event.endpoint.as_str() == named.endpoint
            && event.tenant.as_ref().map(Tenant::as_str) == named.tenant
            && event.id.split(' ').any(|part| part == named.id)
    })
}

/// One process: a function's invocation, the poller, a human's command.
pub struct Process {
    /// Its place at every port.
    pub desk: Desk,
    /// What goes wrong with it.
    pub worker: Worker,
    /// Its clock.
    pub clock: Watchmaker,
    /// Its randomness.
    pub dice: Dice,
}

impl Process {
    /// This process's way to a port.
    pub fn at<P>(&self, port: &P) -> Seat<P>
    where
        P: Clone,
    {
        Seat { port: self.worker.through(port.clone()), desk: self.desk.clone() }
    }

    /// Runs it until it ends or crashes; how it ended is left in the slot.
    pub async fn run<T>(&self, work: impl Future<Output = T>, slot: &Slot<Option<T>>) {
        let ended = match self.worker.run(work).await {
            Ended::Finished(end) => Some(end),
            Ended::Crashed => {
                self.desk.diary.note(self.desk.clock.now(), || format!("{} CRASHES", self.desk.name));
                None
            }
        };
        slot.fill(ended);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
