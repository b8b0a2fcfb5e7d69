//! Other content in the place of what an event has: what is read off it goes
//! with it, so it is read anew before anything is decided.

use super::{NotSaid, Operate, Said, Word};
use crate::ids::Who;
use crate::ingest::stored::{self, NotTaken};
use crate::key::EventHash;
use crate::ports::{HistoryRecord, Queue, Store};
use crate::protocol::decide::Operator;
use crate::protocol::event::{ContentFacts, Event};
use crate::time::Clock;

pub(super) const NOT_STORED: &str = "the content of that conflict is no longer stored";

const ENDPOINT_GONE: &str =
    "its endpoint is no longer in the configuration, so nobody can tell what that content says";

impl<S: Store + HistoryRecord, Q: Queue, C: Clock> Operate<S, Q, C> {
    /// Takes the content of a listed conflict in the place of what the event
    /// has, with the type, version, time and number that it states, and sends
    /// the event round with that. What would be held by itself is refused.
    ///
    /// # Errors
    /// See [`NotSaid`]: saying the same again is safe.
    pub async fn accept(
        &self,
        event: &Event,
        hash: &EventHash,
        who: &Who,
        why: &str,
    ) -> Result<Said, NotSaid> {
        match self.facts(event, hash).await? {
            Ok(facts) => {
                let word = Word { operator: &Operator::Accept { facts }, who, why };
                self.say(&event.key, word).await
            }
            Err(why) => Ok(Said::Refused(why)),
        }
    }

    /// What is read off one of the event's stored contents; or why it cannot
    /// take the place of another.
    async fn facts(
        &self,
        event: &Event,
        hash: &EventHash,
    ) -> Result<Result<ContentFacts, &'static str>, NotSaid> {
        let Some(endpoint) = self.deployment.config.endpoints.get(&event.endpoint) else {
            return Ok(Err(ENDPOINT_GONE));
        };
        let Some(payload) = self.store.payload(&event.key, hash).await? else {
            return Ok(Err(NOT_STORED));
        };
        let facts = stored::facts(endpoint, event, (hash, &payload), self.clock.now());
        Ok(facts.map_err(NotTaken::as_str))
    }
}
