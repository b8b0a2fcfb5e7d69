//! The call itself, and the last look at the clocks before it.

use super::{LEASE_MARGIN, Processor, RESERVE, confirm};
use crate::ports::{Call, Destination, Entropy, Outbound, Outcome, Store};
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
    pub(super) async fn call(
        &self,
        action: &Action,
        attempt: u32,
        taken: Taken,
        (correlation, trace): (&str, Option<&str>),
    ) -> Outcome {
        let destination = &action.request.destination;
        let Some(known) = self.deployment.policy(destination) else {
            return not_sent(format!("no destination `{destination}` in the configuration"));
        };
        if taken.left(&self.clock) < known.timeout {
            return not_sent("the lease no longer covered the call".to_owned());
        }
        let call = Call {
            destination,
            key: &action.idempotency_key(),
            body: &action.request.body,
            attempt,
            correlation,
            trace,
            timeout: known.timeout,
        };
        match destination.as_str() {
            confirm::DESTINATION => confirm::call(&self.api, call).await,
            _ => self.destination.call(call).await,
        }
    }
}

fn not_sent(cause: String) -> Outcome {
    Outcome::NotStarted { cause, not_before: None, decisive: false }
}
