//! The port to the three tables.

use crate::ids::{CorrelationId, EndpointName, Generation};
use crate::key::{ActionKey, EventHash, EventKey, ResourceKey};
use crate::payload::Payload;
use crate::protocol::action::Action;
use crate::protocol::event::{ContentFacts, Event, EventStatus};
use crate::protocol::resource::Resource;
use crate::protocol::transition::Transition;
use crate::secret::Secret;
use crate::time::{ExpiresAt, UnixMillis};
use std::future::Future;
use thiserror::Error;

/// Into how many shards the index of open events is split, so that no
/// partition of it becomes hot.
pub const INDEX_SHARDS: u8 = 8;

/// What went wrong with a store call; each variant is another thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Throttled: certainly not written. Try later.
    #[error("the store is throttling")]
    Throttled,
    /// Another transaction holds an item: certainly not written. Read again.
    #[error("another transaction holds an item")]
    Contended,
    /// No answer, or an error of the store's own: it may have been written.
    /// Read before deciding anything.
    #[error("no certain answer from the store: {0}")]
    Unknown(String),
    /// The store will never take this: a bug or an item too large.
    #[error("the store refuses this for good: {0}")]
    Invalid(String),
    /// A stored item that this version cannot read.
    #[error("an item cannot be read: {0}")]
    Unreadable(String),
}

/// The end of a conditional create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Create {
    /// It was not there; now it is.
    Created,
    /// It was there; this is it. The caller compares the put nonce to
    /// recognise its own retried write.
    Exists(Box<Event>),
}

/// The end of a conditional write. Losing a race is an ordinary outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// All of it is durable, by this call or by an earlier try of the same.
    Applied,
    /// Nothing of it was written: an item had moved. Read again.
    Refused,
}

/// A secret that a vendor handed over, which nobody has vouched for yet. It is
/// shown to the operator, and nothing is verified with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// For which endpoint.
    pub endpoint: EndpointName,
    /// What was handed over.
    pub secret: Secret,
    /// When.
    pub at: UnixMillis,
    /// The delivery that brought it.
    pub correlation: CorrelationId,
}

/// One shard of the index of what is open or needs a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexShard {
    /// Which part of the index.
    pub class: Due,
    /// Which shard of it, below [`INDEX_SHARDS`].
    pub shard: u8,
}

/// The parts of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Due {
    /// Received or processing: enqueued again when due.
    Open,
    /// In doubt: looked at when due, in case its action was settled.
    InDoubt,
    /// Failed, by the time of the failure.
    Failed,
    /// Held, by the time it was held.
    Held,
}

impl Due {
    /// Every part.
    pub const ALL: [Self; 4] = [Self::Open, Self::InDoubt, Self::Failed, Self::Held];

    /// The part in which an event of this status stands.
    pub fn of(status: EventStatus) -> Option<Self> {
        match status {
            EventStatus::Received | EventStatus::Processing => Some(Self::Open),
            EventStatus::InDoubt => Some(Self::InDoubt),
            EventStatus::Failed => Some(Self::Failed),
            EventStatus::Held => Some(Self::Held),
            EventStatus::Processed | EventStatus::Ignored => None,
        }
    }

    /// Its word in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InDoubt => "in_doubt",
            Self::Failed => "failed",
            Self::Held => "held",
        }
    }
}

/// One page of the index, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DuePage {
    /// The events on this page.
    pub events: Vec<(EventKey, UnixMillis)>,
    /// Where the next page begins, if there is one.
    pub next: Option<(EventKey, UnixMillis)>,
}

/// The three tables. Reads are strongly consistent (except the index); writes
/// are conditional and say whether they were applied.
pub trait Store: Send + Sync {
    /// Creates an event where none is (INV-1: the ack waits for it; the put
    /// alone decides which of many first deliveries wins). Returns the stored
    /// one otherwise.
    fn create_event(&self, event: &Event) -> impl Future<Output = Result<Create, StoreError>> + Send;

    /// Makes a payload durable under (event key, hash): written where absent,
    /// its TTL refreshed where it carries one, left alone where it is kept
    /// (INV-9: a duplicate never restores a TTL). `Ok` means it is there.
    fn put_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        payload: &Payload,
        expires: ExpiresAt,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes the TTL off a payload (INV-9), for this generation of its event.
    /// `false`: there is no such payload. Where a newer generation has kept it
    /// or let it go, that stands.
    fn keep_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Gives a kept payload a TTL again, after its event got one in this
    /// generation. A worker may come late with it, when the event has been
    /// opened anew: what a newer generation has kept stays kept (INV-9).
    fn expire_payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
        generation: Generation,
        expires: ExpiresAt,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads a payload.
    fn payload(
        &self,
        key: &EventKey,
        hash: &EventHash,
    ) -> impl Future<Output = Result<Option<Payload>, StoreError>> + Send;

    /// Reads an event.
    fn event(&self, key: &EventKey) -> impl Future<Output = Result<Option<Event>, StoreError>> + Send;

    /// Reads an action.
    fn action(&self, key: &ActionKey) -> impl Future<Output = Result<Option<Action>, StoreError>> + Send;

    /// Reads a resource.
    fn resource(
        &self,
        key: &ResourceKey,
    ) -> impl Future<Output = Result<Option<Resource>, StoreError>> + Send;

    /// Applies a transition, all or nothing, each item on its guard (INV-3,
    /// INV-5). The TTL of a payload is the caller's second call. A frozen
    /// request may change only where a generation begins (INV-2): a store may
    /// keep a large one apart and write it then alone.
    fn write(&self, transition: &Transition) -> impl Future<Output = Result<Write, StoreError>> + Send;

    /// Counts a repeated delivery and returns the event as it stands after
    /// that; touches nothing that a claim compares. Where the body of one that
    /// repeats a listed event lies under another hash, the first of these is
    /// kept ([`Seen::repeated_as`](crate::protocol::event::Seen::repeated_as)).
    /// `None`: no such event.
    fn count_duplicate(
        &self,
        key: &EventKey,
        other: Option<&EventHash>,
        at: UnixMillis,
    ) -> impl Future<Output = Result<Option<Event>, StoreError>> + Send;

    /// Records a delivery with other content: the first
    /// [`CONFLICTS_LISTED`](crate::protocol::event::CONFLICTS_LISTED) hashes
    /// are listed, all are counted.
    fn record_conflict(
        &self,
        key: &EventKey,
        hash: &EventHash,
        at: UnixMillis,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Replaces the content of an event whose own payload never became
    /// durable, and what is read off that content with it: on condition that
    /// its hash is still `seen.hash`, its status and generation as seen, and it
    /// is unclaimed; and that it carries a TTL
    /// if and only if it did, as the new payload does by now (INV-9). The old
    /// hash is kept as a conflict. Only after the new payload is durable (INV-1).
    fn adopt(
        &self,
        seen: &Event,
        to: &ContentFacts,
        at: UnixMillis,
    ) -> impl Future<Output = Result<Write, StoreError>> + Send;

    /// Keeps a secret that a vendor hands over where none is kept for the
    /// endpoint: the one write that an unverified delivery causes (INV-10).
    /// `Applied`: this very secret is kept, by this call or by an earlier
    /// delivery of it. `Refused`: another one is, and stays. It carries no TTL,
    /// since a human needs it.
    fn capture(&self, captured: &Captured) -> impl Future<Output = Result<Write, StoreError>> + Send;

    /// One page of the index up to and including `until`. The index may be
    /// stale: what it names is read again before anything is decided.
    fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> impl Future<Output = Result<DuePage, StoreError>> + Send;
}

/// The shard of the index in which an event stands.
pub fn index_shard(key: &EventKey) -> u8 {
    // FNV-1a: spreads keys evenly and stays the same over releases.
    let hash = key.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    u8::try_from(hash % u64::from(INDEX_SHARDS)).unwrap_or(0)
}
