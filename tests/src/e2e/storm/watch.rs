//! Looks at everything that is stored while the storm goes on: whether within
//! a generation anything goes back (INV-3).

use crate::e2e::kept::{Item, Kept};
use anyhow::{Context, Result};
use sekali::config::Config;
use sekali::protocol::event::EventStatus;
use std::collections::BTreeMap;

/// What was seen last, and what went back.
#[derive(Debug, Default)]
pub struct Watch {
    events: BTreeMap<String, Item>,
    actions: BTreeMap<String, Item>,
    resources: BTreeMap<String, Item>,
    /// Each way in which something went back.
    pub regressed: Vec<String>,
    /// How often it looked.
    pub looks: usize,
}

impl Watch {
    /// Looks once.
    ///
    /// # Errors
    /// The tables do not answer.
    pub async fn look(&mut self, kept: &Kept, config: &Config) -> Result<()> {
        self.looks += 1;
        let seen = &mut self.regressed;
        compare(&mut self.events, kept.events().await?, seen, event_goes_on);
        let actions = kept.aws.scan(&kept.tables.actions).await?.into_iter().map(Item).collect();
        compare(&mut self.actions, actions, seen, action_goes_on);
        let graph = &config.resources.get("payment").context("payments are declared")?.graph;
        let resources = kept.aws.scan(&kept.tables.resources).await?.into_iter().map(Item).collect();
        compare(&mut self.resources, resources, seen, |before, now| {
            let (from, to) = (before.status().into(), now.status().into());
            before.number("version") <= now.number("version") && (from == to || graph.reaches(&from, &to))
        });
        Ok(())
    }
}

fn compare(
    known: &mut BTreeMap<String, Item>,
    now: Vec<Item>,
    regressed: &mut Vec<String>,
    goes_on: impl Fn(&Item, &Item) -> bool,
) {
    for item in now {
        let pk = item.text("pk").to_owned();
        if let Some(before) = known.get(&pk)
            && !goes_on(before, &item)
        {
            regressed.push(format!("{pk} went from {} to {}", before.status(), item.status()));
        }
        known.insert(pk, item);
    }
}

fn event_goes_on(before: &Item, now: &Item) -> bool {
    let status = |item: &Item| EventStatus::from_stored(item.status());
    match before.number("generation").cmp(&now.number("generation")) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        // What may follow, however many steps lie between two looks.
        std::cmp::Ordering::Equal => {
            status(before).zip(status(now)).is_some_and(|(before, now)| before.may_become(now))
        }
    }
}

fn action_goes_on(before: &Item, now: &Item) -> bool {
    let order = |item: &Item| (item.number("generation"), item.number("token"));
    if order(before).0 < order(now).0 {
        return true;
    }
    let status = match before.status() {
        "done" | "rejected" => now.status() == before.status(),
        "in_doubt" => matches!(now.status(), "in_doubt" | "done" | "rejected"),
        _ => true,
    };
    status && order(before) <= order(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(status: &str, generation: u32, token: u32) -> Item {
        Item(json!({ "pk": { "S": "x" }, "status": { "S": status },
            "generation": { "N": generation.to_string() }, "token": { "N": token.to_string() } }))
    }

    #[test]
    fn what_is_done_never_becomes_anything_else_within_its_generation() {
        assert!(!action_goes_on(&item("done", 1, 2), &item("begun", 1, 3)));
        assert!(action_goes_on(&item("rejected", 1, 2), &item("begun", 2, 3)));
        assert!(!action_goes_on(&item("begun", 1, 3), &item("begun", 1, 2)));
        assert!(!event_goes_on(&item("processed", 1, 0), &item("received", 1, 0)));
        assert!(!event_goes_on(&item("received", 2, 0), &item("failed", 1, 0)));
        assert!(event_goes_on(&item("failed", 1, 0), &item("received", 2, 0)));
    }
}
