//! `[[handshake]]`: requests that are no events and have their own answer.

use super::super::shape::{Answer, Content, Handshake, JsonAnswer};
use super::super::template::Template;
use super::{condition, names, section, sources, status, string};
use crate::document::{Document, Table};
use crate::json::Literal;
use crate::source::Source;

pub(super) const HANDSHAKE: &[&str] = &[
    "name", "method", "present", "absent", "empty", "when", "signed", "required", "check", "refuse",
    "capture", "confirm", "hosts", "reply",
];
pub(super) const ANSWER: &[&str] = &["status", "content_type", "body", "json", "headers"];

pub(super) fn handshake(document: &mut Document<'_>, table: Table<'_>) -> Handshake {
    document.only(table, "a handshake", HANDSHAKE);
    let signed = table.get("signed").and_then(|entry| document.truth(entry));
    if table.get("signed").is_none() {
        let remedy = "true: answered only once the signature is right";
        document.absent(table.at, "`signed` is missing", Some(remedy.into()));
    }
    let handshake = Handshake {
        name: string(document, table, "name").unwrap_or_else(|| "handshake".to_owned()),
        method: string(document, table, "method").unwrap_or_else(|| "POST".to_owned()),
        condition: condition(document, table),
        signed: signed.unwrap_or(true),
        required: sources(document, table, "required"),
        check: checks(document, table),
        refuse: status(document, table, "refuse", &super::REFUSALS).unwrap_or(403),
        capture: source(document, table, "capture"),
        confirm: source(document, table, "confirm"),
        hosts: names(document, table, "hosts", &[]),
        answer: answer(document, table),
    };
    check_confirmation(document, table, &handshake);
    handshake
}

/// The call is made later and from the stored event: it goes to a pinned host,
/// and only what the body says is known by then.
fn check_confirmation(document: &mut Document<'_>, table: Table<'_>, handshake: &Handshake) {
    let at = |key: &str| table.get(key).map_or(table.at, |entry| entry.key_at);
    match (&handshake.confirm, handshake.hosts.is_empty()) {
        (Some(_), true) => {
            let remedy = "hosts = [\"confirm.example.com\"]";
            document.absent(at("confirm"), "`confirm` needs `hosts`: who may be called", Some(remedy.into()));
        }
        (None, false) => document.problem(at("hosts"), "`hosts` needs `confirm`", None),
        _ => {}
    }
    let read = handshake.condition.sources().chain(&handshake.required);
    let mut read = read.chain(handshake.check.iter().map(|(source, _)| source)).chain(&handshake.confirm);
    if handshake.confirm.is_some() && (!handshake.signed || read.any(|source| !source.is_body())) {
        document.problem(at("confirm"), "what is confirmed is `signed` and reads nothing but the body", None);
    }
}

fn source(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Source> {
    table.get(key).and_then(|entry| document.read(entry, Source::parse))
}

/// `"query:hub.verify_token" = "verify_token"`: a place and a parameter.
fn checks(document: &mut Document<'_>, table: Table<'_>) -> Vec<(Source, String)> {
    let Some(table) = section(document, table, "check") else { return Vec::new() };
    let mut checks = Vec::new();
    for entry in table.entries() {
        let param = document.text(entry);
        match Source::parse(entry.key) {
            Ok(source) => checks.extend(param.map(|param| (source, param.text.to_owned()))),
            Err(error) => document.problem(entry.key_at, error.to_string(), None),
        }
    }
    checks
}

fn answer(document: &mut Document<'_>, table: Table<'_>) -> Answer {
    let mut answer = Answer { status: 200, content_type: None, body: Content::Empty, headers: Vec::new() };
    let Some(table) = section(document, table, "reply") else { return answer };
    document.only(table, "`reply`", ANSWER);
    answer.status = status(document, table, "status", &(200..=299)).unwrap_or(answer.status);
    answer.content_type = string(document, table, "content_type");
    if let Some(entry) = table.get("body") {
        answer.body = document.read(entry, Template::parse).map_or(Content::Empty, Content::Text);
        refuse_page(document, table, &answer);
    }
    if let Some(json) = section(document, table, "json") {
        if let Some(entry) = table.get("body") {
            document.problem(entry.key_at, "an answer has either `body` or `json`", None);
        }
        answer.body = Content::Json(members(document, json));
    }
    if let Some(headers) = section(document, table, "headers") {
        for entry in headers.entries() {
            answer.headers.extend(
                document.read(entry, Template::parse).map(|template| (entry.key.to_owned(), template)),
            );
        }
    }
    answer
}

/// What a stranger wrote is given back as text, and never as a page that a
/// browser would run.
fn refuse_page(document: &mut Document<'_>, table: Table<'_>, answer: &Answer) {
    let Content::Text(template) = &answer.body else { return };
    let echoes = template.places().next().is_some();
    let media = answer.content_type.as_deref().and_then(|media| media.split(';').next()).map(str::trim);
    let Some(entry) = table.get("content_type").filter(|_| echoes) else { return };
    if !matches!(media, Some("text/plain" | "application/json")) {
        let message =
            "a value of the request is answered as `text/plain` or `application/json`, never as a page";
        document.problem(entry.value_at, message, Some("content_type = \"text/plain\"".to_owned()));
    }
}

fn members(document: &mut Document<'_>, table: Table<'_>) -> Vec<(String, JsonAnswer)> {
    let mut members = Vec::new();
    for entry in table.entries() {
        let answer = match Literal::from_toml(entry.value) {
            Some(Literal::Text(_)) => document.read(entry, Template::parse).map(JsonAnswer::Template),
            Some(literal) => Some(JsonAnswer::Literal(literal.to_string())),
            None => {
                document.problem(entry.value_at, "a member is text, a number, true or false", None);
                None
            }
        };
        members.extend(answer.map(|answer| (entry.key.to_owned(), answer)));
    }
    members
}
