//! Destinations: where effects happen, and what may be relied on there.

mod decisive;
mod probe;
mod promise;
mod statuses;
mod target;

pub use decisive::Decisive;
pub use probe::{Expected, Probe, ProbePart, Says, Telling};
pub use target::{AwsTarget, DestinationKind, FIFO_WINDOW};

use super::secret_ref::SecretRef;
use super::value;
use crate::document::{Document, Entry, Table, Text};
use crate::ids::DestinationName;
use crate::problem::Place;
use std::time::Duration;

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
    /// Secrets that sign the calls, each with a signature of its own, so that
    /// a receiver may still know the old one or already the new one.
    pub secrets: Vec<SecretRef>,
    /// How long the destination recognises a repeated key, counted from the
    /// first call. `None`: a call never repeats (INV-2).
    pub honours_key_for: Option<Duration>,
    /// What to do when nobody knows whether an effect happened.
    pub in_doubt: InDoubt,
    /// How it is asked, where it is.
    pub probe: Option<Probe>,
    /// How long after lease and deadline a call may still take effect.
    pub settling: Duration,
    /// How long one call may take.
    pub timeout: Duration,
    /// Answers that are certain even after a call in doubt (INV-6).
    pub decisive: Decisive,
    /// Where it is declared.
    pub place: Place,
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
    "code",
    "secrets",
    "honours_key_for",
    "in_doubt",
    "probe",
    "settling",
    "timeout",
    "decisive",
];
const IN_DOUBT: [(&str, InDoubt); 3] =
    [("retry", InDoubt::Retry), ("probe", InDoubt::Probe), ("park", InDoubt::Park)];

/// Reads `NAME = { http = "..", .. }` of `[destination]`.
pub(super) fn read(document: &mut Document<'_>, name: Text<'_>, table: Table<'_>) -> Option<Destination> {
    document.only(table, "a destination", KEYS);
    let kind = target::read(document, name, table);
    let secrets = table.get("secrets").and_then(|entry| own_secrets(document, kind.as_ref(), entry));
    let honours_key_for = promise::honours_key_for(document, kind.as_ref(), table.get("honours_key_for"));
    let in_doubt = table.get("in_doubt").map_or(Some(InDoubt::Park), |entry| document.word(entry, &IN_DOUBT));
    let probe = probe::read(document, (name, table), in_doubt);
    let settling = table
        .get("settling")
        .map_or(Some(DEFAULT_SETTLING), |entry| value::read(document, entry, value::span));
    let timeout = table.get("timeout").map_or(Some(DEFAULT_TIMEOUT), |entry| timeout(document, entry));
    let decisive = table
        .get("decisive")
        .map_or(Some(Decisive::default()), |entry| decisive::read(document, kind.as_ref(), entry));
    let destination = Destination {
        name: name.text.into(),
        kind: kind?,
        secrets: secrets.unwrap_or_default(),
        honours_key_for,
        in_doubt: in_doubt?,
        probe,
        settling: settling?,
        timeout: timeout?,
        decisive: decisive?,
        place: document.place(name.at),
    };
    promise::check(document, name, table, &destination);
    Some(destination)
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
fn own_secrets(
    document: &mut Document<'_>,
    kind: Option<&DestinationKind>,
    entry: Entry<'_>,
) -> Option<Vec<SecretRef>> {
    if !matches!(kind, None | Some(DestinationKind::Http(_))) {
        let message = "only calls over HTTP are signed with a secret: `secrets` has no place here";
        document.problem(
            entry.key_at,
            message,
            Some("leave it out; AWS knows the function by its role".to_owned()),
        );
    }
    let secrets = secrets(document, entry)?;
    for (secret, at) in &secrets {
        if secret.is_per_tenant() {
            document.problem(*at, "a destination has no tenant, so its secret names none", None);
        }
    }
    Some(secrets.into_iter().map(|(secret, _)| secret).collect())
}

/// A span that is longer than nothing.
pub(super) fn positive_span(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Duration> {
    let span = value::read(document, entry, value::span)?;
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
