//! The reference model: every port in memory, deterministic, with time and
//! disorder under the test's control. `Tables` and `Line` are pure state, so
//! that a model checker can clone, compare and step them without a runtime.

mod clock;
mod destination;
mod entropy;
mod expiry;
mod index;
mod ledger;
mod line;
mod outbound;
mod queue;
mod secrets;
mod store;
mod tables;
#[cfg(test)]
mod tests;

pub use clock::VirtualClock;
pub use destination::{CallRecord, MemoryDestination, Script};
pub use entropy::SeededEntropy;
pub use expiry::Removal;
pub use ledger::{Charge, Footprint, Ledger, StoreCall};
pub use line::{Letter, LetterId, Line, LineSettings, Receipt, Received};
pub use outbound::{Asked, MemoryApi, got};
pub use queue::MemoryQueue;
pub use secrets::MemorySecrets;
pub use store::MemoryStore;
pub use tables::{Expiry, Tables};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic of one test thread must not hide behind the lock of another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
