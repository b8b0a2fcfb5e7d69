//! The way through the index. Each of its parts gets its share of a run, and in
//! each part what flows does not wait behind what a pause holds back: whatever
//! one endpoint heaps up, the others' events are looked at.

use super::{Round, Sweeper};
use crate::key::EventKey;
use crate::ports::{Due, INDEX_SHARDS, IndexShard, PauseRecord, Queue, Store};
use crate::time::{Clock, UnixMillis};
use std::collections::VecDeque;

/// Entries read from one page of the index: they are small.
const PAGE: usize = 200;

/// Pages that one share may read in search of an event that is not held back.
const PAGES: usize = 4;

/// Events of each kind that one share looks at.
const SHARE: usize = 5;

/// Events that are held back and remembered, for each part: more than a run
/// has time for. Those beyond it are found by the next.
const HELD_BACK: usize = 2_500;

/// One part of the index, and how far a run has come in it.
pub(super) struct Part {
    shard: IndexShard,
    /// What is due by then.
    until: UnixMillis,
    after: Option<(EventKey, UnixMillis)>,
    read: bool,
    /// What flows is of no interest.
    held_back_alone: bool,
    flowing: VecDeque<EventKey>,
    held_back: VecDeque<EventKey>,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    /// Everything that is due was looked at, or left for a reason that is on record.
    Through,
    /// Time was over, or there was more than is remembered.
    WorkLeft,
}

/// The shards, each minute from another one on: what one run has no time for
/// is not what the next has no time for.
fn shards(now: UnixMillis) -> impl Iterator<Item = u8> {
    let minute = now.0.div_euclid(60_000).rem_euclid(i64::from(INDEX_SHARDS));
    let first = u8::try_from(minute).unwrap_or_default();
    (0..INDEX_SHARDS).map(move |shard| (first + shard) % INDEX_SHARDS)
}

/// These parts of each shard, by the minute of `now`.
pub(super) fn parts(classes: &[Due], now: UnixMillis, until: UnixMillis) -> Vec<Part> {
    let each = shards(now).flat_map(|shard| classes.iter().map(move |class| (*class, shard)));
    each.map(|(class, shard)| Part {
        shard: IndexShard { class, shard },
        until,
        after: None,
        read: false,
        held_back_alone: false,
        flowing: VecDeque::new(),
        held_back: VecDeque::new(),
    })
    .collect()
}

impl Part {
    /// The same, for what a pause holds back alone.
    pub(super) fn of_held_back(self) -> Self {
        Self { held_back_alone: true, ..self }
    }

    /// Whether there is something for its next share, or nothing to be read.
    fn is_ready(&self) -> bool {
        let found = if self.held_back_alone { &self.held_back } else { &self.flowing };
        self.read || !found.is_empty()
    }

    fn is_through(&self) -> bool {
        self.read && self.flowing.is_empty() && self.held_back.is_empty()
    }

    /// What its next share looks at.
    fn take(&mut self) -> Vec<EventKey> {
        let flowing = self.flowing.len().min(SHARE);
        let held_back = self.held_back.len().min(SHARE);
        self.flowing.drain(..flowing).chain(self.held_back.drain(..held_back)).collect()
    }
}

impl<S: Store + PauseRecord, Q: Queue, C: Clock> Sweeper<S, Q, C> {
    /// Looks at all that is due.
    pub(super) async fn due(&self, began: UnixMillis, end: UnixMillis, round: &mut Round<'_>) {
        let parts = parts(&[Due::Open, Due::InDoubt], began, began);
        if self.walk(parts, end, round, |_, _| true).await == Walked::WorkLeft {
            round.swept.out_of_time = true;
        }
    }

    /// Goes round the parts, a share of each at a time, until `end` at the
    /// latest. `wants` says of an event whether it is looked at, and of none
    /// whether any still can be.
    pub(super) async fn walk(
        &self,
        mut parts: Vec<Part>,
        end: UnixMillis,
        round: &mut Round<'_>,
        wants: impl Fn(&Round<'_>, Option<&EventKey>) -> bool,
    ) -> Walked {
        let mut walked = Walked::Through;
        while !parts.is_empty() {
            for part in &mut parts {
                if !wants(round, None) {
                    return walked;
                }
                if self.read(part, end, round).await == Walked::WorkLeft {
                    walked = Walked::WorkLeft;
                }
                for key in part.take() {
                    if !wants(round, Some(&key)) {
                        continue;
                    }
                    if self.clock.now() >= end {
                        return Walked::WorkLeft;
                    }
                    self.sweep(&key, round).await;
                }
            }
            if parts.iter().any(|part| !part.is_through()) && self.clock.now() >= end {
                return Walked::WorkLeft;
            }
            parts.retain(|part| !part.is_through());
        }
        walked
    }

    /// Reads on in a part until there is an event that is not held back.
    async fn read(&self, part: &mut Part, end: UnixMillis, round: &mut Round<'_>) -> Walked {
        let mut walked = Walked::Through;
        for _ in 0..PAGES {
            if part.is_ready() || (part.after.is_some() && self.clock.now() >= end) {
                break;
            }
            let page = match self.store.due(part.shard, part.until, part.after.as_ref(), PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(index.part = part.shard.class.as_str(), index.shard = part.shard.shard, %error, "a page of the index was not read");
                    round.swept.left += 1;
                    part.read = true;
                    break;
                }
            };
            for (key, _) in page.events {
                let held_back = round.held_back.iter().any(|scope| key.may_lie_in(scope));
                match held_back {
                    false if part.held_back_alone => {}
                    false => part.flowing.push_back(key),
                    true if part.held_back.len() < HELD_BACK => part.held_back.push_back(key),
                    true => walked = Walked::WorkLeft,
                }
            }
            part.read = page.next.is_none();
            part.after = page.next;
        }
        walked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minute_another_shard_comes_first_and_none_is_left_out() {
        let at = |minute: i64| shards(UnixMillis(minute * 60_000 + 30_000)).collect::<Vec<_>>();
        assert_eq!(at(0), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(at(11), [3, 4, 5, 6, 7, 0, 1, 2]);
        assert_eq!(at(-1), [7, 0, 1, 2, 3, 4, 5, 6]);
    }
}
