//! What a vendor's deliveries contain and how it behaves: the parts of a
//! description that extraction, replies and retention follow.

use super::place::{Place, Value};
use super::scheme::{Condition, Unit};
use super::template::Template;
use crate::json::EachPath;
use crate::source::{Pointer, Source};
use std::time::Duration;

/// How a body becomes JSON.
#[derive(Debug, Clone)]
pub(crate) struct BodyForm {
    /// Media types in lower case without parameters; `*` takes any.
    pub(crate) content_types: Vec<String>,
    /// How a form is read: the field that holds JSON, or `*` for the fields
    /// themselves. The first that applies.
    pub(crate) form: Vec<String>,
    /// Content encodings besides none.
    pub(crate) encodings: Vec<ContentEncoding>,
}

/// A content encoding that a vendor may use. Signatures are over the bytes as
/// received, compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentEncoding {
    Gzip,
}

/// Their names, as descriptions and `Content-Encoding` write them.
pub(crate) const CONTENT_ENCODINGS: &[(&str, ContentEncoding)] = &[("gzip", ContentEncoding::Gzip)];

/// One shape of event. Of shapes with the same `each`, the first whose
/// condition holds takes the item; shapes with different `each` add up.
#[derive(Debug, Clone)]
pub(crate) struct EventShape {
    pub(crate) each: Option<EachPath>,
    pub(crate) condition: Condition,
    pub(crate) id: Vec<Value>,
    pub(crate) identity: IdentityForm,
    /// Where the id is absent, the event's hash identifies it, weakly.
    pub(crate) or_digest: bool,
    pub(crate) scope: Option<Value>,
    pub(crate) event_type: Vec<Value>,
    pub(crate) version: Option<Value>,
    pub(crate) time: Vec<TimeForm>,
    pub(crate) sequence: Option<Value>,
    pub(crate) order: Order,
    pub(crate) attempt: Option<AttemptForm>,
    pub(crate) tenant: Option<Value>,
    pub(crate) delivery: Option<Value>,
    pub(crate) resource: Option<Value>,
    pub(crate) volatile: Vec<Pointer>,
    pub(crate) required: Vec<Source>,
}

impl EventShape {
    /// Every value that describes the event.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.id.iter().chain(&self.event_type).chain(
            [&self.scope, &self.version, &self.sequence, &self.tenant, &self.delivery, &self.resource]
                .into_iter()
                .flatten(),
        )
    }
}

/// How far the id can be trusted to name one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdentityForm {
    Strong,
    /// Two events may share it.
    Weak,
    /// A ping that names what to fetch; never deduplicated.
    None,
}

/// The names of the kinds of identity.
pub(crate) const IDENTITIES: &[(&str, IdentityForm)] =
    &[("strong", IdentityForm::Strong), ("weak", IdentityForm::Weak), ("none", IdentityForm::None)];

/// By what the vendor itself orders events of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By a number that grows.
    Sequence,
    /// By the time that the vendor states.
    Time,
    /// By nothing that can be relied on.
    None,
}

/// The names of the orders.
pub(crate) const ORDERS: &[(&str, Order)] =
    &[("sequence", Order::Sequence), ("time", Order::Time), ("none", Order::None)];

/// One place and notation of the event's time; the first that parses counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeForm {
    pub(crate) from: Place,
    pub(crate) unit: Unit,
    /// Minutes east of UTC where the text states no zone.
    pub(crate) zone: i32,
}

/// The vendor's own count of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttemptForm {
    pub(crate) from: Place,
    /// What the first delivery is called: 1, or 0 where repeats are counted.
    pub(crate) first: u64,
}

/// A request that is not an event and has an answer of its own.
#[derive(Debug, Clone)]
pub(crate) struct Handshake {
    pub(crate) name: String,
    pub(crate) method: String,
    pub(crate) condition: Condition,
    /// Answered only once verified.
    pub(crate) signed: bool,
    /// Absent: 400.
    pub(crate) required: Vec<Source>,
    /// A value that must be one of those of a parameter of the endpoint.
    pub(crate) check: Vec<(Source, String)>,
    /// The status where it is not.
    pub(crate) refuse: u16,
    /// A secret that the vendor hands over; stored once, shown by the CLI.
    pub(crate) capture: Option<Source>,
    /// A URL that somebody must GET; not done by the receiver.
    pub(crate) confirm: Option<Source>,
    /// The hosts that it may lead to.
    pub(crate) hosts: Vec<String>,
    pub(crate) answer: Answer,
}

/// What is answered to a handshake.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Content,
    pub(crate) headers: Vec<(String, Template)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Empty,
    Text(Template),
    /// The members of a JSON object.
    Json(Vec<(String, JsonAnswer)>),
}

#[derive(Debug, Clone)]
pub(crate) enum JsonAnswer {
    Template(Template),
    /// A number or truth, written as JSON.
    Literal(String),
}

/// What the vendor wants to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Status of the answer to a delivery that is kept; `None`: ours (202, 200).
    pub ok_status: Option<u16>,
    /// Exact body of that answer.
    pub ok_body: Option<String>,
    /// Its media type.
    pub ok_content_type: Option<String>,
    /// Status of the answer to a delivery that does not verify.
    pub reject_status: u16,
    /// The request headers that the answer to a delivery repeats.
    pub echo: Vec<String>,
    /// How long the vendor waits for an answer.
    pub deadline: Option<Duration>,
}

/// How the vendor repeats what was not answered with a 2xx.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    /// How long after the first delivery automatic retries may come; zero
    /// where there are none, `None` where nobody knows.
    pub horizon: Option<Duration>,
    /// How long people can send an event again by hand.
    pub resend: Option<Duration>,
    /// Statuses after which the vendor stops repeating, in words.
    pub stops: Option<String>,
}

/// A parameter that an endpoint of this vendor is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name in the endpoint's configuration.
    pub name: String,
    /// What it is, for whoever writes the configuration.
    pub about: String,
    /// Used where the endpoint does not say.
    pub default: Option<String>,
}
