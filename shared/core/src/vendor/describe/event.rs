//! `[[event]]`: what identifies and describes an event.

use super::super::place::{Place, Value};
use super::super::scheme::UNITS;
use super::super::shape::{AttemptForm, EventShape, IDENTITIES, IdentityForm, ORDERS, Order, TimeForm};
use super::{condition, place, section, sources, tables, whole, word};
use crate::document::{Document, Entry, Table};
use crate::json::EachPath;
use crate::source::Pointer;
use toml::de::DeValue;

pub(super) const EVENT: &[&str] = &[
    "present",
    "absent",
    "empty",
    "when",
    "each",
    "id",
    "identity",
    "or_digest",
    "scope",
    "type",
    "version",
    "time",
    "sequence",
    "order",
    "attempt",
    "tenant",
    "delivery",
    "resource",
    "volatile",
    "required",
];
pub(super) const TIME: &[&str] = &["from", "unit", "zone"];
pub(super) const ATTEMPT: &[&str] = &["from", "first"];

pub(super) fn event(document: &mut Document<'_>, table: Table<'_>) -> EventShape {
    document.only(table, "an event", EVENT);
    let shape = EventShape {
        each: table.get("each").and_then(|entry| document.read(entry, EachPath::parse)),
        condition: condition(document, table),
        id: values(document, table, "id"),
        identity: word(document, table, "identity", IDENTITIES).unwrap_or(IdentityForm::Strong),
        or_digest: table.get("or_digest").and_then(|entry| document.truth(entry)).unwrap_or(false),
        scope: value(document, table, "scope"),
        event_type: values(document, table, "type"),
        version: value(document, table, "version"),
        time: times(document, table),
        sequence: value(document, table, "sequence"),
        order: Order::None,
        attempt: attempt(document, table),
        tenant: value(document, table, "tenant"),
        delivery: value(document, table, "delivery"),
        resource: value(document, table, "resource"),
        volatile: pointers(document, table, "volatile"),
        required: sources(document, table, "required"),
    };
    let order =
        word(document, table, "order", ORDERS).unwrap_or(match (&shape.sequence, shape.time.is_empty()) {
            (Some(_), _) => Order::Sequence,
            (None, false) => Order::Time,
            (None, true) => Order::None,
        });
    check(document, table, &shape, order);
    EventShape { order, ..shape }
}

fn check(document: &mut Document<'_>, table: Table<'_>, shape: &EventShape, order: Order) {
    let at = |key: &str| table.get(key).map_or(table.at, |entry| entry.key_at);
    if shape.id.is_empty() && shape.identity != IdentityForm::None && !shape.or_digest {
        let remedy = "identity = \"none\" for a ping, or_digest = true for a weak fallback";
        document.absent(table.at, "`id` is missing: what identifies an event", Some(remedy.into()));
    }
    match order {
        Order::Sequence if shape.sequence.is_none() => {
            document.problem(at("order"), "`order = \"sequence\"` needs `sequence`", None);
        }
        Order::Time if shape.time.is_empty() => {
            document.problem(at("order"), "`order = \"time\"` needs `time`", None);
        }
        _ => {}
    }
    let stars = shape.each.as_ref().map_or(0, EachPath::stars);
    for value in shape.values() {
        for place in value.places() {
            match place {
                Place::Matched(count) if *count > stars => {
                    document.problem(table.at, format!("`{place}` needs as many `*` in `each`"), None);
                }
                Place::Element(_) | Place::Claim(_) | Place::Param(_) | Place::NamedHeader(_) => {
                    document.problem(table.at, format!("`{place}` is not part of an event"), None);
                }
                _ => {}
            }
        }
    }
}

fn value(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Value> {
    table.get(key).and_then(|entry| document.read(entry, Value::parse))
}

pub(super) fn values(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Vec<Value> {
    let Some(texts) = table.get(key).and_then(|entry| document.one_or_more(entry)) else { return Vec::new() };
    texts.into_iter().filter_map(|text| document.accept(text, Value::parse(text.text))).collect()
}

fn pointers(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Vec<Pointer> {
    let Some(texts) = table.get(key).and_then(|entry| document.one_or_more(entry)) else { return Vec::new() };
    texts.into_iter().filter_map(|text| document.accept(text, Pointer::parse(text.text))).collect()
}

/// One table or a list of them.
pub(super) fn times(document: &mut Document<'_>, table: Table<'_>) -> Vec<TimeForm> {
    let forms = match table.get("time") {
        Some(Entry { value: DeValue::Table(_), .. }) => {
            section(document, table, "time").into_iter().collect()
        }
        _ => tables(document, table, "time"),
    };
    forms.into_iter().filter_map(|form| time(document, form)).collect()
}

fn time(document: &mut Document<'_>, table: Table<'_>) -> Option<TimeForm> {
    document.only(table, "`time`", TIME);
    let from = place(document, table, "from");
    let unit = word(document, table, "unit", UNITS);
    for key in ["from", "unit"] {
        if table.get(key).is_none() {
            document.absent(table.at, format!("`time.{key}` is missing"), None);
        }
    }
    let zone = match table.get("zone") {
        Some(entry) => document.read(entry, zone).unwrap_or(0),
        None => 0,
    };
    Some(TimeForm { from: from?, unit: unit?, zone })
}

/// `+07:00` in minutes.
fn zone(text: &str) -> Result<i32, &'static str> {
    super::super::moment::offset_minutes(text).ok_or("a zone is written +07:00 or -05:30")
}

fn attempt(document: &mut Document<'_>, table: Table<'_>) -> Option<AttemptForm> {
    let table = section(document, table, "attempt")?;
    document.only(table, "`attempt`", ATTEMPT);
    let from = place(document, table, "from");
    if table.get("from").is_none() {
        document.absent(table.at, "`attempt.from` is missing", None);
    }
    let first = table.get("first").and_then(|entry| whole(document, entry)).unwrap_or(1);
    Some(AttemptForm { from: from?, first })
}
