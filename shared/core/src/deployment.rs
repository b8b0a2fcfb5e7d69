//! What a running function knows of its deployment: the configuration that
//! travelled beside it, and the numbers that the template gave the queue.

use crate::config::{Config, MARGIN, Retentions};
use crate::ids::{DestinationName, EndpointName};
use crate::payload::Payload;
use crate::process::{confirm, intent};
use crate::protocol::decide::Intent;
use crate::protocol::event::Event;
use crate::protocol::policy::{EffectPolicy, Limits};
use std::time::Duration;

/// The window for an event whose endpoint is gone from the configuration:
/// nobody knows any more how long its vendor repeats, so rather too long.
const WINDOW_OF_A_GONE_ENDPOINT: Duration = Duration::from_secs(120 * 24 * 3600);

/// The configuration and the queue's numbers.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Endpoints, resources, actions, destinations.
    pub config: Config,
    /// How long queue and dead-letter queue keep messages.
    pub retentions: Retentions,
    /// How long a received message is hidden; a wait shorter than this returns
    /// the message, a longer one leaves the event to the sweeper.
    pub visibility: Duration,
}

impl Deployment {
    /// The bounds for an event of this endpoint.
    pub fn limits(&self, endpoint: &EndpointName) -> Limits {
        let window = match self.config.endpoints.get(endpoint) {
            Some(endpoint) => endpoint.dedup_window(self.retentions),
            None => WINDOW_OF_A_GONE_ENDPOINT
                .saturating_add(self.retentions.queue)
                .saturating_add(self.retentions.dlq)
                .saturating_add(MARGIN),
        };
        Limits::standard(window)
    }

    /// What today's rules want of a stored event, as far as that is known
    /// without asking its vendor.
    pub fn intent(&self, event: &Event, payload: &Payload) -> Intent<'_> {
        intent::stored(self, event, payload)
    }

    /// What a destination promises; `None` where it is not configured. What
    /// confirms a subscription is known everywhere.
    pub fn policy(&self, destination: &DestinationName) -> Option<EffectPolicy> {
        if destination.as_str() == confirm::DESTINATION {
            return Some(confirm::policy());
        }
        self.config.destinations.get(destination).map(|destination| EffectPolicy {
            in_doubt: destination.in_doubt,
            honours_key_for: destination.honours_key_for,
            timeout: destination.timeout,
            settling: destination.settling,
        })
    }

    /// The longest that a call to any destination may take.
    pub fn longest_call(&self) -> Duration {
        let declared = self.config.destinations.values().map(|destination| destination.timeout);
        let confirms = self.config.endpoints.values().any(|endpoint| endpoint.vendor.confirms());
        declared.chain(confirms.then_some(confirm::TIMEOUT)).max().unwrap_or_default()
    }
}
