//! How a destination is asked whether an effect happened, and what its
//! answers mean.

use super::{InDoubt, statuses};
use crate::document::{Document, Entry, Table, Text};
use crate::json::{self, JsonText, Literal};
use crate::source::Pointer;
use crate::url_template::UrlTemplate;
use toml::de::DeValue;

/// The question, and what its answers mean. Every other answer leaves open
/// what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What is asked; its one part is the key.
    pub url: UrlTemplate<ProbePart>,
    /// The answers that say: it happened.
    pub done: Telling,
    /// The answers that say: it has not happened by now.
    pub not_done: Telling,
}

/// What braces in the URL of a probe stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePart {
    /// The idempotency key of the call.
    Key,
}

/// Answers that tell one thing: of one of these statuses, and with a body in
/// which all of these hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// Any of these.
    pub statuses: Vec<u16>,
    /// All of these; where there are any, the body is JSON.
    pub when: Vec<(Pointer, Expected)>,
}

/// What stands at a place of the answer's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// This value.
    Literal(Literal),
    /// The idempotency key that was asked about.
    Key,
    /// A list without elements: a search found nothing.
    EmptyList,
}

/// What an answer says about an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// It happened.
    Done,
    /// It has not happened by now.
    NotDone,
    /// Neither, or both.
    Neither,
}

impl Probe {
    /// What an answer says. One that says both says nothing (INV-6).
    pub fn says(&self, status: u16, body: &[u8], key: &str) -> Says {
        match (self.done.tells(status, body, key), self.not_done.tells(status, body, key)) {
            (true, false) => Says::Done,
            (false, true) => Says::NotDone,
            (true, true) | (false, false) => Says::Neither,
        }
    }
}

impl Telling {
    fn tells(&self, status: u16, body: &[u8], key: &str) -> bool {
        self.statuses.contains(&status) && (self.when.is_empty() || self.hold(body, key).unwrap_or(false))
    }

    /// `None`: the body is not JSON.
    fn hold(&self, body: &[u8], key: &str) -> Option<bool> {
        let pointers: Vec<&Pointer> = self.when.iter().map(|(pointer, _)| pointer).collect();
        let values = json::read(json::text(body).ok()?, &pointers).ok()?;
        Some(values.iter().zip(&self.when).all(|(value, (_, expected))| {
            value
                .as_ref()
                .and_then(|value| JsonText::from_json(value.json).ok())
                .is_some_and(|value| expected.is(&value, key))
        }))
    }
}

impl Expected {
    fn is(&self, value: &JsonText, key: &str) -> bool {
        match self {
            Self::Literal(literal) => value.equals(literal),
            Self::Key => value.plain().is_some_and(|text| text == key),
            Self::EmptyList => value.is_empty_list(),
        }
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Array(items) if items.is_empty() => Some(Self::EmptyList),
            DeValue::String(text) if text == "{key}" => Some(Self::Key),
            value => Literal::from_toml(value).map(Self::Literal),
        }
    }
}

const KEYS: [&str; 5] = ["url", "done", "done_when", "not_done", "not_done_when"];
const EXAMPLE: &str = "probe = { url = \"https://host/tasks/{key}\", done = [200], not_done = [404] }";

/// Reads `probe = { .. }`, which is there exactly where the policy asks.
pub(super) fn read(
    document: &mut Document<'_>,
    (name, table): (Text<'_>, Table<'_>),
    in_doubt: Option<InDoubt>,
) -> Option<Probe> {
    let entry = table.get("probe");
    match (in_doubt, entry) {
        (Some(InDoubt::Probe), None) => {
            let message = format!("destination `{}` does not say how it is asked", name.text);
            let at = table.get("in_doubt").map_or(name.at, |entry| entry.value_at);
            document.absent(at, message, Some(EXAMPLE.to_owned()));
            None
        }
        (Some(InDoubt::Retry | InDoubt::Park), Some(entry)) => {
            let message = "`probe` is asked only where in_doubt = \"probe\"";
            document.problem(entry.key_at, message, Some("in_doubt = \"probe\", or leave it out".to_owned()));
            None
        }
        (_, Some(entry)) => question(document, entry),
        (_, None) => None,
    }
}

fn question(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Probe> {
    let table = document.table(entry)?;
    document.only(table, "a probe", &KEYS);
    let Some(url) = table.get("url") else {
        document.absent(entry.value_at, "the probe has no `url`", Some(EXAMPLE.to_owned()));
        return None;
    };
    let text = document.text(url)?;
    let part = |part: &str| match part {
        "key" => Ok(ProbePart::Key),
        _ => Err("only `{key}`, the idempotency key, is known here".to_owned()),
    };
    let url = match UrlTemplate::with_parts(text.text, part) {
        Ok(url) => Some(url),
        Err(refused) => {
            let remedy = Some("\"https://host/tasks/{key}\"".to_owned());
            document.problem(text.at, refused.to_string(), remedy);
            None
        }
    };
    let done = telling(document, table, ("done", "done_when"), 200)?;
    // A search that found nothing answers 200 as well.
    let nothing = if table.get("not_done_when").is_some() { 200 } else { 404 };
    let not_done = telling(document, table, ("not_done", "not_done_when"), nothing)?;
    let both = done.statuses.iter().find(|status| not_done.statuses.contains(status));
    if let Some(both) = both.filter(|_| done.when.is_empty() || not_done.when.is_empty()) {
        let message = format!("{both} alone cannot mean both that it happened and that it has not");
        let remedy = "done_when = { \"/data/0/reference\" = \"{key}\" }, not_done_when = { \"/data\" = [] }";
        document.problem(entry.value_at, message, Some(remedy.to_owned()));
    }
    Some(Probe { url: url?, done, not_done })
}

/// Statuses that an answer may have, and what stands in its body. A server
/// that is overloaded or broken says nothing about the effect, so 429 and 5xx
/// mean nothing (INV-6).
fn telling(
    document: &mut Document<'_>,
    table: Table<'_>,
    (statuses, when): (&str, &str),
    usual: u16,
) -> Option<Telling> {
    let tells = |status| (200..=499).contains(&status) && status != 429;
    let expected = "lists HTTP statuses from 200 to 499 without 429";
    let statuses = match table.get(statuses) {
        None => vec![usual],
        Some(entry) => statuses::read(document, entry, tells, expected)?,
    };
    let when = match table.get(when) {
        None => Vec::new(),
        Some(entry) => places(document, entry)?,
    };
    Some(Telling { statuses, when })
}

fn places(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<(Pointer, Expected)>> {
    let mut places = Vec::new();
    for place in document.table(entry)?.entries() {
        let pointer = document.accept(Text { text: place.key, at: place.key_at }, Pointer::parse(place.key));
        let expected = Expected::from_toml(place.value);
        if expected.is_none() {
            let message = format!(
                "the right side of `{}` is text, a number, true or false, \"{{key}}\" for the key, or [] for an empty list",
                entry.key
            );
            document.problem(place.value_at, message, None);
        }
        places.extend(pointer.zip(expected));
    }
    Some(places)
}
