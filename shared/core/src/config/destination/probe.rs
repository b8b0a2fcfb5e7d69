//! How a destination is asked whether an effect happened.

use super::{InDoubt, statuses};
use crate::document::{Document, Entry, Table, Text};
use crate::url_template::UrlTemplate;

/// The question, and what its answers mean. Every other answer leaves open
/// what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What is asked; its one part is the key.
    pub url: UrlTemplate<ProbePart>,
    /// Statuses that say: it happened.
    pub done: Vec<u16>,
    /// Statuses that say: it has not happened by now.
    pub not_done: Vec<u16>,
}

/// What braces in the URL of a probe stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePart {
    /// The idempotency key of the call.
    Key,
}

const KEYS: [&str; 3] = ["url", "done", "not_done"];
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
    let done = table.get("done").map_or(Some(vec![200]), |entry| telling(document, entry))?;
    let not_done = table.get("not_done").map_or(Some(vec![404]), |entry| telling(document, entry))?;
    if let Some(both) = done.iter().find(|status| not_done.contains(status)) {
        let message = format!("{both} cannot mean both that it happened and that it has not");
        document.problem(entry.value_at, message, None);
    }
    Some(Probe { url: url?, done, not_done })
}

/// Statuses that an answer may have. A server that is overloaded or broken
/// says nothing about the effect, so 429 and 5xx mean nothing (INV-6).
fn telling(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<u16>> {
    let tells = |status| (200..=499).contains(&status) && status != 429;
    statuses::read(document, entry, tells, "lists HTTP statuses from 200 to 499 without 429")
}
