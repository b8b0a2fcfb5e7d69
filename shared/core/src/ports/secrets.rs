//! The port to whoever keeps secrets.

use crate::config::SecretName;
use crate::secret::{Secret, Stage};
use std::future::Future;
use thiserror::Error;

/// One version of a secret, or why there is none.
pub type Kept = (Stage, Result<Secret, NoSecret>);

/// Why a secret cannot be had; each variant is another thing to do. The texts
/// name the secret's place and never its content.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoSecret {
    /// The keeper certainly has none of this name. What was known of it counts
    /// no more.
    #[error("the keeper has no secret of this name")]
    Absent,
    /// The keeper has one from which no secret can be made: blank, or not the
    /// JSON object that the reference asks for. It is never used (INV-10).
    #[error("it cannot be used: {0}")]
    Unusable(String),
    /// We may not read it. What is known of it stays, since a mistake in a
    /// policy says nothing about the secret.
    #[error("it may not be read: {0}")]
    Denied(String),
    /// The keeper did not answer, or asks for patience. What is known of it
    /// stays; ask again later.
    #[error("the keeper did not answer: {0}")]
    Unavailable(String),
}

impl NoSecret {
    /// Its word in the logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unusable(_) => "unusable",
            Self::Denied(_) => "denied",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

/// Whoever keeps secrets. Nothing here is cached: that is the keyring's.
pub trait Secrets: Send + Sync {
    /// Reads every live version of a secret: the current one always, as a
    /// secret or the reason why there is none; the previous one where the
    /// keeper has one, so that a rotation needs no deployment.
    ///
    /// Verification rests on it (INV-10): a keeper that does not know says so
    /// and never answers with something else. The call ends by itself within a
    /// second or two; a vendor waits for it.
    fn read(&self, name: &SecretName) -> impl Future<Output = Vec<Kept>> + Send;
}
