//! What a verified delivery says of its events, and why it may say nothing.

use crate::ids::EventType;
use crate::key::EventHash;
use crate::payload::Payload;
use crate::sequence::Sequence;
use crate::source::Source;
use crate::time::UnixMillis;

/// What makes an event the same event when it comes again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// One entry for each part that the description names; `None` is a part
    /// that this delivery does not carry, which is not the empty text (INV-7).
    Id(Vec<Option<String>>),
    /// The same, but two different events may share it: a repeat with another
    /// hash is likely another event.
    Weak(Vec<Option<String>>),
    /// A ping: it says that something changed, never twice the same thing.
    /// It gets a key of our own and is not deduplicated.
    None,
}

/// What the description says of one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What makes it the same event.
    pub identity: Identity,
    /// The vendor's account, shop or installation, where the delivery names it.
    pub scope: Option<String>,
    /// What happened, parts joined with a dot.
    pub event_type: Option<EventType>,
    /// The vendor's version of the payload.
    pub version: Option<String>,
    /// When it happened; `None` where the vendor states no time that can be.
    pub occurred_at: Option<UnixMillis>,
    /// The vendor's own number that orders events of one resource.
    pub sequence: Option<Sequence>,
    /// Which delivery of this event it is by the vendor's count, from 1.
    pub attempt: Option<u64>,
    /// Whose event it is, where the delivery names it.
    pub tenant: Option<String>,
    /// The transport's id of this delivery; for logs, never for keys.
    pub delivery_id: Option<String>,
    /// What to fetch, where the event is only a ping.
    pub resource: Option<String>,
    /// A field that the description requires and that this item of a batch
    /// lacks: it is to be held, and the others go on.
    pub lacks: Option<Source>,
    /// Tells a repeat from a change.
    pub hash: EventHash,
    /// What is stored.
    pub payload: Payload,
}

/// Why a verified delivery gives no events.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing identifies an event and the description has no fallback: 400.
    /// One such item refuses the whole delivery; none is dropped silently.
    #[error("an event has no id")]
    NoEventId,
    /// A field that the description requires is absent from the only event of
    /// the delivery: 400.
    #[error("the required `{0}` is missing")]
    Missing(Source),
    /// The body is not what the vendor sends. Where the id is known from
    /// outside the body, `outside` is the event to hold (its payload is the
    /// body as received); else 400.
    #[error("the content cannot be read")]
    Content {
        /// The event as far as headers tell it.
        outside: Option<Box<Facts>>,
    },
    /// A batch without events.
    #[error("the delivery holds no event")]
    EmptyBatch {
        /// The vendor sends such deliveries: answer 2xx.
        allowed: bool,
    },
    /// The declared media type is none that the vendor sends: 415.
    #[error("the media type is none that the vendor sends")]
    ContentType,
    /// The declared content encoding is none that is understood: 415.
    #[error("the content encoding is none that the vendor sends")]
    ContentEncoding,
}
