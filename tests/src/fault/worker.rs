//! A worker that things go wrong for: its calls are the numbered points.

use super::kind::{Fault, PortCall, Trouble};
use super::schedule::{Point, Schedule};
use crate::memory::VirtualClock;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// The faults of one run: a schedule, and the log of the points passed.
/// Clones share both.
#[derive(Debug, Clone)]
pub struct Faults {
    run: Arc<Mutex<Run>>,
    clock: VirtualClock,
    interleaved: bool,
}

#[derive(Debug)]
struct Run {
    schedule: Schedule,
    log: Vec<Point>,
}

impl Faults {
    /// A run under this schedule; time is `clock`'s.
    pub fn new(schedule: Schedule, clock: VirtualClock) -> Self {
        let run = Run { schedule, log: Vec::new() };
        Self { run: Arc::new(Mutex::new(run)), clock, interleaved: false }
    }

    /// The same, but every call gives way once before and once after its work,
    /// so that whoever polls several workers decides in which order their
    /// calls fall; and a frozen worker sleeps while the others go on.
    #[must_use]
    pub fn interleaved(self) -> Self {
        Self { interleaved: true, ..self }
    }

    /// A worker of this run; a crashed one is followed by a new one.
    pub fn worker(&self, name: &str) -> Worker {
        Worker { faults: self.clone(), name: name.to_owned(), crashed: Arc::default() }
    }

    /// The points passed so far.
    pub fn log(&self) -> Vec<Point> {
        self.lock().log.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a worker's run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended<T> {
    /// By itself.
    Finished(T),
    /// At a crash: nothing after that point was done.
    Crashed,
}

/// One process; clones are the same process.
#[derive(Debug, Clone)]
pub struct Worker {
    faults: Faults,
    name: String,
    crashed: Arc<AtomicBool>,
}

impl Worker {
    /// This worker's way to a port.
    pub fn through<P>(&self, port: P) -> Faulty<P> {
        Faulty { port, worker: self.clone() }
    }

    /// Runs the worker until it ends or crashes. What it does must run inside
    /// this future: a task of its own would outlive the crash.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> Ended<T> {
        let mut work = pin!(work);
        poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            match polled {
                _ if self.has_crashed() => Poll::Ready(Ended::Crashed),
                Poll::Ready(end) => Poll::Ready(Ended::Finished(end)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Whether it has crashed.
    pub fn has_crashed(&self) -> bool {
        self.crashed.load(Ordering::SeqCst)
    }

    /// Passes a point: logs it and says what it meets.
    async fn arrive(&self, call: PortCall) -> Option<Fault> {
        self.give_way().await;
        let mut run = self.faults.lock();
        let number = run.log.len();
        let fault = run.schedule.at(number);
        run.log.push(Point { number, worker: self.name.clone(), call, fault });
        fault
    }

    /// Lets others go first, where the run is interleaved. A worker that has
    /// crashed meanwhile never comes back.
    async fn give_way(&self) {
        if self.has_crashed() {
            return pending().await;
        }
        let mut gave_way = !self.faults.interleaved;
        poll_fn(|context| {
            if gave_way {
                return Poll::Ready(());
            }
            gave_way = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        if self.has_crashed() {
            pending::<()>().await;
        }
    }

    /// Frozen for a while: alone, time passes; among others, they go on.
    async fn freeze(&self, span: Duration) {
        if self.faults.interleaved {
            self.faults.clock.sleep(span).await;
        } else {
            self.faults.clock.advance(span);
        }
    }

    async fn crash<T>(&self) -> T {
        self.crashed.store(true, Ordering::SeqCst);
        pending().await
    }
}

/// A port as a worker sees it when things go wrong.
#[derive(Debug, Clone)]
pub struct Faulty<P> {
    pub(super) port: P,
    worker: Worker,
}

impl<P> Faulty<P> {
    /// The port itself, as nobody's fault.
    pub fn inner(&self) -> &P {
        &self.port
    }

    /// One call: `act` is the port's own work, `instead` what the port's
    /// caller sees where nothing was done, `lost` where the answer was lost.
    pub(super) async fn pass<T, F: Future<Output = T>>(
        &self,
        call: PortCall,
        act: impl Fn() -> F,
        instead: impl FnOnce(Trouble) -> T,
        lost: impl FnOnce() -> T,
    ) -> T {
        let worker = &self.worker;
        let fault = worker.arrive(call).await;
        match fault {
            Some(Fault::Refused(trouble)) => return instead(trouble),
            Some(Fault::CrashBefore) => return worker.crash().await,
            Some(Fault::PauseBefore(span)) => worker.freeze(span).await,
            Some(Fault::Repeated) if call.is_repeated() => {
                act().await;
                worker.give_way().await;
            }
            _ => {}
        }
        let end = act().await;
        worker.give_way().await;
        match fault {
            Some(Fault::AnswerLost) => lost(),
            Some(Fault::CrashAfter) => worker.crash().await,
            Some(Fault::PauseAfter(span)) => {
                worker.freeze(span).await;
                end
            }
            _ => end,
        }
    }
}
