//! Reads a vendor description: a TOML file in the language that
//! `docs/vendors.md` describes. Every problem is found at once, each with its
//! place; an unknown key is a problem with the nearest known one.

mod event;
mod handshake;
mod key;
mod list;
mod scheme;
mod signature;

#[cfg(test)]
pub(super) use signature::KIND_NAMES;
pub(super) use signature::kind_name;

use super::Vendor;
use super::place::Place;
use super::scheme::Condition;
use super::shape::{BodyForm, CONTENT_ENCODINGS, Param, Reply, Retry};
use crate::config::value;
use crate::document::{Document, Entry, Table, whole_number};
use crate::ids::VendorName;
use crate::json::Literal;
use crate::problem::Problem;
use crate::source::Source;
use std::time::Duration;
use toml::de::DeValue;

/// The sections of a description and their keys: what the parser accepts and
/// what the reference documents.
pub const KEYS: &[(&str, &[&str])] = &[
    ("description", DESCRIPTION),
    ("params", PARAM),
    ("body", BODY),
    ("reply", REPLY),
    ("retry", RETRY),
    ("scheme", scheme::SCHEME),
    ("scheme.key", key::KEY),
    ("scheme.signature", signature::SIGNATURE),
    ("scheme.alg", signature::NAMED_ALGORITHM),
    ("scheme.timestamp", scheme::TIMESTAMP),
    ("scheme.binding", scheme::BINDING),
    ("event", event::EVENT),
    ("event.time", event::TIME),
    ("event.attempt", event::ATTEMPT),
    ("list", list::LIST),
    ("list.auth", list::AUTH),
    ("list.next", list::NEXT),
    ("list.since", list::BOUND),
    ("handshake", handshake::HANDSHAKE),
    ("handshake.reply", handshake::ANSWER),
];

const DESCRIPTION: &[&str] = &[
    "confirmed",
    "methods",
    "params",
    "body",
    "reply",
    "retry",
    "scheme",
    "event",
    "list",
    "handshake",
    "livemode",
];
const PARAM: &[&str] = &["about", "default"];
const BODY: &[&str] = &["content_types", "form", "encodings", "empty_batch"];
const REPLY: &[&str] = &["status", "body", "content_type", "reject", "echo", "deadline"];
const RETRY: &[&str] = &["horizon", "resend", "stops"];

/// Statuses that refuse a delivery; what a vendor wants instead of 401 is one of these.
const REFUSALS: std::ops::RangeInclusive<u16> = 400..=499;

pub(super) fn parse(name: &str, file: &str, text: &str) -> Result<Vendor, Vec<Problem>> {
    let (mut document, root) = Document::parse(file, text);
    let vendor = read(&mut document, Table::root(&root), name);
    let problems = document.finish();
    if problems.is_empty() { Ok(vendor) } else { Err(problems) }
}

fn read(document: &mut Document<'_>, root: Table<'_>, name: &str) -> Vendor {
    document.only(root, "a vendor description", DESCRIPTION);
    let confirmed = match root.get("confirmed") {
        Some(entry) => document.truth(entry).unwrap_or(false),
        None => {
            let remedy = "true where an SDK or a published example proves the scheme, else false";
            document.absent(0, "`confirmed` is missing", Some(remedy.into()));
            false
        }
    };
    let params = params(document, root);
    let (body, empty_batch) = body(document, root);
    let schemes = tables(document, root, "scheme");
    if schemes.is_empty() {
        let remedy = "a vendor that does not sign says so: kind = \"none\"";
        document.absent(0, "no `[[scheme]]` says how deliveries are verified", Some(remedy.into()));
    }
    let events: Vec<_> =
        tables(document, root, "event").into_iter().map(|table| event::event(document, table)).collect();
    let vendor = Vendor {
        list: list::list(document, root, &events),
        name: VendorName::new(name),
        confirmed,
        schemes: schemes.into_iter().filter_map(|table| scheme::scheme(document, table)).collect(),
        events,
        handshakes: tables(document, root, "handshake")
            .into_iter()
            .map(|table| handshake::handshake(document, table))
            .collect(),
        methods: names(document, root, "methods", &["POST"]),
        reply: reply(document, root),
        retry: retry(document, root),
        body,
        empty_batch,
        params,
        livemode: match section(document, root, "livemode") {
            Some(livemode) => {
                livemode.entries().filter_map(|entry| equals(document, entry, Source::parse)).collect()
            }
            None => Vec::new(),
        },
    };
    if vendor.events.is_empty() {
        document.absent(0, "no `[[event]]` says what identifies an event", None);
    }
    for place in vendor.places() {
        if let Some(param) = place.param()
            && !vendor.params.iter().any(|known| known.name == param)
        {
            let remedy = format!("[params.{param}]");
            document.problem(0, format!("`{place}` names a parameter that is not declared"), Some(remedy));
        }
    }
    vendor
}

fn params(document: &mut Document<'_>, root: Table<'_>) -> Vec<Param> {
    let Some(table) = section(document, root, "params") else { return Vec::new() };
    let mut params = Vec::new();
    for entry in table.entries() {
        let Some(param) = document.table(entry) else { continue };
        document.only(param, "a parameter", PARAM);
        params.push(Param {
            name: entry.key.to_owned(),
            about: string(document, param, "about").unwrap_or_default(),
            default: string(document, param, "default"),
        });
    }
    params
}

fn body(document: &mut Document<'_>, root: Table<'_>) -> (BodyForm, bool) {
    let table = section(document, root, "body");
    let mut form = BodyForm {
        content_types: vec!["application/json".to_owned()],
        form: Vec::new(),
        encodings: Vec::new(),
    };
    let Some(table) = table else { return (form, false) };
    document.only(table, "`body`", BODY);
    form.content_types = names(document, table, "content_types", &["application/json"]);
    form.form = names(document, table, "form", &[]);
    if let Some(entry) = table.get("encodings") {
        for text in document.one_or_more(entry).unwrap_or_default() {
            match CONTENT_ENCODINGS.iter().find(|(name, _)| *name == text.text) {
                Some((_, encoding)) => form.encodings.push(*encoding),
                None => {
                    document.problem(text.at, format!("`{}` is no content encoding here", text.text), None);
                }
            }
        }
    }
    let allowed = word(document, table, "empty_batch", &[("refuse", false), ("allow", true)]);
    (form, allowed.unwrap_or(false))
}

fn reply(document: &mut Document<'_>, root: Table<'_>) -> Reply {
    let mut reply = Reply {
        ok_status: None,
        ok_body: None,
        ok_content_type: None,
        reject_status: 401,
        echo: Vec::new(),
        deadline: None,
    };
    let Some(table) = section(document, root, "reply") else { return reply };
    document.only(table, "`reply`", REPLY);
    reply.ok_status = status(document, table, "status", &(200..=299));
    reply.ok_body = string(document, table, "body");
    reply.ok_content_type = string(document, table, "content_type");
    reply.echo = names(document, table, "echo", &[]);
    reply.deadline = span(document, table, "deadline");
    reply.reject_status = status(document, table, "reject", &REFUSALS).unwrap_or(reply.reject_status);
    reply
}

fn retry(document: &mut Document<'_>, root: Table<'_>) -> Retry {
    let Some(table) = section(document, root, "retry") else { return Retry::default() };
    document.only(table, "`retry`", RETRY);
    Retry {
        horizon: span(document, table, "horizon"),
        resend: span(document, table, "resend"),
        stops: string(document, table, "stops"),
    }
}

// What the readers of all sections share.

fn section<'d>(document: &mut Document<'_>, table: Table<'d>, key: &str) -> Option<Table<'d>> {
    table.get(key).and_then(|entry| document.table(entry))
}

fn tables<'d>(document: &mut Document<'_>, table: Table<'d>, key: &str) -> Vec<Table<'d>> {
    table.get(key).map(|entry| document.tables(entry)).unwrap_or_default()
}

fn string(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<String> {
    Some(document.text(table.get(key)?)?.text.to_owned())
}

fn names(document: &mut Document<'_>, table: Table<'_>, key: &str, otherwise: &[&str]) -> Vec<String> {
    match table.get(key).and_then(|entry| document.one_or_more(entry)) {
        Some(texts) => texts.into_iter().map(|text| text.text.to_owned()).collect(),
        None => otherwise.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn word<T: Copy>(document: &mut Document<'_>, table: Table<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
    table.get(key).and_then(|entry| document.word(entry, words))
}

fn span(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Duration> {
    table.get(key).and_then(|entry| value::read(document, entry, value::span))
}

fn whole(document: &mut Document<'_>, entry: Entry<'_>) -> Option<u64> {
    match entry.value {
        DeValue::Integer(number) => {
            match whole_number(number).and_then(|number| u64::try_from(number).ok()) {
                Some(number) => Some(number),
                None => {
                    document.problem(entry.value_at, format!("`{}` is out of range", entry.key), None);
                    None
                }
            }
        }
        other => {
            document.wrong_kind(entry.key, entry.value_at, "a whole number", other);
            None
        }
    }
}

fn status(
    document: &mut Document<'_>,
    table: Table<'_>,
    key: &str,
    range: &std::ops::RangeInclusive<u16>,
) -> Option<u16> {
    let entry = table.get(key)?;
    let number = whole(document, entry)?;
    let status = u16::try_from(number).ok().filter(|status| range.contains(status));
    if status.is_none() {
        let message = format!("`{key}` is a status from {} to {}", range.start(), range.end());
        document.problem(entry.value_at, message, None);
    }
    status
}

fn place(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Place> {
    table.get(key).and_then(|entry| document.read(entry, Place::parse))
}

fn sources(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Vec<Source> {
    let Some(texts) = table.get(key).and_then(|entry| document.one_or_more(entry)) else { return Vec::new() };
    texts.into_iter().filter_map(|text| document.accept(text, Source::parse(text.text))).collect()
}

fn condition(document: &mut Document<'_>, table: Table<'_>) -> Condition {
    Condition {
        present: sources(document, table, "present"),
        absent: sources(document, table, "absent"),
        empty: sources(document, table, "empty"),
        equal: match section(document, table, "when") {
            Some(when) => when.entries().filter_map(|entry| equals(document, entry, Source::parse)).collect(),
            None => Vec::new(),
        },
    }
}

/// `"place" = literal` or a list of them.
fn equals<P, E: std::fmt::Display>(
    document: &mut Document<'_>,
    entry: Entry<'_>,
    read: impl FnOnce(&str) -> Result<P, E>,
) -> Option<(P, Vec<Literal>)> {
    let place = match read(entry.key) {
        Ok(place) => place,
        Err(error) => {
            document.problem(entry.key_at, error.to_string(), None);
            return None;
        }
    };
    let literals: Option<Vec<_>> = match entry.value {
        DeValue::Array(items) => items.iter().map(|item| Literal::from_toml(item.get_ref())).collect(),
        other => Literal::from_toml(other).map(|literal| vec![literal]),
    };
    match literals {
        Some(literals) if !literals.is_empty() => Some((place, literals)),
        _ => {
            document.problem(
                entry.value_at,
                "a place is compared with text, a number, true, false or a list of them",
                None,
            );
            None
        }
    }
}
