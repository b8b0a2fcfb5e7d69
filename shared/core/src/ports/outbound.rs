//! The port to a vendor's or a destination's API: one bounded question.

use super::{Kept, Secrets};
use crate::config::SecretName;
use crate::secret::Secret;
use crate::url_template::OutboundUrl;
use std::future::Future;
use std::time::Duration;
use thiserror::Error;

/// Largest answer that is taken, in bytes, where the caller has no reason for
/// less; its sender decides nothing about our memory (INV-8).
pub const LARGEST_ANSWER: usize = 1 << 20;

/// One GET. It changes nothing anywhere, so it may be made again.
#[derive(Debug, Clone, Copy)]
pub struct Get<'a> {
    /// Whom, and for what: the host is pinned by the configuration.
    pub url: &'a OutboundUrl,
    /// Header fields besides those that every call has. Values are secrets:
    /// nearly always one of them is.
    pub headers: &'a [(String, Secret)],
    /// By when the whole answer must be there.
    pub timeout: Duration,
    /// Most bytes of body that are taken.
    pub largest: usize,
}

/// A whole answer, whatever its status. Redirects are answers, too: nobody
/// follows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Got {
    /// The status code.
    pub status: u16,
    /// How long the server asks to wait, in whole seconds.
    pub retry_after: Option<Duration>,
    /// Its `Link` header, where it is text: where a list goes on.
    pub link: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why there is no answer; each variant is another thing to do. The texts name
/// no header and nothing of a body.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotGot {
    /// It may never be asked: the address is not public, or the request cannot
    /// be made. A mistake in the configuration, not a bad moment.
    #[error("it may not be asked: {0}")]
    Forbidden(String),
    /// Nothing was sent. Ask again later.
    #[error("it was not asked: {0}")]
    NotStarted(String),
    /// Sent, and no whole answer. Ask again later.
    #[error("it gave no answer: {0}")]
    Unknown(String),
    /// The answer has more bytes than are taken.
    #[error("its answer has more than {0} bytes")]
    TooLarge(usize),
}

/// Whoever makes calls that change nothing.
pub trait Outbound: Send + Sync {
    /// Asks once: over TLS (plain http only to this machine where that is
    /// allowed), to public addresses unless others are allowed, without
    /// following a redirect, and never longer than the timeout. Nothing is
    /// cached and nothing repeated here.
    fn get(&self, get: Get<'_>) -> impl Future<Output = Result<Got, NotGot>> + Send;
}

/// Many may share one.
impl<O: Outbound> Outbound for std::sync::Arc<O> {
    fn get(&self, get: Get<'_>) -> impl Future<Output = Result<Got, NotGot>> + Send {
        (**self).get(get)
    }
}

/// Whoever makes calls, and whoever keeps the secrets to make them with: what
/// asks as somebody needs both.
#[derive(Debug, Clone)]
pub struct WithSecrets<O, K> {
    /// Makes the calls.
    pub outbound: O,
    /// Keeps the secrets.
    pub keeper: K,
}

impl<O: Outbound, K: Send + Sync> Outbound for WithSecrets<O, K> {
    fn get(&self, get: Get<'_>) -> impl Future<Output = Result<Got, NotGot>> + Send {
        self.outbound.get(get)
    }
}

impl<O: Send + Sync, K: Secrets> Secrets for WithSecrets<O, K> {
    fn read(&self, name: &SecretName) -> impl Future<Output = Vec<Kept>> + Send {
        self.keeper.read(name)
    }
}
