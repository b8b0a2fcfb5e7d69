//! The queue in memory: a [`Line`] behind a lock, stamped by its own clock.

use super::clock::VirtualClock;
use super::line::{LetterId, Line, LineSettings, Receipt, Received};
use super::lock;
use sekali::ports::{Message, Queue, QueueError};
use sekali::time::Clock;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A handle to one queue; clones share it.
#[derive(Debug, Clone)]
pub struct MemoryQueue {
    line: Arc<Mutex<Line>>,
    /// The queue's own clock: it stamps and hides, whatever workers believe.
    clock: VirtualClock,
}

impl MemoryQueue {
    /// An empty queue.
    pub fn new(settings: LineSettings, clock: VirtualClock) -> Self {
        Self { line: Arc::new(Mutex::new(Line::new(settings))), clock }
    }

    /// Hands out up to `most` visible letters, oldest first.
    pub fn receive(&self, most: usize) -> Vec<Received> {
        lock(&self.line).receive(self.clock.now(), most)
    }

    /// Hands out this letter, out of turn and even while somebody has it.
    pub fn hand_out(&self, id: LetterId) -> Option<Received> {
        lock(&self.line).hand_out(id, self.clock.now())
    }

    /// Letters that would be handed out now, oldest first.
    pub fn visible(&self) -> Vec<LetterId> {
        lock(&self.line).visible(self.clock.now())
    }

    /// Deletes a letter. `false`: it is gone, or a later receive has it.
    pub fn delete(&self, receipt: Receipt) -> bool {
        lock(&self.line).delete(receipt)
    }

    /// Hides a letter for `span` from now on; zero shows it at once.
    pub fn change_visibility(&self, receipt: Receipt, span: Duration) -> bool {
        lock(&self.line).change_visibility(receipt, self.clock.now(), span)
    }

    /// A human moves the dead letters back.
    pub fn redrive(&self) -> Vec<LetterId> {
        lock(&self.line).redrive(self.clock.now())
    }

    /// Looks at the letters without taking any.
    pub fn look<T>(&self, at: impl FnOnce(&Line) -> T) -> T {
        at(&lock(&self.line))
    }

    /// Meddles with the letters: delays, drops what has outlived its retention.
    pub fn meddle<T>(&self, with: impl FnOnce(&mut Line) -> T) -> T {
        with(&mut lock(&self.line))
    }
}

impl Queue for MemoryQueue {
    async fn send(&self, message: &Message) -> Result<(), QueueError> {
        lock(&self.line).send(message.clone(), self.clock.now());
        Ok(())
    }
}
