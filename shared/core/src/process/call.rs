//! The call itself, and the last look at the clocks before it.

use super::{LEASE_MARGIN, Processor, RESERVE, confirm};
use crate::ports::{Call, Destination, Entropy, Found, Outbound, Outcome, Probe, Store};
use crate::protocol::action::Action;
use crate::time::{Clock, Monotonic, UnixMillis};
use std::time::Duration;

/// The lease a worker took, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub wall: UnixMillis,
    pub monotonic: Monotonic,
    pub until: UnixMillis,
}

impl Taken {
    /// How much of the lease is left for a call. The smaller of what the two
    /// clocks say: neither a wall clock set back nor a paused process may let
    /// an effect begin that outlives its lease (INV-2).
    fn left(&self, clock: &impl Clock) -> Duration {
        let length = self.until.since(self.wall);
        let elapsed = clock.monotonic().0.saturating_sub(self.monotonic.0);
        let by_wall = self.until.since(clock.now());
        length.saturating_sub(elapsed).min(by_wall).saturating_sub(LEASE_MARGIN + RESERVE)
    }
}

impl<S: Store, D: Destination, A: Outbound, C: Clock, E: Entropy> Processor<S, D, A, C, E> {
    /// Calls the destination of an action that this worker holds. Where the
    /// lease no longer covers the call, nothing is sent, which is certain.
    /// How long the call took, if one was made.
    pub(super) async fn call(
        &self,
        action: &Action,
        attempt: u32,
        taken: Taken,
        (correlation, trace): (&str, Option<&str>),
    ) -> (Outcome, Option<Duration>) {
        let destination = &action.request.destination;
        let Some(known) = self.deployment.policy(destination) else {
            let cause = format!("no destination `{destination}` in the configuration");
            return (Outcome::not_started(cause), None);
        };
        if taken.left(&self.clock) < known.timeout {
            return (Outcome::not_started("the lease no longer covered the call"), None);
        }
        let call = Call {
            destination,
            action: &action.name,
            key: &action.idempotency_key(),
            body: &action.request.body,
            resource: action.request.resource.as_ref(),
            at: self.clock.now(),
            attempt,
            correlation,
            trace,
            timeout: known.timeout,
        };
        let began = self.clock.monotonic();
        let outcome = match destination.as_str() {
            confirm::DESTINATION => confirm::call(&self.api, call).await,
            _ => self.destination.call(call).await,
        };
        (outcome, Some(self.clock.monotonic().0.saturating_sub(began.0)))
    }

    /// Asks the destination of an action whether its effect happened.
    pub(super) async fn probe(&self, action: &Action) -> Found {
        let destination = &action.request.destination;
        let Some(known) = self.deployment.policy(destination) else {
            return Found::Unknown(format!("no destination `{destination}` in the configuration"));
        };
        let (key, at) = (action.idempotency_key(), self.clock.now());
        self.destination.probe(Probe { destination, key: &key, at, timeout: known.timeout }).await
    }
}
