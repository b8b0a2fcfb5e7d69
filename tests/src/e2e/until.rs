//! Waiting on a condition, never on time alone.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::time::Duration;

/// What is wanted is there by then, or never will be. A loaded machine may
/// take many times what a test needs by itself.
pub const PATIENCE: Duration = Duration::from_secs(90);

const LOOK: Duration = Duration::from_millis(50);

/// Looks again and again until `look` finds something.
///
/// # Errors
/// A look failed, or nothing was found in [`PATIENCE`]; `what` says for what.
pub async fn until<T>(what: impl Display, mut look: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let looking = async {
        loop {
            looks.tick().await;
            if let Some(found) = look().await? {
                return Ok(found);
            }
        }
    };
    let found = tokio::time::timeout(PATIENCE, looking).await;
    found.with_context(|| format!("waited {PATIENCE:?} in vain for {what}"))?
}
