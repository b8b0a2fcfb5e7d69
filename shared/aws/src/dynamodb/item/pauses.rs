//! The item of all pauses: one, in the events table, read every few seconds.

use super::attribute::{Attributes, Item, Reading, number, texts};
use sekali::pause::{Drain, Pause, Pauses};
use sekali::ports::StoreError;
use sekali::time::UnixMillis;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Its key. No event's or payload's key is this (INV-7).
pub(crate) const PAUSES: &str = "pauses";
pub(crate) const VERSION: &str = "version";
const ENDPOINTS: &str = "endpoints";

/// The pause of one endpoint, as JSON in the item's list.
#[derive(Serialize, Deserialize)]
struct Stored {
    endpoint: String,
    since: i64,
    who: String,
    why: String,
    #[serde(default)]
    before_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
}

#[derive(Serialize, Deserialize)]
struct Ended {
    at: i64,
    who: String,
    per_minute: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    over: Option<i64>,
}

/// Everything that a write of the pauses sets.
///
/// # Errors
/// Never, for what can be written as JSON.
pub(crate) fn attributes(pauses: &Pauses) -> Result<Attributes, StoreError> {
    let endpoints = pauses.endpoints.iter().map(|(endpoint, pause)| {
        serde_json::to_string(&Stored {
            endpoint: endpoint.to_string(),
            since: pause.since.0,
            who: pause.who.to_string(),
            why: pause.why.clone(),
            before_ms: u64::try_from(pause.before.as_millis()).unwrap_or(u64::MAX),
            ended: pause.ended.as_ref().map(|ended| Ended {
                at: ended.at.0,
                who: ended.who.to_string(),
                per_minute: ended.per_minute,
                over: ended.over.map(|over| over.0),
            }),
        })
    });
    let endpoints: Vec<String> =
        endpoints.collect::<Result<_, _>>().map_err(|error| StoreError::Invalid(error.to_string()))?;
    Ok(vec![
        (VERSION, Some(number(pauses.version))),
        (ENDPOINTS, Some(texts(endpoints.iter().map(String::as_str)))),
    ])
}

/// The pauses of the stored item.
pub(crate) fn decode(item: &Item) -> Result<Pauses, StoreError> {
    let read = Reading(item);
    let endpoints = read.texts(ENDPOINTS)?.into_iter().map(|text| {
        let stored: Stored =
            serde_json::from_str(text).map_err(|error| read.unreadable(ENDPOINTS, &error.to_string()))?;
        let pause = Pause {
            since: UnixMillis(stored.since),
            who: stored.who.as_str().into(),
            why: stored.why,
            before: Duration::from_millis(stored.before_ms),
            ended: stored.ended.map(|ended| Drain {
                at: UnixMillis(ended.at),
                who: ended.who.as_str().into(),
                per_minute: ended.per_minute,
                over: ended.over.map(UnixMillis),
            }),
        };
        Ok((stored.endpoint.as_str().into(), pause))
    });
    Ok(Pauses { version: read.number(VERSION)?, endpoints: endpoints.collect::<Result<_, StoreError>>()? })
}

#[cfg(test)]
mod tests {
    use super::super::attribute::whole;
    use super::*;

    #[test]
    fn pauses_come_back_as_they_were_written() {
        let who = "alice".into();
        let paused = Pauses::default().pausing(&"shop".into(), &who, "outage", UnixMillis(1_000));
        let drain = Drain { at: UnixMillis(2_000), who: "bob".into(), per_minute: 60, over: None };
        let resumed = paused.resuming(&"shop".into(), drain).unwrap();
        let written = resumed.drained(&["shop".into()], UnixMillis(2_500)).pausing(
            &"stripe".into(),
            &who,
            "",
            UnixMillis(3_000),
        );
        assert_eq!(written.version, 4);
        assert_eq!(decode(&whole(PAUSES, attributes(&written).unwrap())), Ok(written));
    }
}
