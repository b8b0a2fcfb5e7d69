//! Actions: what makes two requests for an effect the same, and where it is
//! asked for.

use super::destination::{Destination, positive_span};
use crate::document::{Document, Entry, Table, Text};
use crate::ids::{ActionName, DestinationName, FieldName};
use crate::problem::{Place, nearest};
use std::collections::BTreeMap;
use std::time::Duration;

/// An action as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Its name.
    pub name: ActionName,
    /// The fields whose values are its key. `None`: once per event.
    pub key: Option<Vec<FieldName>>,
    /// The destination that is called.
    pub to: DestinationName,
    /// How long a finished action is remembered; `None`: for ever (INV-9).
    pub keep_for: Option<Duration>,
    /// Where it is declared.
    pub place: Place,
}

pub(super) const KEYS: &[&str] = &["key", "to", "keep_for"];

/// Reads `NAME = { key = [..], to = ".." }` of `[action]`.
pub(super) fn read(
    document: &mut Document<'_>,
    destinations: &BTreeMap<DestinationName, Option<Destination>>,
    name: Text<'_>,
    table: Table<'_>,
) -> Option<Action> {
    document.only(table, "an action", KEYS);
    let key = table.get("key").map(|entry| key_fields(document, entry));
    let keep_for = table.get("keep_for").and_then(|entry| positive_span(document, entry));
    let Some(to) = table.get("to") else {
        let message = format!("action `{}` does not say where it goes", name.text);
        document.absent(name.at, message, Some("to = \"a destination\"".to_owned()));
        return None;
    };
    let to = document.text(to)?;
    if !destinations.contains_key(to.text) {
        let remedy = match nearest(to.text, destinations.keys().map(DestinationName::as_str)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("[destination] {} = {{ http = \"https://host/path\" }}", to.text),
        };
        document.absent(to.at, format!("destination \"{}\" is not declared", to.text), Some(remedy));
    }
    let key = key.map_or(Some(None), |fields| fields.map(Some))?;
    Some(Action { name: name.text.into(), key, to: to.text.into(), keep_for, place: document.place(name.at) })
}

fn key_fields(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<FieldName>> {
    let fields = document.texts(entry)?;
    if fields.is_empty() {
        // An empty key would make every event of every vendor the same action (INV-7).
        let remedy = "name the fields that make it the same action, or leave `key` out for once per event";
        document.problem(entry.value_at, "`key` is empty", Some(remedy.to_owned()));
        return None;
    }
    for (index, field) in fields.iter().enumerate() {
        if fields[..index].iter().any(|before| before.text == field.text) {
            document.problem(field.at, format!("`{}` stands twice in the key", field.text), None);
        }
    }
    Some(fields.iter().map(|field| field.text.into()).collect())
}
