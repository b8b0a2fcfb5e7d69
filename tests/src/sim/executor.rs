//! An executor of one thread: whose turn it is, a seed decides. Every call of
//! a port gives way, so the seed decides in which order the calls of several
//! processes fall, and the same seed decides it again.

use crate::memory::SeededEntropy;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// What a task does.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where tasks are handed in, also by other tasks.
#[derive(Clone, Default)]
pub struct Spawner(Arc<Mutex<Vec<Work>>>);

impl Spawner {
    /// Hands in a task; it takes its turn with the others.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(work));
    }
}

/// The tasks of one run.
pub struct Executor {
    spawner: Spawner,
    tasks: Vec<Task>,
    turns: SeededEntropy,
}

struct Task {
    work: Work,
    ready: Arc<Ready>,
    waker: Waker,
}

#[derive(Debug)]
struct Ready(AtomicBool);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Executor {
    /// No tasks yet; `turns` decides whose turn it is.
    pub fn new(spawner: Spawner, turns: SeededEntropy) -> Self {
        Self { spawner, tasks: Vec::new(), turns }
    }

    /// One task that has something to do does one step of it. `false`: every
    /// task waits for time to pass, or there is none.
    pub fn step(&mut self) -> bool {
        self.take_in();
        let ready = |task: &Task| task.ready.0.load(Ordering::SeqCst);
        let count = self.tasks.iter().filter(|task| ready(task)).count();
        let turn = usize::try_from(self.turns.pick(count as u64)).unwrap_or(0);
        let Some((at, _)) = self.tasks.iter().enumerate().filter(|(_, task)| ready(task)).nth(turn) else {
            return false;
        };
        let task = &mut self.tasks[at];
        task.ready.0.store(false, Ordering::SeqCst);
        let polled = task.work.as_mut().poll(&mut Context::from_waker(&task.waker));
        if polled == Poll::Ready(()) {
            self.tasks.remove(at);
        }
        true
    }

    fn take_in(&mut self) {
        let handed_in = std::mem::take(&mut *self.spawner.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.tasks.extend(handed_in.into_iter().map(|work| {
            let ready = Arc::new(Ready(AtomicBool::new(true)));
            Task { work, waker: Waker::from(Arc::clone(&ready)), ready }
        }));
    }
}

/// Where one task leaves something that another waits for.
#[derive(Debug)]
pub struct Slot<T>(Arc<Mutex<(Option<T>, Option<Waker>)>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new((None, None))))
    }
}

impl<T> Slot<T> {
    /// Leaves it.
    pub fn fill(&self, thing: T) {
        let mut inside = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inside.0 = Some(thing);
        if let Some(waker) = inside.1.take() {
            waker.wake();
        }
    }

    /// Waits until it is there and takes it.
    pub fn take(&self) -> impl Future<Output = T> + Send + Unpin + use<T>
    where
        T: Send,
    {
        let slot = self.clone();
        std::future::poll_fn(move |context| {
            let mut inside = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
            match inside.0.take() {
                Some(thing) => Poll::Ready(thing),
                None => {
                    inside.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tasks that write their name between two yields, three times.
    fn written(seed: u64) -> String {
        let spawner = Spawner::default();
        let text = Arc::new(Mutex::new(String::new()));
        for name in ['a', 'b'] {
            let text = Arc::clone(&text);
            spawner.spawn(async move {
                for _ in 0..3 {
                    text.lock().unwrap().push(name);
                    give_way().await;
                }
            });
        }
        let mut executor = Executor::new(spawner, SeededEntropy::seeded(seed));
        while executor.step() {}
        drop(executor);
        Arc::try_unwrap(text).unwrap().into_inner().unwrap()
    }

    async fn give_way() {
        let mut gave_way = false;
        std::future::poll_fn(|context| {
            let polled = if gave_way { Poll::Ready(()) } else { Poll::Pending };
            gave_way = true;
            context.waker().wake_by_ref();
            polled
        })
        .await;
    }

    #[test]
    fn a_seed_takes_the_same_turns_again_and_seeds_differ() {
        assert_eq!(written(5), written(5));
        let all: std::collections::BTreeSet<_> = (0..50).map(written).collect();
        assert!(all.len() > 5, "{all:?}");
    }

    #[test]
    fn a_slot_wakes_the_one_who_waits_for_it() {
        let spawner = Spawner::default();
        let (slot, seen) = (Slot::default(), Slot::default());
        let (waits, fills) = (slot.clone(), seen.clone());
        spawner.spawn(async move { fills.fill(waits.take().await + 1) });
        let mut executor = Executor::new(spawner, SeededEntropy::seeded(1));
        while executor.step() {}
        slot.fill(1);
        while executor.step() {}
        assert_eq!(seen.0.lock().unwrap().0, Some(2));
    }
}
