//! The way of a delivery: find the endpoint, verify over the raw bytes, read
//! the few fields that matter, make each event durable, enqueue, answer.

pub mod answer;
mod endpoint;
mod event;
mod keep;

pub use endpoint::{Live, Offline, Ready};
pub use keep::NotKept;

use crate::deployment::Deployment;
use crate::http::Request;
use crate::ids::{CorrelationId, EndpointName, Tenant};
use crate::ports::{Entropy, Queue, Store};
use crate::time::Clock;
use answer::{Answer, Refused, Taken, taken};
use event::Draft;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;
use std::sync::Arc;

/// Events of one delivery that are made durable side by side: a batch of
/// hundreds must fit a vendor's deadline without hundreds of open requests.
const SIDE_BY_SIDE: usize = 16;

/// Ingest over its ports.
pub struct Ingest<S, Q, C, E> {
    /// The tables.
    pub store: S,
    /// The queue.
    pub queue: Q,
    /// Time.
    pub clock: C,
    /// Randomness.
    pub entropy: E,
    /// Endpoints, rules and windows.
    pub deployment: Arc<Deployment>,
    /// What each endpoint verifies with, made ready once per process.
    pub ready: HashMap<EndpointName, Ready>,
}

/// Where a request was addressed, and how it can be followed.
#[derive(Debug, Clone)]
pub struct Addressed {
    /// The `{endpoint}` of the path.
    pub endpoint: String,
    /// The `{tenant}` of the path.
    pub tenant: Option<Tenant>,
    /// From the gateway, or drawn.
    pub correlation: CorrelationId,
    /// The tracing header's text.
    pub trace: Option<String>,
}

impl<S: Store, Q: Queue, C: Clock, E: Entropy> Ingest<S, Q, C, E> {
    /// Answers one delivery. A 2xx promises that every event of it and the
    /// payloads they point to are durable (INV-1); an unverified body has
    /// caused no write (INV-10).
    pub async fn receive(&self, addressed: &Addressed, request: &Request) -> Answer {
        let correlation = &addressed.correlation;
        match self.take(addressed, request).await {
            Ok(events) => {
                for event in &events {
                    tracing::info!(
                        endpoint.name = %addressed.endpoint,
                        correlation.id = %correlation,
                        delivery.result = event.as_str(),
                        event.status = event.event_status().as_str(),
                        "delivery"
                    );
                }
                self.acknowledged(addressed, &events)
            }
            Err(refused) => {
                tracing::info!(
                    endpoint.name = %addressed.endpoint,
                    correlation.id = %correlation,
                    delivery.result = refused.as_str(),
                    "delivery refused"
                );
                refused.answer(correlation)
            }
        }
    }

    /// The vendor's own words where it wants to hear them, else ours.
    fn acknowledged(&self, addressed: &Addressed, events: &[Taken]) -> Answer {
        let mut answer = taken(events, &addressed.correlation);
        let Some(endpoint) = self.deployment.config.endpoints.get(addressed.endpoint.as_str()) else {
            return answer;
        };
        let reply = endpoint.vendor.reply();
        if let Some(status) = reply.ok_status {
            answer.status = status;
        }
        if let Some(body) = &reply.ok_body {
            answer.body.clone_from(body);
            answer.content_type.clone_from(&reply.ok_content_type);
        }
        answer
    }

    async fn take(&self, addressed: &Addressed, request: &Request) -> Result<Vec<Taken>, Refused> {
        let endpoint = self
            .deployment
            .config
            .endpoints
            .get(addressed.endpoint.as_str())
            .ok_or(Refused::UnknownEndpoint)?;
        if request.method != "POST" {
            return Err(Refused::Method);
        }
        if u64::try_from(request.body.len()).is_ok_and(|length| length > endpoint.max_body) {
            return Err(Refused::TooLarge);
        }
        if !endpoint.vendor.takes(request) {
            return Err(Refused::ContentType);
        }
        let now = self.clock.now();
        let ready = self.ready.get(&endpoint.name).ok_or(Refused::Unavailable)?;
        let verified = ready.verify(endpoint, request, now).map_err(|refused| {
            refused.log(addressed);
            refused.refused(endpoint)
        })?;
        let drafts = Draft::all(endpoint, addressed, request, &verified)?;
        let limits = self.deployment.limits(&endpoint.name);
        let kept: Vec<_> = stream::iter(drafts)
            .map(|draft| async {
                let (event, payload) = draft.into_event(endpoint, addressed, now, &limits, &self.entropy);
                self.keep(event, &payload, &limits).await
            })
            .buffered(SIDE_BY_SIDE)
            .collect()
            .await;
        let mut taken = Vec::with_capacity(kept.len());
        let mut failed = false;
        for kept in kept {
            match kept {
                Ok(kept) => {
                    if let Some(event) = &kept.enqueue {
                        self.enqueue(event, addressed.trace.as_deref()).await;
                    }
                    taken.push(kept.taken);
                }
                Err(error) => {
                    tracing::error!(endpoint.name = %endpoint.name, correlation.id = %addressed.correlation, %error, "an event was not kept");
                    failed = true;
                }
            }
        }
        if failed { Err(Refused::Unavailable) } else { Ok(taken) }
    }
}
