//! The port to the queue.

use crate::ids::{CorrelationId, Generation};
use crate::key::EventKey;
use crate::time::UnixMillis;
use serde::{Deserialize, Serialize};
use std::future::Future;
use thiserror::Error;

/// A message: look at this event. Payloads do not travel through SQS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The event.
    pub event: EventKey,
    /// The generation that it was sent for; for people, the event decides.
    pub generation: Generation,
    /// From the request to the effect.
    pub correlation: CorrelationId,
    /// When it was written. A message that SQS stamps more than a minute
    /// later was moved, by whatever means.
    pub written_at: UnixMillis,
    /// The trace that it belongs to, as the tracing header's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// Why a message was not sent, as far as anybody knows.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the queue did not take the message: {0}")]
pub struct QueueError(pub String);

/// The queue. It may lose nothing it took, may deliver twice and in any order.
pub trait Queue: Send + Sync {
    /// Sends a message. An error leaves the event to the sweeper (INV-1).
    fn send(&self, message: &Message) -> impl Future<Output = Result<(), QueueError>> + Send;
}
