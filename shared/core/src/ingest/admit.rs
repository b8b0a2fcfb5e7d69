//! Before anything is verified: is this delivery to be looked at at all? What
//! costs nothing is asked first, and nothing here reads the body.

use super::answer::Refused;
use super::{Addressed, Arrived, Ingest};
use crate::config::{Guard, GuardAnswer, TenantFrom};
use crate::http::Request;
use crate::ids::Tenant;
use crate::ports::{Entropy, KeyDocuments, Queue, Secrets, Store};
use crate::rule::network_guard;
use crate::time::Clock;
use std::sync::PoisonError;

/// A delivery that is not refused.
pub(super) enum Admitted {
    /// It is looked at.
    Taken,
    /// A guard stops it and the vendor is not to send it again.
    Filtered,
}

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// Finds the endpoint. A tenant in the URL of an endpoint that has none
    /// there, or none where it has, is another URL than the one that was
    /// declared.
    pub(super) fn find<'a>(
        &'a self,
        addressed: &'a Addressed,
        request: &'a Request,
    ) -> Result<Arrived<'a>, Refused> {
        let endpoints = &self.deployment.config.endpoints;
        let endpoint = endpoints.get(addressed.endpoint.as_str()).ok_or(Refused::UnknownEndpoint)?;
        let tenant = match (&endpoint.tenant, addressed.tenant.as_deref()) {
            (Some(TenantFrom::Path), Some(tenant)) => {
                Some(Tenant::in_path(tenant).ok_or(Refused::UnknownEndpoint)?)
            }
            (Some(TenantFrom::Path), None) | (_, Some(_)) => return Err(Refused::UnknownEndpoint),
            (_, None) => None,
        };
        Ok(Arrived { endpoint, tenant, addressed, request, now: self.clock.now() })
    }

    /// Method, size, content type, source network and rate, in this order: a
    /// stranger's calls use up nothing of the endpoint's rate.
    pub(super) fn admit(&self, arrived: &Arrived<'_>) -> Result<Admitted, Refused> {
        let Arrived { endpoint, addressed, request, now, .. } = arrived;
        let methods = endpoint.vendor.methods();
        if !methods.contains(&request.method.as_str()) {
            return Err(Refused::Method(methods.join(", ")));
        }
        if u64::try_from(request.body.len()).is_ok_and(|length| length > endpoint.max_body) {
            return Err(Refused::TooLarge);
        }
        // A handshake may declare whatever it likes; what turns out to be none
        // is asked again.
        if !endpoint.vendor.answers_unsigned(&request.method) {
            content_type(arrived)?;
        }
        if let Some(guard) = network_guard(endpoint, addressed.from) {
            stopped(arrived, guard);
            return match guard.answer {
                GuardAnswer::Refuse => Err(Refused::Guard),
                GuardAnswer::Filter => Ok(Admitted::Filtered),
            };
        }
        if let Some(rate) = endpoint.rate {
            let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
            let bucket = rates.entry(endpoint.name.clone()).or_default();
            bucket.take(rate, *now).map_err(Refused::TooMany)?;
        }
        Ok(Admitted::Taken)
    }
}

/// The vendor sends this media type, and the endpoint takes it.
pub(super) fn content_type(arrived: &Arrived<'_>) -> Result<(), Refused> {
    let Arrived { endpoint, request, .. } = arrived;
    let taken = match (&endpoint.content_types, request.media_type()) {
        (Some(types), Some(declared)) => types.contains(&declared),
        (None, _) | (_, None) => true,
    };
    if taken && endpoint.vendor.takes(request) { Ok(()) } else { Err(Refused::ContentType) }
}

/// Tells the log which guard stopped a delivery or an event.
pub(super) fn stopped(arrived: &Arrived<'_>, guard: &Guard) {
    tracing::info!(
        endpoint.name = %arrived.endpoint.name,
        correlation.id = %arrived.addressed.correlation,
        source.address = arrived.addressed.from.map(|from| from.to_string()),
        guard.place = %guard.place,
        guard.answer = match guard.answer {
            GuardAnswer::Refuse => 403,
            GuardAnswer::Filter => 200,
        },
        "a guard stops it"
    );
}
