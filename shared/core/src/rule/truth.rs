//! What a vendor's API answered about an event that is only a signal.

use super::order::OrderValue;
use super::plan::Subject;
use crate::config::Fetch;
use crate::json::{self, JsonText, NotJson};
use crate::sequence::Sequence;
use crate::source::Pointer;
use crate::time::UnixMillis;
use crate::vendor::moment;
use std::time::Duration;

/// After so long no API is behind its own signals: an answer that does not say
/// how old it is counts as newer than a signal that was received so long before
/// it was asked for, and what is not there then is not there.
pub const SETTLED_AFTER: Duration = Duration::from_secs(5 * 60);

/// An answer: JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    body: Vec<u8>,
    /// When it was asked for.
    asked_at: UnixMillis,
}

/// How old an answer is beside the signal that made us ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// As new, or newer.
    Current,
    /// It does not know yet what the signal is about.
    Older,
    /// Nothing tells.
    Unknown,
}

impl Truth {
    /// Takes an answer.
    ///
    /// # Errors
    /// It is not JSON: nothing can be read from it.
    pub fn new(body: Vec<u8>, asked_at: UnixMillis) -> Result<Self, NotJson> {
        json::read(json::text(&body)?, &[])?;
        Ok(Self { body, asked_at })
    }

    /// The values at these pointers, in one pass.
    pub(super) fn read(&self, pointers: &[&Pointer]) -> Result<Vec<Option<JsonText>>, NotJson> {
        let found = json::read(json::text(&self.body)?, pointers)?;
        found
            .into_iter()
            .map(|value| value.map(|found| JsonText::from_json(found.json)).transpose())
            .collect()
    }

    fn at(&self, pointer: Option<&Pointer>) -> Option<JsonText> {
        self.read(&[pointer?]).ok()?.pop()?
    }

    /// Since when it is so, where it says that.
    pub(super) fn time(&self, fetch: &Fetch) -> Option<UnixMillis> {
        moment::of_json(&self.at(fetch.time.as_ref())?)
    }

    /// Its number, where it has one.
    pub(super) fn version(&self, fetch: &Fetch) -> Option<Sequence> {
        Sequence::parse(&self.at(fetch.version.as_ref())?.plain()?)
    }

    /// How late a fact it is among the answers of this API.
    pub(super) fn order(&self, fetch: &Fetch) -> OrderValue {
        let version = self.version(fetch).map(OrderValue::Sequence);
        version.or_else(|| self.time(fetch).map(OrderValue::Time)).unwrap_or(OrderValue::Rank)
    }

    /// Whether it knows what the signal is about. Times are compared in whole
    /// seconds, since one of the two may have no more.
    pub(super) fn age(&self, fetch: &Fetch, signal: Subject<'_>) -> Age {
        let numbers = self.version(fetch).zip(signal.sequence.and_then(Sequence::parse));
        let older = match (numbers, self.time(fetch).zip(signal.occurred_at)) {
            (Some((own, signalled)), _) => own < signalled,
            (None, Some((own, signalled))) => own.0.div_euclid(1_000) < signalled.0.div_euclid(1_000),
            (None, None) if self.asked_at.since(signal.received_at) >= SETTLED_AFTER => false,
            (None, None) => return Age::Unknown,
        };
        if older { Age::Older } else { Age::Current }
    }
}
