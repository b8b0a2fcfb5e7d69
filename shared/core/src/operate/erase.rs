//! What has ended is erased for a privacy request: its content goes, and what
//! dedup needs stays.

use super::{NotSaid, Operate, Said, Word};
use crate::ids::Who;
use crate::key::ActionKey;
use crate::ports::{Erasure, HistoryRecord, Queue, Store};
use crate::protocol::action::{Action, ActionStatus};
use crate::protocol::decide::Operator;
use crate::protocol::event::Event;
use crate::time::Clock;

/// What came of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// Nothing of its content is left.
    Wholly,
    /// Something is, for this reason; the same again goes on from there.
    Not(&'static str),
}

impl<S: Store + HistoryRecord + Erasure, Q: Queue, C: Clock> Operate<S, Q, C> {
    /// Erases an event's payload, those of its conflicts, and what was sent on,
    /// also by actions that it has let go of since.
    /// It is put on record first: from then on nothing sends it round any more
    /// (INV-2), so that what goes then is missed by nobody.
    ///
    /// # Errors
    /// See [`NotSaid`]: erase again, which goes on where this broke off.
    pub async fn erase(&self, event: &Event, who: &Who, why: &str) -> Result<Erased, NotSaid> {
        let mut event = event.clone();
        let bound = event.progress.action.clone();
        let action = self.action_begun_by(&event, bound.as_ref()).await?;
        // A ready one would still send what is to go.
        let ready = action.as_ref().is_some_and(|action| action.status == ActionStatus::Ready);
        if ready || !event.is_erased() {
            let word = Word { operator: &Operator::Erase, who, why };
            event = match self.say(&event.key, word).await? {
                Said::Done { event, .. } => *event,
                Said::Refused(why) => return Ok(Erased::Not(why)),
                Said::Followed(_) => return Ok(Erased::Not("its action was settled meanwhile")),
            };
        }
        for key in event.progress.action.iter().chain(&event.progress.let_go) {
            if let Some(action) = self.action_begun_by(&event, Some(key)).await?
                && !self.store.erase_request(&action).await?
            {
                return Ok(Erased::Not("its action is under way again: look again when that has ended"));
            }
        }
        let others = event.seen.conflict_hashes.iter().chain(&event.seen.repeated_as);
        for hash in std::iter::once(&event.hash).chain(others) {
            self.store.erase_payload(&event.key, hash).await?;
        }
        Ok(Erased::Wholly)
    }

    /// What another event began holds that event's content, and goes with it.
    async fn action_begun_by(
        &self,
        event: &Event,
        key: Option<&ActionKey>,
    ) -> Result<Option<Action>, NotSaid> {
        let Some(key) = key else { return Ok(None) };
        Ok(self.store.action(key).await?.filter(|action| action.begun_by == event.key))
    }
}
