//! What a vendor's own list says was sent, made into an event as a delivery of
//! it would have been: the same reading, guards, holds and key.

use super::answer::Refused;
use super::event::Drafts;
use super::{Addressed, Arrived};
use crate::config::{Endpoint, TenantFrom};
use crate::http::Request;
use crate::ids::{CorrelationId, Tenant};
use crate::payload::Payload;
use crate::ports::Entropy;
use crate::protocol::event::{Event, SignatureFacts};
use crate::protocol::policy::Limits;
use crate::source::Source;
use crate::time::UnixMillis;
use thiserror::Error;

/// Why an entry of the list makes no event of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotAnEvent {
    /// A guard leaves such events out, so a delivery of it would not be kept.
    #[error("a guard of the endpoint leaves it out")]
    Filtered,
    /// A delivery of it would be refused, for this reason.
    #[error("a delivery of it would be refused: {0}")]
    Refused(&'static str),
    /// It holds none, or several.
    #[error("it is not one event")]
    NotOne,
}

/// What is known of an event before any of its content is read.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// Whose it is, where the URL of the endpoint says it.
    pub tenant: Option<&'a Tenant>,
    /// From here to the effect.
    pub correlation: &'a CorrelationId,
    /// When it is taken in.
    pub now: UnixMillis,
}

/// The event that a delivery of this would have become, and its payload.
///
/// # Errors
/// There is none, and why.
pub fn event(
    endpoint: &Endpoint,
    request: &Request,
    told: Told<'_>,
    limits: &Limits,
    entropy: &impl Entropy,
) -> Result<(Event, Payload), NotAnEvent> {
    let addressed = Addressed {
        endpoint: endpoint.name.to_string(),
        tenant: told.tenant.map(ToString::to_string),
        from: None,
        correlation: told.correlation.clone(),
        trace: None,
    };
    let tenant = told.tenant.filter(|_| endpoint.tenant == Some(TenantFrom::Path)).cloned();
    let arrived = Arrived { endpoint, tenant, addressed: &addressed, request, now: told.now };
    if u64::try_from(request.body.len()).unwrap_or(u64::MAX) > endpoint.max_body {
        return Err(NotAnEvent::Refused(Refused::TooLarge.as_str()));
    }
    let mut drafts =
        Drafts::of(&arrived, SignatureFacts::of_list(), false).map_err(|refused| match refused {
            Refused::Guard => NotAnEvent::Filtered,
            refused => NotAnEvent::Refused(refused.as_str()),
        })?;
    match (drafts.events.pop(), drafts.events.len(), drafts.filtered) {
        (Some(draft), 0, 0) => Ok(draft.into_event(&arrived, limits, entropy)),
        (None, 0, 1..) => Err(NotAnEvent::Filtered),
        _ => Err(NotAnEvent::NotOne),
    }
}

/// The places that the endpoint reads and the vendor's list does not say. An
/// event without them could be held, ignored, or act on the wrong thing.
pub fn unsaid(endpoint: &Endpoint) -> Vec<&Source> {
    let headers = endpoint.vendor.list().is_some_and(|list| list.brings_headers());
    let is_said = |source: &&Source| match source {
        Source::Body(_) | Source::Shared(_) | Source::Fetch(_) => true,
        Source::Header(_) => headers,
        Source::Query(_) => false,
    };
    endpoint.sources().iter().filter(|source| !is_said(source)).collect()
}
