//! Questions of people to whole tables: filters, which cost a read of all that
//! they pass over.

use super::phrase::{Phrase, Terms};
use crate::dynamodb::item::attribute::{KEY, number, text};
use crate::dynamodb::item::event;
use crate::dynamodb::listing::{EventFilter, TypeFilter};

/// A filter of a scan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) condition: String,
    pub(crate) terms: Terms,
}

/// Payloads, history and captured secrets lie in the same table: only events
/// have a status.
pub(crate) fn events(filter: &EventFilter) -> Filter {
    let mut phrase = Phrase::default();
    phrase.present(event::STATUS);
    if let Some(endpoint) = &filter.endpoint {
        phrase.was(event::ENDPOINT, text(endpoint.as_str()));
    }
    if let Some(tenant) = &filter.tenant {
        phrase.was(event::TENANT, text(tenant.as_str()));
    }
    if let Some(status) = filter.status {
        phrase.was(event::STATUS, text(status.as_str()));
    }
    if let Some(reason) = filter.reason {
        phrase.was(event::REASON, text(reason.as_str()));
    }
    match &filter.event_type {
        Some(TypeFilter::Is(event_type)) => phrase.was(event::TYPE, text(event_type)),
        Some(TypeFilter::BeginsWith(prefix)) => {
            let (name, value) = (phrase.name(event::TYPE), phrase.value(event::TYPE, text(prefix)));
            phrase.conditions.push(format!("begins_with({name}, {value})"));
        }
        None => {}
    }
    if let Some(action) = &filter.action {
        phrase.was(event::ACTION, text(action.as_str()));
    }
    let received = [(filter.received_from, ">=", "from"), (filter.received_until, "<=", "until")];
    for (time, compares, label) in received {
        if let Some(time) = time {
            let (name, value) = (phrase.name(event::RECEIVED), phrase.value(label, number(time.0)));
            phrase.conditions.push(format!("{name} {compares} {value}"));
        }
    }
    if filter.in_conflict {
        let (name, none) = (phrase.name(event::CONFLICTS), phrase.value("none", number(0)));
        phrase.conditions.push(format!("{name} > {none}"));
    }
    Filter { condition: phrase.condition(), terms: phrase.terms }
}

/// Events that a word names in any way that people know them by: the vendor's
/// id, the correlation id, the action.
pub(crate) fn named(word: &str) -> Filter {
    let mut phrase = Phrase::default();
    phrase.present(event::STATUS);
    let value = phrase.value("word", text(word));
    let either = [event::ID, event::CORRELATION, event::ACTION, KEY]
        .map(|attribute| format!("{} = {value}", phrase.name(attribute)));
    phrase.conditions.push(format!("({})", either.join(" OR ")));
    Filter { condition: phrase.condition(), terms: phrase.terms }
}
