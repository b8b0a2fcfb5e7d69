//! Public keys that vendors publish: fetched when a delivery needs them, kept
//! for a while, and read again when a delivery names one that is not known.
//!
//! A sender's word alone causes little: what it names must lie at a place that
//! the vendor's description pins; documents that nobody knows yet are fetched
//! at a bounded rate for one endpoint; a document that is known is read again
//! once in a while and no oftener, whatever is sent.
//!
//! Times are the wall clock's: a function that is frozen between deliveries
//! does not age by any other.

mod held;
mod shelf;
#[cfg(test)]
mod tests;

pub(crate) use shelf::{NotProven, Published};

use crate::rate::Rate;
use std::time::Duration;

/// How long a document is used before it is read again: a withdrawn key is
/// believed for no longer, as long as the vendor's server answers.
pub const READ_AGAIN_AFTER: Duration = Duration::from_secs(60 * 60);

/// How long a document is believed that cannot be read again.
pub const BELIEVED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// How soon a document is asked for again while one is known: after a failure,
/// or because a delivery names a key that it does not hold.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(30);

/// How soon a document is asked for again that was not to be had, while every
/// delivery that needs it is answered 503.
pub const RETRY_UNKNOWN: Duration = Duration::from_secs(5);

/// How soon a document is asked for again where there certainly was none.
pub const ABSENT_FOR: Duration = Duration::from_secs(60);

/// Documents that the deliveries of one endpoint name for the first time and
/// that one instance fetches: a vendor has one or two, a stranger has many.
pub const STRANGERS: Rate = Rate { many: 10, per: Duration::from_secs(60) };

/// Documents that one instance keeps, those that were not to be had included.
pub const MOST_DOCUMENTS: usize = 64;
