//! The port to the documents in which vendors publish their public keys.

use crate::vendor::KeyUrl;
use std::future::Future;
use thiserror::Error;

/// Largest document that is taken, in bytes. Certificates have 2 KB, key sets
/// a few; its sender decides nothing about our memory (INV-8).
pub const LARGEST_KEY_DOCUMENT: usize = 64 * 1024;

/// Why a document cannot be had; each variant is another thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoKeyDocument {
    /// The vendor's server certainly has none there: it answers 404, or points
    /// elsewhere, which is not followed. A delivery that names the place lies.
    #[error("there is no document: {0}")]
    Absent(String),
    /// There is one that no key can be made of.
    #[error("the document cannot be used: {0}")]
    Unusable(String),
    /// The server did not answer, or not as one that can. Ask again later.
    #[error("the document was not to be had: {0}")]
    Unavailable(String),
}

/// Whoever fetches what vendors publish. Nothing here is cached: that is for
/// the core, with a time to live and a bound on how often anybody is asked.
pub trait KeyDocuments: Send + Sync {
    /// Fetches a document: over TLS from exactly this URL, without following a
    /// redirect, at most [`LARGEST_KEY_DOCUMENT`] bytes.
    ///
    /// Verification rests on it (INV-10): what the named host did not send
    /// itself is never a document. The call ends by itself within two seconds;
    /// a vendor waits for it.
    fn fetch(&self, url: &KeyUrl) -> impl Future<Output = Result<Vec<u8>, NoKeyDocument>> + Send;
}
