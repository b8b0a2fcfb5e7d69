//! Destinations: where effects happen, and what may be relied on there.

use super::secret_ref::{Keeper, SecretRef};
use super::value;
use crate::document::{Document, Entry, Table, Text, whole_number};
use crate::ids::DestinationName;
use crate::problem::Place;
use std::time::Duration;
use toml::de::DeValue;

/// How long a call may take where the destination does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// No effect outlives its invocation, and Lambda ends one after 15 minutes.
pub const LONGEST_TIMEOUT: Duration = Duration::from_secs(14 * 60);

/// How long after lease and deadline a call may still take effect, where the
/// destination does not say. It only makes a human wait before
/// `--did-not-happen`, so it errs on the long side.
pub const DEFAULT_SETTLING: Duration = Duration::from_secs(60);

/// A destination as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Its name.
    pub name: DestinationName,
    /// What is called.
    pub kind: DestinationKind,
    /// Secrets that sign the calls; the first signs, the others are of the past
    /// or the future.
    pub secrets: Vec<SecretRef>,
    /// How long the destination recognises a repeated key, counted from the
    /// first call. `None`: a call never repeats (INV-2).
    pub honours_key_for: Option<Duration>,
    /// What to do when nobody knows whether an effect happened.
    pub in_doubt: InDoubt,
    /// How long after lease and deadline a call may still take effect.
    pub settling: Duration,
    /// How long one call may take.
    pub timeout: Duration,
    /// HTTP answers that are certain even after a call in doubt (INV-6).
    pub decisive: Vec<u16>,
    /// Where it is declared.
    pub place: Place,
}

/// What a destination is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DestinationKind {
    /// An HTTP service, by its URL.
    Http(String),
    /// An SQS queue, by its name.
    Sqs(String),
    /// A Lambda function, by its name.
    Function(String),
    /// An EventBridge bus, by its name.
    EventBridge(String),
}

/// What to do with an effect that was begun and nobody knows whether it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InDoubt {
    /// Call again under the same key, while the destination honours it.
    Retry,
    /// Ask the destination.
    Probe,
    /// Leave it to a human.
    Park,
}

pub(super) const KEYS: &[&str] = &[
    "http",
    "sqs",
    "function",
    "eventbridge",
    "secrets",
    "honours_key_for",
    "in_doubt",
    "settling",
    "timeout",
    "decisive",
];
const KINDS: [&str; 4] = ["http", "sqs", "function", "eventbridge"];
const IN_DOUBT: [(&str, InDoubt); 3] =
    [("retry", InDoubt::Retry), ("probe", InDoubt::Probe), ("park", InDoubt::Park)];

/// Reads `NAME = { http = "..", .. }` of `[destination]`.
pub(super) fn read(document: &mut Document<'_>, name: Text<'_>, table: Table<'_>) -> Option<Destination> {
    document.only(table, "a destination", KEYS);
    let kind = kind(document, name, table);
    let secrets = table.get("secrets").and_then(|entry| own_secrets(document, entry));
    let honours_key_for = table.get("honours_key_for").and_then(|entry| positive_span(document, entry));
    let in_doubt = table.get("in_doubt").map_or(Some(InDoubt::Park), |entry| document.word(entry, &IN_DOUBT));
    let settling =
        table.get("settling").map_or(Some(DEFAULT_SETTLING), |entry| document.read(entry, value::span));
    let timeout = table.get("timeout").map_or(Some(DEFAULT_TIMEOUT), |entry| timeout(document, entry));
    let decisive = table.get("decisive").map_or(Some(Vec::new()), |entry| statuses(document, entry));
    let destination = Destination {
        name: name.text.into(),
        kind: kind?,
        secrets: secrets.unwrap_or_default(),
        honours_key_for,
        in_doubt: in_doubt?,
        settling: settling?,
        timeout: timeout?,
        decisive: decisive?,
        place: document.place(name.at),
    };
    check_policy(document, name, table, &destination);
    Some(destination)
}

fn kind(document: &mut Document<'_>, name: Text<'_>, table: Table<'_>) -> Option<DestinationKind> {
    let declared: Vec<Entry<'_>> = table.entries().filter(|entry| KINDS.contains(&entry.key)).collect();
    if declared.is_empty() {
        let message = format!("destination `{}` does not say what is called", name.text);
        document.absent(name.at, message, Some("http = \"https://host/path\"".to_owned()));
    }
    for more in declared.iter().skip(1) {
        let message = format!("destination `{}` is one of http, sqs, function, eventbridge", name.text);
        document.problem(more.key_at, message, Some("declare a destination for each".to_owned()));
    }
    let entry = *declared.first()?;
    if entry.key != "http" {
        document.unavailable(entry.key_at, &format!("a destination of kind `{}`", entry.key));
        let target = document.text(entry)?;
        if target.text.trim().is_empty() {
            document.problem(target.at, format!("`{}` is empty", entry.key), None);
        }
        let target = target.text.to_owned();
        return Some(match entry.key {
            "sqs" => DestinationKind::Sqs(target),
            "function" => DestinationKind::Function(target),
            _ => DestinationKind::EventBridge(target),
        });
    }
    document.read(entry, value::url).map(|url| DestinationKind::Http(url.to_owned()))
}

/// Reads a list of places of secrets, each with where it stands. A list that is
/// there is never empty (INV-10).
pub(super) fn secrets(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<(SecretRef, usize)>> {
    let texts = document.texts(entry)?;
    if texts.is_empty() {
        document.problem(entry.value_at, "`secrets` is empty", Some("secrets = [\"env:NAME\"]".to_owned()));
    }
    let mut secrets: Vec<(SecretRef, usize)> = Vec::with_capacity(texts.len());
    for text in texts {
        match SecretRef::parse(text.text) {
            Ok(secret) if secrets.iter().any(|(known, _)| *known == secret) => {
                document.problem(text.at, format!("`{secret}` stands twice"), None);
            }
            Ok(secret) => secrets.push((secret, text.at)),
            Err(refused) => {
                document.problem(text.at, refused.to_string(), Some("secrets = [\"env:NAME\"]".to_owned()));
            }
        }
    }
    Some(secrets)
}

/// The secrets that sign the calls to a destination.
fn own_secrets(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<SecretRef>> {
    let secrets = secrets(document, entry)?;
    for (secret, at) in &secrets {
        if secret.is_per_tenant() {
            document.problem(*at, "a destination has no tenant, so its secret names none", None);
        } else if secret.keeper() != Keeper::Environment {
            let text = secret.to_string();
            let keeper = text.split(':').next().unwrap_or_default();
            document.unavailable(*at, &format!("a destination's secret kept in `{keeper}:`"));
        }
    }
    Some(secrets.into_iter().map(|(secret, _)| secret).collect())
}

/// A span that is longer than nothing.
pub(super) fn positive_span(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Duration> {
    let span = document.read(entry, value::span)?;
    if span.is_zero() {
        document.problem(entry.value_at, format!("`{}` is longer than nothing", entry.key), None);
        return None;
    }
    Some(span)
}

fn timeout(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Duration> {
    let span = positive_span(document, entry)?;
    if span > LONGEST_TIMEOUT {
        let message = format!("`timeout` is at most {}", value::show_span(LONGEST_TIMEOUT));
        document.problem(entry.value_at, message, None);
        return None;
    }
    Some(span)
}

fn statuses(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<u16>> {
    let DeValue::Array(items) = entry.value else {
        document.wrong_kind(entry.key, entry.value_at, "a list of HTTP statuses", entry.value);
        return None;
    };
    let mut statuses = Vec::with_capacity(items.len());
    for item in items.iter() {
        let status = match item.get_ref() {
            DeValue::Integer(integer) => whole_number(integer).and_then(|status| u16::try_from(status).ok()),
            _ => None,
        };
        match status.filter(|status| (400..=599).contains(status)) {
            Some(status) => statuses.push(status),
            None => document.problem(
                item.span().start,
                "`decisive` lists HTTP statuses from 400 to 599: answers that certainly mean that nothing happened",
                None,
            ),
        }
    }
    Some(statuses)
}

/// What the policy needs to be kept (INV-2).
fn check_policy(document: &mut Document<'_>, name: Text<'_>, table: Table<'_>, destination: &Destination) {
    let policy_at = table.get("in_doubt").map_or(name.at, |entry| entry.value_at);
    match (destination.in_doubt, destination.honours_key_for) {
        (InDoubt::Probe, _) => document.unavailable(policy_at, "in_doubt = \"probe\""),
        // Where `honours_key_for` is there but malformed, that is the problem.
        (InDoubt::Retry, None) if table.get("honours_key_for").is_none() => {
            let message =
                format!("destination `{}` may be called again only while it honours the key", name.text);
            let remedy =
                "say how long it recognises a key, e.g. honours_key_for = \"24h\", or in_doubt = \"park\"";
            document.problem(policy_at, message, Some(remedy.to_owned()));
        }
        (InDoubt::Retry, Some(honoured)) if honoured <= destination.timeout => {
            let message = format!(
                "a call of {} never fits twice into the {} for which the key is honoured",
                value::show_span(destination.timeout),
                value::show_span(honoured)
            );
            document.problem(
                policy_at,
                message,
                Some("a shorter timeout, or in_doubt = \"park\"".to_owned()),
            );
        }
        _ => {}
    }
}
