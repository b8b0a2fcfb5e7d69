//! The secrets that a function verifies with: read from their keepers, kept
//! for a while, and replaced when a keeper says so.
//!
//! - A secret is read again when its time to live is over, so that a rotation
//!   needs no deployment. A keeper that does not answer then changes nothing;
//!   one that says *gone* or hands out a blank takes the secret out (INV-10).
//! - A signature that nothing known makes may be the first one after a
//!   rotation: the secrets are read again at once, but only so often for one
//!   endpoint, since anybody can send a bad signature.
//! - Secrets of tenants are read when the first delivery of the tenant comes.
//!   How many are read and kept is bounded, since anybody can name a tenant.
//!
//! Times are the wall clock's: a function that is frozen between deliveries
//! does not age by any other.

mod held;
mod keyring;
mod outgoing;
mod ready;
mod tenants;
#[cfg(test)]
mod tests;

pub use keyring::Keyring;
pub use outgoing::{NoneLive, OutgoingSecrets};
pub use ready::{Matched, NotVerified, Refresh};

use crate::rate::Rate;
use std::time::Duration;

/// How long secrets are used before they are read again. A rotated secret
/// still verifies as the previous version, so this only bounds how long a
/// withdrawn one is believed.
pub const TIME_TO_LIVE: Duration = Duration::from_secs(5 * 60);

/// How soon a keeper is asked again that did not answer while secrets are
/// known: deliveries go on, and each of them would wait for it.
pub const RETRY_KNOWN: Duration = Duration::from_secs(30);

/// How soon a keeper is asked again while an endpoint is offline: every
/// delivery is answered 503, so it may wait for the keeper now and then.
pub const RETRY_OFFLINE: Duration = Duration::from_secs(5);

/// How long a tenant stays unknown: a new tenant's deliveries are refused for
/// that long if one came before its secret did.
pub const UNKNOWN_FOR: Duration = Duration::from_secs(60);

/// Between two readings that bad signatures cause at one endpoint (and at one
/// tenant, where tenants have secrets of their own). A rotation takes effect
/// with its first delivery, or, while somebody sends bad ones, after this.
pub const REFRESH_INTERVAL: Duration = Duration::from_secs(30);

/// Readings that named tenants cause at one endpoint and one instance: the
/// many tenants of a fresh instance, but not every name that somebody guesses.
pub const TENANT_READINGS: Rate = Rate { many: 200, per: Duration::from_secs(10) };

/// Tenants whose secrets one instance keeps, the unknown ones included. The
/// keys of one tenant take about a kilobyte.
pub const MOST_TENANTS: usize = 4096;
