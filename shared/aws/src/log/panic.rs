//! Panics, as the log and the runtime hear of them: where, and never in words
//! that were put together, since those may quote a payload (INV-10).

use futures_util::FutureExt;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use thiserror::Error;

/// Logs every panic of this process as one line, in place of what Rust prints
/// on standard error.
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(panic.place = place, panic.words = words(panic.payload()), "a panic");
    }));
}

/// The words of a panic where they stand in the code as they are; any others
/// were put together from values.
fn words(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// An invocation panicked; the log says where. The runtime tells this, and not
/// the panic's words, to whoever invoked the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a panic; the log says where")]
pub struct Panicked;

/// What an invocation comes to.
///
/// # Errors
/// It panicked. The invocation has failed, which the alarms see, and whoever
/// called calls again.
pub async fn contained<T>(invocation: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(invocation).catch_unwind().await.map_err(|_| Panicked)
}
