//! Expressions: the one file that speaks DynamoDB's language. A transition is
//! data; here it becomes conditional changes of items, and nowhere else is a
//! condition written (INV-3, INV-5: what a write names is what its guard says).

pub(crate) mod listing;
mod phrase;
#[cfg(test)]
mod tests;

use super::item::attribute::{self, Item, KEY, number, text, texts};
use super::item::{action, event, history, pauses, payload, resource};
use phrase::Phrase;
use sekali::ids::Generation;
use sekali::key::{EventHash, EventKey};
use sekali::pause::Pauses;
use sekali::ports::{IndexShard, StoreError};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus};
use sekali::protocol::event::{CONFLICTS_LISTED, ContentFacts, Event, EventGuard};
use sekali::protocol::history::HistoryWrite;
use sekali::protocol::resource::ResourceGuard;
use sekali::protocol::transition::{ActionWrite, EventWrite, ResourceWrite};
use sekali::time::{ExpiresAt, UnixMillis};

pub(crate) use phrase::Terms;

/// In which table an item lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Events,
    Resources,
    Actions,
}

/// A conditional change of one item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub(crate) table: Table,
    pub(crate) pk: String,
    /// `None`: the item is only looked at.
    pub(crate) update: Option<String>,
    pub(crate) condition: String,
    pub(crate) terms: Terms,
}

/// An item written whole, on a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whole {
    pub(crate) item: Item,
    pub(crate) condition: String,
    pub(crate) terms: Terms,
}

/// A question to the index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) condition: String,
    pub(crate) terms: Terms,
}

/// INV-5: an event write names status and generation, the hash while the
/// event is unclaimed, the due time where it has one, and what ingest
/// counted where it takes a TTL off.
pub(crate) fn event_write(write: &EventWrite) -> Change {
    let EventGuard { status, generation, hash, due, counted } = &write.from;
    let mut phrase = Phrase::default();
    phrase.write(event::progress(&write.key, &write.to));
    if let Some(content) = &write.content {
        phrase.write(event::facts(&content.facts));
        phrase.set(event::CONFLICT_HASHES, texts(content.conflicts.iter().map(EventHash::as_str)));
    }
    phrase.was(event::STATUS, text(status.as_str()));
    phrase.was(event::GENERATION, number(generation));
    if let Some(hash) = hash {
        phrase.was(event::HASH, text(hash.as_str()));
    }
    if let Some(due) = due {
        phrase.was(event::DUE, number(due.0));
    }
    if let Some(counted) = counted {
        phrase.was(event::DELIVERIES, number(counted.deliveries));
        phrase.was(event::CONFLICTS, number(counted.conflicts));
    }
    phrase.into_change(Table::Events, write.key.as_str())
}

/// A write of an action, or only its condition.
///
/// # Errors
/// `Invalid`: the action is too large for an item.
pub(crate) fn action_write(write: &ActionWrite) -> Result<Change, StoreError> {
    let mut phrase = Phrase::default();
    let action: &Action = match write {
        ActionWrite::Put { from, to } => {
            phrase.schema();
            phrase.write(action::attributes(to)?);
            for (all, name) in
                [(action::BODIES_APART, action::apart(to)), (action::RESULTS_APART, action::result_apart(to))]
            {
                name.into_iter().for_each(|name| phrase.gather(all, name));
            }
            phrase.action_was(from);
            to
        }
        ActionWrite::Check { action } => {
            phrase.action_was(&action.as_read());
            action
        }
    };
    Ok(phrase.into_change(Table::Actions, action.key.as_str()))
}

impl Phrase {
    /// INV-5: a claim names the action as read; every later write of the
    /// owner names owner and token, and finds the action begun or meanwhile
    /// marked in doubt.
    fn action_was(&mut self, guard: &ActionGuard) {
        match guard {
            ActionGuard::Absent => self.absent(KEY),
            ActionGuard::AsRead { status, generation, token } => {
                self.was(action::STATUS, text(status.as_str()));
                self.was(action::GENERATION, number(generation));
                self.was(action::TOKEN, number(token));
            }
            ActionGuard::Held { owner, token } => {
                self.was(action::OWNER, text(owner.as_str()));
                self.was(action::TOKEN, number(token));
                let status = self.name(action::STATUS);
                let begun = self.value("begun", text(ActionStatus::Begun.as_str()));
                let in_doubt = self.value("in_doubt", text(ActionStatus::InDoubt.as_str()));
                self.conditions.push(format!("{status} IN ({begun}, {in_doubt})"));
            }
        }
    }
}

/// Empties what a settled action sent and heard, if it still stands as read
/// (INV-2: what is under way keeps its bytes).
pub(crate) fn erase_request(read: &Action) -> Change {
    let mut phrase = Phrase::default();
    phrase.schema();
    phrase.write(action::emptied(read));
    phrase.action_was(&read.as_read());
    phrase.into_change(Table::Actions, read.key.as_str())
}

/// INV-3: a resource moves only from the version that was read.
pub(crate) fn resource_write(write: &ResourceWrite) -> Change {
    let mut phrase = Phrase::default();
    phrase.schema();
    phrase.write(resource::attributes(&write.to));
    match write.from {
        ResourceGuard::Absent => phrase.absent(KEY),
        ResourceGuard::Version(version) => phrase.was(resource::VERSION, number(version)),
    }
    phrase.into_change(Table::Resources, write.key().as_str())
}

/// A human's decision goes on record with what it changes, and only if nobody
/// has decided meanwhile.
///
/// # Errors
/// Never, for what can be written as JSON.
pub(crate) fn history_write(write: &HistoryWrite) -> Result<Change, StoreError> {
    let mut phrase = Phrase::default();
    phrase.schema();
    phrase.write(history::attributes(&write.to)?);
    phrase.counted_was(history::WRITTEN, write.from);
    Ok(phrase.into_change(Table::Events, &history::key(&write.key)))
}

/// Pauses are written whole, from the version that was read.
///
/// # Errors
/// Never, for what can be written as JSON.
pub(crate) fn set_pauses(from: u64, to: &Pauses) -> Result<Change, StoreError> {
    let mut phrase = Phrase::default();
    phrase.schema();
    phrase.write(pauses::attributes(to)?);
    phrase.counted_was(pauses::VERSION, from);
    Ok(phrase.into_change(Table::Events, pauses::PAUSES))
}

/// INV-1: of many first deliveries, the one whose put finds nothing wins.
pub(crate) fn create_event(created: &Event) -> Whole {
    let mut phrase = Phrase::default();
    phrase.absent(KEY);
    Whole { item: event::encode(created), condition: phrase.condition(), terms: phrase.terms }
}

/// INV-1: the same as part of a transaction, for an event that somebody brings.
pub(crate) fn create_recorded(created: &Event) -> Change {
    let mut phrase = Phrase::default();
    phrase.schema();
    phrase.write(event::attributes(created));
    phrase.absent(KEY);
    phrase.into_change(Table::Events, created.key.as_str())
}

/// INV-9: a payload is written where there is none, and where there is one
/// its TTL only grows. One without a TTL is kept, and compares with nothing.
pub(crate) fn put_payload(item: Item, expires: ExpiresAt) -> Whole {
    let mut phrase = Phrase::default();
    let (pk, until) = (phrase.name(KEY), phrase.name(event::EXPIRES));
    let later = phrase.value(event::EXPIRES, number(expires.0));
    let condition = format!("attribute_not_exists({pk}) OR {until} < {later}");
    Whole { item, condition, terms: phrase.terms }
}

/// A frozen body, and a secret that was handed over, is written once and never
/// changes (INV-2, INV-10).
pub(crate) fn put_once(item: Item) -> Whole {
    let mut phrase = Phrase::default();
    let pk = phrase.name(KEY);
    Whole { item, condition: format!("attribute_not_exists({pk})"), terms: phrase.terms }
}

/// The last of its kind stays: a record for people, that decides nothing.
pub(crate) fn put_over(item: Item) -> Whole {
    let mut phrase = Phrase::default();
    let pk = phrase.name(KEY);
    let condition = format!("attribute_not_exists({pk}) OR attribute_exists({pk})");
    Whole { item, condition, terms: phrase.terms }
}

/// INV-9: takes the TTL off a payload that lies in one item, or off the head
/// of one whose parts, by this digest, have lost theirs.
pub(crate) fn keep_payload(pk: &str, parts: Option<&EventHash>, generation: Generation) -> Change {
    let mut phrase = Phrase::default();
    phrase.keep(generation);
    phrase.names_parts(parts);
    phrase.into_change(Table::Events, pk)
}

/// INV-9: takes the TTL off one part.
pub(crate) fn keep_part(pk: &str, generation: Generation) -> Change {
    let mut phrase = Phrase::default();
    phrase.keep(generation);
    phrase.into_change(Table::Events, pk)
}

/// INV-9: gives a payload's item, or the head that names these parts, a TTL
/// again, but never an earlier one.
pub(crate) fn expire_payload(
    pk: &str,
    parts: Option<&EventHash>,
    generation: Generation,
    expires: ExpiresAt,
) -> Change {
    let mut phrase = Phrase::default();
    phrase.expire(generation, expires);
    phrase.names_parts(parts);
    phrase.into_change(Table::Events, pk)
}

/// INV-9: the same for one part.
pub(crate) fn expire_part(pk: &str, generation: Generation, expires: ExpiresAt) -> Change {
    let mut phrase = Phrase::default();
    phrase.expire(generation, expires);
    phrase.into_change(Table::Events, pk)
}

impl Phrase {
    fn keep(&mut self, generation: Generation) {
        self.remove(event::EXPIRES);
        self.settle(generation);
    }

    fn expire(&mut self, generation: Generation, expires: ExpiresAt) {
        self.set(event::EXPIRES, number(expires.0));
        self.settle(generation);
        let until = self.name(event::EXPIRES);
        self.conditions.push(format!("(attribute_not_exists({until}) OR {until} < :{})", event::EXPIRES));
    }

    /// The item is there, and no newer generation has settled its TTL.
    fn settle(&mut self, generation: Generation) {
        self.present(KEY);
        self.set(payload::GENERATION, number(generation));
        let newest = self.name(payload::GENERATION);
        self.conditions
            .push(format!("(attribute_not_exists({newest}) OR {newest} <= :{})", payload::GENERATION));
    }

    fn names_parts(&mut self, parts: Option<&EventHash>) {
        match parts {
            Some(digest) => self.was(payload::DIGEST, text(digest.as_str())),
            None => self.absent(payload::DIGEST),
        }
    }
}

/// Counts a repeated delivery, and keeps the first other hash of one. It
/// touches nothing that a claim compares.
pub(crate) fn count_duplicate(key: &EventKey, other: Option<&EventHash>, at: UnixMillis) -> Change {
    let mut phrase = Phrase::default();
    phrase.set(event::LAST_SEEN, number(at.0));
    if let Some(hash) = other {
        phrase.set_once(event::REPEATED_AS, text(hash.as_str()));
    }
    phrase.count(event::DELIVERIES);
    phrase.present(KEY);
    phrase.into_change(Table::Events, key.as_str())
}

/// Is a conflicting hash listed, or only counted?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    /// Listed, on condition that there is room and it is not listed yet.
    Listed,
    /// Only counted.
    Counted,
}

/// Records a delivery with other content (INV-8: the list is bounded).
pub(crate) fn record_conflict(key: &EventKey, hash: &EventHash, at: UnixMillis, listing: Listing) -> Change {
    let mut phrase = Phrase::default();
    phrase.present(KEY);
    phrase.conflict(hash, at, listing);
    phrase.into_change(Table::Events, key.as_str())
}

/// Replaces the content of an unclaimed event and what was read off it, and
/// keeps the old hash as a conflict (INV-1: only while nothing was decided on
/// the old content).
pub(crate) fn adopt(seen: &Event, to: &ContentFacts, at: UnixMillis, listing: Listing) -> Change {
    let mut phrase = Phrase::default();
    phrase.write(event::facts(to));
    phrase.was(event::HASH, text(seen.hash.as_str()));
    phrase.was(event::STATUS, text(seen.progress.status.as_str()));
    phrase.was(event::GENERATION, number(seen.progress.generation));
    phrase.absent(event::ACTION);
    // INV-9: the new payload's TTL was made to fit the event as seen.
    match seen.progress.expires {
        Some(_) => phrase.present(event::EXPIRES),
        None => phrase.absent(event::EXPIRES),
    }
    phrase.conflict(&seen.hash, at, listing);
    phrase.into_change(Table::Events, seen.key.as_str())
}

impl Phrase {
    /// An item that counts its own writes is as read; at nought there is none.
    fn counted_was(&mut self, counter: &str, from: u64) {
        match from {
            0 => self.absent(KEY),
            from => self.was(counter, number(from)),
        }
    }

    fn conflict(&mut self, hash: &EventHash, at: UnixMillis, listing: Listing) {
        self.set(event::LAST_SEEN, number(at.0));
        self.count(event::CONFLICTS);
        if listing == Listing::Counted {
            return;
        }
        let list = self.name(event::CONFLICT_HASHES);
        let none = self.value("none", texts([]));
        let listed = self.value("listed", texts([hash.as_str()]));
        let most = self.value("most", number(CONFLICTS_LISTED));
        let hash = self.value("conflict", text(hash.as_str()));
        self.set.push(format!("{list} = list_append(if_not_exists({list}, {none}), {listed})"));
        self.conditions.push(format!(
            "(attribute_not_exists({list}) OR (size({list}) < {most} AND NOT contains({list}, {hash})))"
        ));
    }
}

/// What stands in one shard of the index and is due.
pub(crate) fn due(shard: IndexShard, until: UnixMillis) -> Question {
    let mut phrase = Phrase::default();
    phrase.was(event::OPEN, text(event::index_key(shard)));
    let term = format!("{} <= {}", phrase.name(event::DUE), phrase.value("until", number(until.0)));
    phrase.conditions.push(term);
    Question { condition: phrase.condition(), terms: phrase.terms }
}

/// Where a page of the index begins: behind this entry.
pub(crate) fn behind(shard: IndexShard, entry: &(EventKey, UnixMillis)) -> Item {
    let mut start = attribute::key(entry.0.as_str());
    start.insert(event::OPEN.to_owned(), text(event::index_key(shard)));
    start.insert(event::DUE.to_owned(), number(entry.1.0));
    start
}
