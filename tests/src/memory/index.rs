//! The sparse index of what is open or needs a human, read off the events.

use super::tables::Tables;
use sekali::key::EventKey;
use sekali::ports::{Due, DuePage, IndexShard, index_shard};
use sekali::protocol::event::Event;
use sekali::time::UnixMillis;

/// Where an event stands in the index, if it does: its status has a part of
/// the index, and it has a due time.
pub(super) fn entry(event: &Event) -> Option<(Due, UnixMillis)> {
    Due::of(event.progress.status).zip(event.progress.due)
}

impl Tables {
    /// See [`Store::due`](sekali::ports::Store::due).
    pub fn due(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> DuePage {
        let mut standing: Vec<(UnixMillis, &EventKey)> = self
            .events()
            .filter(|event| index_shard(&event.key) == shard.shard)
            .filter_map(|event| entry(event).map(|(class, due)| (class, due, &event.key)))
            .filter(|(class, due, _)| *class == shard.class && *due <= until)
            .map(|(_, due, key)| (due, key))
            .filter(|place| after.is_none_or(|(key, due)| *place > (*due, key)))
            .collect();
        standing.sort_unstable();
        let more = standing.len() > limit;
        standing.truncate(limit);
        let events: Vec<_> = standing.into_iter().map(|(due, key)| (key.clone(), due)).collect();
        let next = if more { events.last().cloned() } else { None };
        DuePage { events, next }
    }
}
