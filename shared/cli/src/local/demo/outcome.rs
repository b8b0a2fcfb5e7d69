//! What became of the deliveries, counted from the tables and from what the
//! destination wrote down.

use super::script::{Script, Wanted};
use crate::local::destination::{Effect, LocalDestination};
use crate::local::stack::Stack;
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeMap;

/// An event as stored, as far as the demo tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its status.
    pub status: String,
    /// Why it stands there, where the store says.
    pub reason: Option<String>,
    /// How many deliveries with other content there were.
    pub conflicts: String,
    /// It names an action.
    pub acts: bool,
}

/// Everything stored, and every effect.
#[derive(Debug)]
pub struct Outcome {
    /// Events by endpoint and the vendor's id.
    pub events: BTreeMap<(String, String), StoredEvent>,
    /// Effects in the order of their arrival.
    pub effects: Vec<Effect>,
}

/// The counts of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Requests sent.
    pub deliveries: usize,
    /// Events stored.
    pub events: usize,
    /// Calls that destinations got.
    pub effects: usize,
    /// Acknowledged events without an end that people can see, and wanted
    /// effects that no destination got.
    pub lost: usize,
    /// Calls under a key that a destination had already had, and second calls
    /// for the same wanted effect.
    pub doubled: usize,
}

impl Outcome {
    /// Reads the tables and the destination's file.
    ///
    /// # Errors
    /// The emulator or the file is gone.
    pub async fn read(stack: &Stack, destination: &LocalDestination) -> Result<Self> {
        let items = stack.aws().scan(stack.output("EventsTable")?).await?;
        let text = |item: &Value, name: &str| item[name]["S"].as_str().map(str::to_owned);
        let mut events = BTreeMap::new();
        for item in &items {
            // Payloads lie in the same table, as items without a status.
            let (Some(endpoint), Some(id), Some(status)) =
                (text(item, "endpoint"), text(item, "id"), text(item, "status"))
            else {
                continue;
            };
            let event = StoredEvent {
                status,
                reason: text(item, "reason"),
                conflicts: item["conflicts"]["N"].as_str().unwrap_or("0").to_owned(),
                acts: text(item, "action").is_some(),
            };
            events.insert((endpoint, id), event);
        }
        Ok(Self { events, effects: destination.effects()? })
    }

    /// The stored event of an endpoint.
    pub fn event(&self, endpoint: &str, id: &str) -> Option<&StoredEvent> {
        self.events.get(&(endpoint.to_owned(), id.to_owned()))
    }

    /// How many calls an event caused.
    pub fn calls(&self, endpoint: &str, id: &str) -> usize {
        self.effects
            .iter()
            .filter(|effect| {
                let body = effect.json();
                body["endpoint"] == endpoint && body["event_id"] == id
            })
            .count()
    }

    /// Whether every event of the script has come to an end.
    pub fn is_settled(&self, script: &Script) -> bool {
        script
            .deliveries
            .iter()
            .filter_map(|delivery| Some((&delivery.endpoint, delivery.event.as_ref()?)))
            .all(|(endpoint, id)| self.event(endpoint, id).is_some_and(StoredEvent::has_ended))
    }

    /// The counts.
    pub fn counts(&self, script: &Script) -> Counts {
        let unended = script
            .deliveries
            .iter()
            .filter_map(|delivery| Some((delivery.endpoint.clone(), delivery.event.clone()?)))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .filter(|key| !self.events.get(key).is_some_and(StoredEvent::has_ended))
            .count();
        let got = |wanted: &Wanted| self.effects.iter().filter(|effect| effect.is(wanted)).count();
        let missing = script.effects.iter().filter(|wanted| got(wanted) == 0).count();
        let mut by_key: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for effect in &self.effects {
            let key = effect.key.as_deref().unwrap_or_default();
            *by_key.entry((&effect.destination, key)).or_default() += 1;
        }
        let same_key: usize = by_key.values().map(|calls| calls - 1).sum();
        let same_effect: usize = script.effects.iter().map(|wanted| got(wanted).saturating_sub(1)).sum();
        Counts {
            deliveries: script.requests(),
            events: self.events.len(),
            effects: self.effects.len(),
            lost: unended + missing,
            doubled: same_key.max(same_effect),
        }
    }

    /// Effects that the script does not want at all.
    pub fn unwanted<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = &'a Effect> {
        self.effects.iter().filter(|effect| !script.effects.iter().any(|wanted| effect.is(wanted)))
    }
}

impl StoredEvent {
    /// An end, or a place where people look.
    pub fn has_ended(&self) -> bool {
        !matches!(self.status.as_str(), "received" | "processing")
    }
}

impl Effect {
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(self.body.get()).unwrap_or_default()
    }

    fn is(&self, wanted: &Wanted) -> bool {
        let body = self.json();
        self.destination == wanted.destination
            && wanted.data.iter().all(|(field, value)| body["data"][field] == value.as_str())
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { deliveries, events, effects, lost, doubled } = self;
        write!(
            f,
            "demo: {deliveries} deliveries, {events} events, {effects} effects, {lost} lost, {doubled} doubled"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = r#"
        [secrets]
        [[delivery]]
        title = "a paid order, twice"
        endpoint = "stripe"
        body = "order.json"
        times = 2
        answers = [202, 200]
        event = "evt_1"
        becomes = "processed"
        [[effect]]
        destination = "packing"
        data = { order = "A-1" }
    "#;

    fn outcome(status: &str, calls: &[(&str, &str)]) -> Counts {
        let event = StoredEvent { status: status.into(), reason: None, conflicts: "0".into(), acts: true };
        let effect = |(key, order): &(&str, &str)| {
            let body = format!(r#"{{"endpoint":"stripe","event_id":"evt_1","data":{{"order":"{order}"}}}}"#);
            let body = serde_json::value::RawValue::from_string(body).unwrap();
            Effect { destination: "packing".into(), key: Some((*key).into()), body }
        };
        let outcome = Outcome {
            events: BTreeMap::from([(("stripe".into(), "evt_1".into()), event)]),
            effects: calls.iter().map(effect).collect(),
        };
        outcome.counts(&toml::from_str(SCRIPT).unwrap())
    }

    #[test]
    fn what_went_as_written_is_neither_lost_nor_doubled() {
        let counts = outcome("processed", &[("k1", "A-1")]);
        assert_eq!(counts.to_string(), "demo: 2 deliveries, 1 events, 1 effects, 0 lost, 0 doubled");
    }

    #[test]
    fn an_acknowledged_event_without_an_end_is_lost_and_so_is_a_missing_effect() {
        assert_eq!(outcome("processing", &[("k1", "A-1")]).lost, 1);
        assert_eq!(outcome("processed", &[]).lost, 1);
    }

    #[test]
    fn a_second_call_is_doubled_under_the_same_key_as_under_another() {
        assert_eq!(outcome("processed", &[("k1", "A-1"), ("k1", "A-1")]).doubled, 1);
        assert_eq!(outcome("processed", &[("k1", "A-1"), ("k2", "A-1")]).doubled, 1);
    }
}
