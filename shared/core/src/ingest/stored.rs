//! A stored content of a known event, read anew as ingest read it: for whoever
//! takes it in the place of another, with the facts that go with it.

use super::event::{doubt, key_of, tenant};
use crate::config::Endpoint;
use crate::key::EventHash;
use crate::payload::Payload;
use crate::protocol::event::{ContentFacts, Event};
use crate::protocol::reason::Slug;
use crate::rule::event_guard;
use crate::sequence::Sequence;
use crate::time::UnixMillis;

/// Why a content cannot take the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// Nothing in it says which event it is, or two readings say otherwise.
    Unreadable,
    /// Its delivery would be left out today.
    Filtered,
    /// A delivery of it alone would have been held or refused, for its version.
    UnknownVersion,
    /// The same, for what it lacks.
    Lacking,
}

impl NotTaken {
    /// The reason, for a human.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => {
                "what its vendor is described to send today does not tell what that content says"
            }
            Self::Filtered => "a guard of the endpoint leaves such events out",
            Self::UnknownVersion => "its version is none that the endpoint knows: add it to `versions` first",
            Self::Lacking => {
                "by itself it would be held: it lacks what a key, an order or its vendor's description needs"
            }
        }
    }
}

/// What ingest would read off this content of the event, by today's
/// description and rules.
///
/// # Errors
/// See [`NotTaken`]: the content must not go on by itself.
pub fn facts(
    endpoint: &Endpoint,
    event: &Event,
    (hash, payload): (&EventHash, &Payload),
    now: UnixMillis,
) -> Result<ContentFacts, NotTaken> {
    let in_path = event.tenant.as_ref();
    let mut found = None;
    for facts in endpoint.vendor.readings(payload) {
        let key = key_of(endpoint, tenant(endpoint, in_path, &facts).as_ref(), &facts);
        if facts.hash != *hash || key.as_ref() != Some(&event.key) {
            continue;
        }
        let read = ContentFacts {
            hash: facts.hash.clone(),
            event_type: facts.event_type.clone(),
            version: facts.version.clone(),
            occurred_at: facts.occurred_at,
            sequence: facts.sequence.as_ref().map(Sequence::as_str).map(str::to_owned),
        };
        match &found {
            Some((other, _)) if *other != read => return Err(NotTaken::Unreadable),
            Some(_) => {}
            None => found = Some((read, facts)),
        }
    }
    let (read, facts) = found.ok_or(NotTaken::Unreadable)?;
    if matches!(event_guard(endpoint, read.event_type.as_ref(), payload), Ok(Some(_))) {
        return Err(NotTaken::Filtered);
    }
    match doubt(endpoint, in_path, &facts, now) {
        None => Ok(read),
        Some(doubt) if doubt.reason.slug == Slug::UnknownVersion => Err(NotTaken::UnknownVersion),
        Some(_) => Err(NotTaken::Lacking),
    }
}
