//! The values at an endpoint's places, each read once.

use super::hold::{Hold, KeyOf, NoKeyPart};
use super::truth::Truth;
use crate::config::{Condition, Endpoint};
use crate::json::{JsonText, Kind, NotJson};
use crate::payload::Payload;
use crate::source::Source;
use std::borrow::Cow;

/// The values at the endpoint's sources, read in one pass over the delivery
/// and one over the answer of the vendor's API.
pub(super) struct Values<'e> {
    sources: &'e [Source],
    values: Vec<Option<JsonText>>,
    asked: bool,
}

/// Whether conditions hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Yes,
    No,
    /// The API has to be asked first.
    Unknown,
}

impl<'e> Values<'e> {
    pub(super) fn read(
        endpoint: &'e Endpoint,
        payload: &Payload,
        truth: Option<&Truth>,
    ) -> Result<Self, NotJson> {
        let sources = endpoint.sources();
        let mut values = payload.read(sources)?;
        if let Some(truth) = truth {
            let (places, pointers): (Vec<usize>, Vec<_>) = sources
                .iter()
                .enumerate()
                .filter_map(|(place, source)| match source {
                    Source::Fetch(pointer) => Some((place, pointer)),
                    _ => None,
                })
                .unzip();
            for (place, value) in places.into_iter().zip(truth.read(&pointers)?) {
                values[place] = value;
            }
        }
        Ok(Self { sources, values, asked: truth.is_some() })
    }

    pub(super) fn at(&self, source: &Source) -> Option<&JsonText> {
        let index = self.sources.binary_search(source).ok()?;
        self.values.get(index)?.as_ref()
    }

    /// The value as a part of a key (INV-7).
    pub(super) fn key_part(&self, of: impl FnOnce() -> KeyOf, source: &Source) -> Result<Cow<'_, str>, Hold> {
        let value = self.at(source);
        value.and_then(JsonText::key_part).ok_or_else(|| {
            let found = match value.map(JsonText::kind) {
                None => NoKeyPart::Absent,
                Some(Kind::Null) => NoKeyPart::Null,
                Some(Kind::List | Kind::Object) => NoKeyPart::NotPlain,
                Some(Kind::Text | Kind::Number | Kind::Truth) => NoKeyPart::Empty,
            };
            Hold::MissingKeyPart { of: of(), source: source.clone(), found }
        })
    }

    /// Whether all conditions hold. What the delivery alone refutes is never
    /// asked about.
    pub(super) fn hold(&self, conditions: &[Condition]) -> Holds {
        let known = |condition: &&Condition| self.asked || !is_fetched(&condition.source);
        if !conditions.iter().filter(known).all(|condition| self.holds(condition)) {
            return Holds::No;
        }
        if conditions.iter().all(|condition| known(&condition)) { Holds::Yes } else { Holds::Unknown }
    }

    /// Whether those conditions hold that the delivery alone decides.
    pub(super) fn delivery_holds(&self, conditions: &[Condition]) -> bool {
        conditions
            .iter()
            .filter(|condition| !is_fetched(&condition.source))
            .all(|condition| self.holds(condition))
    }

    fn holds(&self, condition: &Condition) -> bool {
        self.at(&condition.source).is_some_and(|value| value.equals(&condition.literal))
    }
}

pub(super) fn is_fetched(source: &Source) -> bool {
    matches!(source, Source::Fetch(_))
}
