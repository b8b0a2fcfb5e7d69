//! Endpoints: one URL that a vendor calls, and what its events mean.

mod read;
mod rules;
mod vendor;

pub(super) use read::{KEYS, read};

use super::fetch::Fetch;
use super::guard::Guard;
use super::list::ListAccess;
use super::resource::OrderKind;
use super::rule::Rule;
use super::secret_ref::SecretRef;
use crate::ids::{EndpointName, ResourceKind};
use crate::key::DedupScope;
use crate::problem::Place;
use crate::rate::Rate;
use crate::source::Source;
use crate::vendor::{Params, Vendor};
use std::sync::Arc;
use std::time::Duration;

/// Largest body where the endpoint does not say: vendors send kilobytes.
pub const DEFAULT_MAX_BODY: u64 = 1 << 20;

/// A Lambda event holds 6 MB, and a binary body in it is base64: beyond this,
/// with headers of the usual size beside it, the gateway would refuse what the
/// endpoint promised to take.
pub const LARGEST_MAX_BODY: u64 = 4_500 << 10;

/// An endpoint as declared.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its name, the last part of its URL.
    pub name: EndpointName,
    /// Who sends.
    pub vendor: Arc<Vendor>,
    /// Where its secrets are kept; every one of them is live.
    pub secrets: Vec<SecretRef>,
    /// What the vendor's description asks for besides: the public URL, and
    /// parameters such as `webhook_id`.
    pub params: Params,
    /// Whose delivery it is, where the endpoint serves many.
    pub tenant: Option<TenantFrom>,
    /// What every delivery must be; all of them must let it pass.
    pub guards: Vec<Guard>,
    /// The one kind of resource that its events move, and where the key is.
    pub resource: Option<EndpointResource>,
    /// What its vendor's API is asked about an event.
    pub fetch: Option<Fetch>,
    /// How people ask for its vendor's own list of events.
    pub list: Option<ListAccess>,
    /// Its rules; the first that matches an event is the one that counts.
    pub rules: Vec<Rule>,
    /// Largest body in bytes; beyond it 413.
    pub max_body: u64,
    /// The media types that it takes, of those that the vendor sends; `None`:
    /// all of them. Others are answered 415.
    pub content_types: Option<Vec<String>>,
    /// How many deliveries one instance of the function looks at; beyond it
    /// 429. `None`: as many as come.
    pub rate: Option<Rate>,
    /// Within which an event id is unique.
    pub dedup_scope: DedupScope,
    /// The vendor's versions that are understood; `None`: all of them.
    pub versions: Option<Vec<String>>,
    /// What becomes of an event of another version.
    pub unknown_version: Unusable,
    /// What becomes of an event without a part of a key.
    pub missing_key: Unusable,
    /// What a duplicate is answered.
    pub duplicate: DuplicateAnswer,
    /// The team knows that the vendor's description is not confirmed.
    pub allow_unconfirmed: bool,
    /// Where it is declared.
    pub place: Place,
    pub(super) dedup_window_said: Option<Duration>,
    pub(super) dedup_window_place: Option<Place>,
    pub(super) sources: Vec<Source>,
    /// `false`: something of it is malformed and left out, so it never runs.
    pub(super) whole: bool,
    /// A window is said that cannot be read, or may be lost.
    pub(super) dedup_window_unread: bool,
}

/// Where the tenant of a delivery is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TenantFrom {
    /// The last part of the URL: `POST /webhooks/{endpoint}/{tenant}`.
    Path,
    /// Where the vendor's description says.
    Vendor,
    /// A place in the delivery.
    Place(Source),
}

/// The kind of resource of an endpoint, and where the vendor keeps its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointResource {
    /// The kind.
    pub kind: ResourceKind,
    /// Where the key is.
    pub key: Source,
    /// What orders its events.
    pub order: OrderKind,
}

/// What becomes of an event that is well signed but cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unusable {
    /// Kept for a human, and answered 202.
    Hold,
    /// Answered 400: the vendor is to know.
    Refuse,
}

/// What a duplicate is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DuplicateAnswer {
    /// 200 with the event's present status.
    Status,
    /// The stored result of the first; other content under its id is refused.
    Result(Unfinished),
}

/// What a duplicate is answered while the first has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unfinished {
    /// 409: come again.
    Conflict,
    /// 202: it is being worked on.
    Accepted,
}

impl Endpoint {
    /// Whether each of its tenants has secrets of its own.
    pub fn has_secrets_per_tenant(&self) -> bool {
        self.secrets.iter().any(SecretRef::is_per_tenant)
    }

    /// Every place that its rules, guards, resource or tenant read, each once.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}
