//! How many events need a human: what an alarm watches, since nothing else
//! becomes of them by itself.

use super::{END_OF_TIME, Sweeper};
use crate::ports::{Due, INDEX_SHARDS, IndexShard, PauseRecord, Queue, Store, StoreError};
use crate::protocol::event::EventStatus;
use crate::time::{Clock, UnixMillis};

/// Entries read from one page of the index: they are small.
const COUNTED_PAGE: usize = 250;

/// Most events that need a human that a sweep counts of each status: beyond it
/// the exact number helps nobody, and reading costs (INV-8).
pub const MOST_COUNTED: u64 = 1000;

/// What needs a human, and its part of the index.
const HUMAN_S: [(EventStatus, Due); 3] = [
    (EventStatus::Failed, Due::Failed),
    (EventStatus::Held, Due::Held),
    (EventStatus::InDoubt, Due::InDoubt),
];

/// Nothing was counted.
pub(super) const NOT_COUNTED: [(EventStatus, Option<u64>); 3] =
    [(EventStatus::Failed, None), (EventStatus::Held, None), (EventStatus::InDoubt, None)];

impl<S: Store + PauseRecord, Q: Queue, C: Clock> Sweeper<S, Q, C> {
    /// How many events need a human.
    pub(super) async fn needs_human(&self, end: UnixMillis) -> [(EventStatus, Option<u64>); 3] {
        let mut counted = NOT_COUNTED;
        for ((_, number), (status, class)) in counted.iter_mut().zip(HUMAN_S) {
            *number = self.count(class, end).await.unwrap_or_else(|error| {
                tracing::warn!(event.status = status.as_str(), %error, "what needs a human was not counted");
                None
            });
        }
        counted
    }

    /// How many events stand in a part of the index; `None`: there was no time.
    async fn count(&self, class: Due, end: UnixMillis) -> Result<Option<u64>, StoreError> {
        let mut many = 0;
        for shard in 0..INDEX_SHARDS {
            let mut after = None;
            loop {
                if self.clock.now() >= end {
                    return Ok(None);
                }
                // What is in doubt may be due only later: it is counted, too.
                let shard = IndexShard { class, shard };
                let page = self.store.due(shard, END_OF_TIME, after.as_ref(), COUNTED_PAGE).await?;
                many += u64::try_from(page.events.len()).unwrap_or(u64::MAX);
                if many >= MOST_COUNTED {
                    return Ok(Some(MOST_COUNTED));
                }
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        Ok(Some(many))
    }
}
