//! What waited for a pause to end comes by turns, before the sweeper would look
//! at it by itself; and when nothing is left, the drain is over.

use super::walk::{Part, Walked, parts};
use super::{END_OF_TIME, Round, Sweeper};
use crate::ids::EndpointName;
use crate::key::EventKey;
use crate::pause::{Drain, TRUSTED_FOR};
use crate::ports::{Due, PauseRecord, Queue, Store, Write};
use crate::time::{Clock, UnixMillis};

impl<S: Store + PauseRecord, Q: Queue, C: Clock> Sweeper<S, Q, C> {
    /// Gives the turns that are left in this run to what waits and is not due
    /// yet, of each part of the index the soonest first.
    pub(super) async fn bring_forward(&self, began: UnixMillis, end: UnixMillis, round: &mut Round<'_>) {
        if round.swept.out_of_time || with_turns(round).next().is_none() {
            return;
        }
        let drains = round.pauses.drains().map(|(endpoint, _)| endpoint);
        round.held_back = drains.map(|endpoint| self.scope(endpoint)).collect();
        let parts = parts(&[Due::Open], began, END_OF_TIME).into_iter().map(Part::of_held_back).collect();
        let wants = |round: &Round<'_>, key: Option<&EventKey>| {
            with_turns(round).any(|(endpoint, _)| key.is_none_or(|key| key.may_lie_in(&self.scope(endpoint))))
        };
        if self.walk(parts, end, round, wants).await == Walked::Through && round.swept.left == 0 {
            self.end_drains(round).await;
        }
    }

    /// Whoever has turns left after all was looked at has nothing that waits.
    /// Not before every process has heard of the end of the pause.
    async fn end_drains(&self, round: &Round<'_>) {
        let now = self.clock.now();
        let heard = with_turns(round).filter(|(_, drain)| now.since(drain.at) > TRUSTED_FOR);
        let over: Vec<EndpointName> = heard.map(|(endpoint, _)| endpoint.clone()).collect();
        if over.is_empty() {
            return;
        }
        match self.store.set_pauses(round.pauses.version, &round.pauses.drained(&over, now)).await {
            Ok(Write::Applied) => {
                for endpoint in over {
                    tracing::info!(endpoint.name = %endpoint, "nothing waits for a pause any more");
                }
            }
            // A human was faster: the next run reads anew.
            Ok(Write::Refused) => {}
            Err(error) => tracing::warn!(%error, "that a drain is over was not written"),
        }
    }
}

/// The endpoints that drain and have turns left in this run.
fn with_turns<'r>(round: &'r Round<'_>) -> impl Iterator<Item = (&'r EndpointName, &'r Drain)> {
    round.pauses.drains().filter(|(endpoint, drain)| round.turns.are_left(endpoint, drain))
}
