//! The item of what humans decided about an event: in the events table, and no
//! event, since it has no status.

use super::attribute::{Attributes, Item, Reading, number, texts};
use sekali::ids::Generation;
use sekali::key::EventKey;
use sekali::ports::StoreError;
use sekali::protocol::event::EventStatus;
use sekali::protocol::history::{Decided, History};
use sekali::time::UnixMillis;
use serde::{Deserialize, Serialize};

pub(crate) const WRITTEN: &str = "written";
const DECISIONS: &str = "decisions";

/// The key. No event's or payload's key begins like this (INV-7).
pub(crate) fn key(event: &EventKey) -> String {
    format!("history|{}:{}", event.as_str().len(), event.as_str())
}

/// One decision, as JSON in the item's list.
#[derive(Serialize, Deserialize)]
struct Stored {
    at: i64,
    who: String,
    what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    why: String,
    from: String,
    generation: Generation,
}

/// Everything that a write of a history sets.
///
/// # Errors
/// Never, for what can be written as JSON.
pub(crate) fn attributes(history: &History) -> Result<Attributes, StoreError> {
    let decisions = history.decisions.iter().map(|decided| {
        serde_json::to_string(&Stored {
            at: decided.at.0,
            who: decided.who.to_string(),
            what: decided.what.clone(),
            about: decided.about.clone(),
            why: decided.why.clone(),
            from: decided.from.as_str().to_owned(),
            generation: decided.generation,
        })
    });
    let decisions: Vec<String> =
        decisions.collect::<Result<_, _>>().map_err(|error| StoreError::Invalid(error.to_string()))?;
    Ok(vec![
        (WRITTEN, Some(number(history.written))),
        (DECISIONS, Some(texts(decisions.iter().map(String::as_str)))),
    ])
}

/// The history of a stored item.
pub(crate) fn decode(item: &Item) -> Result<History, StoreError> {
    let read = Reading(item);
    let decisions = read.texts(DECISIONS)?.into_iter().map(|text| {
        let stored: Stored =
            serde_json::from_str(text).map_err(|error| read.unreadable(DECISIONS, &error.to_string()))?;
        let from = EventStatus::from_stored(&stored.from)
            .ok_or_else(|| read.unreadable(DECISIONS, &format!("name the status `{}`", stored.from)))?;
        Ok(Decided {
            at: UnixMillis(stored.at),
            who: stored.who.as_str().into(),
            what: stored.what,
            about: stored.about,
            why: stored.why,
            from,
            generation: stored.generation,
        })
    });
    Ok(History { written: read.number(WRITTEN)?, decisions: decisions.collect::<Result<_, StoreError>>()? })
}

#[cfg(test)]
mod tests {
    use super::super::attribute::whole;
    use super::super::tests::event_key;
    use super::*;

    #[test]
    fn a_history_comes_back_as_it_was_written_and_is_never_taken_for_an_event() {
        let decided = |about: Option<&str>| Decided {
            at: UnixMillis(7),
            who: "alice".into(),
            what: "happened".to_owned(),
            about: about.map(str::to_owned),
            why: "she \"looked\"".to_owned(),
            from: EventStatus::InDoubt,
            generation: Generation::FIRST,
        };
        let written = History { written: 9, decisions: vec![decided(None), decided(Some("task_1"))] };
        let item = whole(&key(&event_key()), attributes(&written).unwrap());
        assert_eq!(decode(&item), Ok(written));
        assert!(!item.contains_key(super::super::event::STATUS));
        assert!(!key(&event_key()).starts_with("event"));
    }
}
