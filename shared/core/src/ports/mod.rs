//! The ports: how the core reaches the world, and which promise rests on each
//! call. Adapters and the in-memory model implement them alike; faults are
//! decorators around them.

mod apply;
mod code;
mod destination;
mod key_documents;
mod outbound;
mod queue;
mod record;
mod secrets;
mod store;
mod switches;

pub use apply::apply;
pub use code::{Acting, Code, OwnCode};
pub use destination::{Call, Destination, Found, Outcome, Probe};
pub use key_documents::{KeyDocuments, LARGEST_KEY_DOCUMENT, NoKeyDocument};
pub use outbound::{Get, Got, LARGEST_ANSWER, NotGot, Outbound, WithSecrets};
pub use queue::{Message, Queue, QueueError};
pub use record::{Erasure, HistoryRecord, PauseRecord};
pub use secrets::{Kept, NoSecret, Secrets};
pub use store::{
    Captured, Create, Due, DuePage, INDEX_SHARDS, IndexShard, Store, StoreError, Write, index_shard,
};
pub use switches::{SwitchedOff, Switches};

use crate::ids::{CorrelationId, OwnerNonce, PutNonce};
use std::time::Duration;

/// Randomness, as a parameter.
pub trait Entropy: Send + Sync {
    /// A nonce for a claim.
    fn owner(&self) -> OwnerNonce;
    /// A nonce for a put.
    fn put(&self) -> PutNonce;
    /// A fresh correlation id, where the request brought none.
    fn correlation(&self) -> CorrelationId;
    /// A uniformly drawn span below `ceiling`: full jitter.
    fn below(&self, ceiling: Duration) -> Duration;
}
