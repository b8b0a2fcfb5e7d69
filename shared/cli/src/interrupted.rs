//! How a command that goes on is asked to end.

use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C, for a polite request to end, or for the terminal to close.
///
/// # Errors
/// The system does not tell.
pub async fn interrupted() -> Result<&'static str> {
    let mut asked = signal(SignalKind::terminate())?;
    let mut closed = signal(SignalKind::hangup())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.map(|()| "Ctrl-C").map_err(Into::into),
        _ = asked.recv() => Ok("asked to end"),
        _ = closed.recv() => Ok("the terminal was closed"),
    }
}
