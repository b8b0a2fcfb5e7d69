//! The rules of an endpoint, in their order.

use crate::config::Declared;
use crate::config::rule::{self, OfEndpoint, Rule, Types};
use crate::document::{Document, Table};
use crate::ids::EventType;
use crate::problem::Place;
use std::collections::HashMap;

/// Reads every `[[endpoint.NAME.rule]]`.
pub(super) fn rules(
    document: &mut Document<'_>,
    declared: &Declared,
    endpoint: OfEndpoint<'_>,
    table: Table<'_>,
) -> Vec<Rule> {
    let Some(entry) = table.get("rule") else { return Vec::new() };
    let mut rules = Vec::new();
    let mut taken: HashMap<EventType, Place> = HashMap::new();
    let mut all_taken: Option<Place> = None;
    for table in document.tables(entry) {
        let Some(rule) = rule::read(document, declared, endpoint, table) else { continue };
        if !rule.sound.condition {
            // For which events it is, is not known.
            rules.push(rule);
            continue;
        }
        refuse_shadowed(document, table.at, &rule, &taken, all_taken.as_ref());
        if rule.when.is_empty() {
            match &rule.types {
                Types::Every => all_taken = all_taken.or_else(|| Some(rule.place.clone())),
                Types::These(types) => {
                    for event_type in types {
                        taken.entry(event_type.clone()).or_insert_with(|| rule.place.clone());
                    }
                }
            }
        }
        rules.push(rule);
    }
    rules
}

/// The first matching rule counts, so one behind a rule that takes everything
/// it could match never does.
fn refuse_shadowed(
    document: &mut Document<'_>,
    at: usize,
    rule: &Rule,
    taken: &HashMap<EventType, Place>,
    all_taken: Option<&Place>,
) {
    let by = match (all_taken, &rule.types) {
        (Some(place), _) => Some(place),
        (None, Types::Every) => None,
        (None, Types::These(types)) => {
            let earlier: Option<Vec<&Place>> = types.iter().map(|event_type| taken.get(event_type)).collect();
            earlier.and_then(|places| places.first().copied())
        }
    };
    if let Some(by) = by {
        let message = format!("this rule never matches: the one in line {} takes all its events", by.line);
        document.problem(
            at,
            message,
            Some("the first rule that matches counts; put this one before it".to_owned()),
        );
    }
}
