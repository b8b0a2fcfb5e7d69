//! `[[scheme]]`: how deliveries are verified.

use super::super::algorithm::{DIGESTS, ENCODINGS};
use super::super::place::{Place, Term};
use super::super::scheme::{Assurance, Binding, Condition, Kind, Scheme, Timestamp, UNITS};
use super::super::template::{Part, Template};
use super::{condition, equals, key, place, section, signature, word};
use crate::document::{Document, Table};
use crate::json::EachPath;
use std::time::Duration;

pub(super) const SCHEME: &[&str] = &[
    "name",
    "present",
    "absent",
    "empty",
    "when",
    "kind",
    "alg",
    "key",
    "signature",
    "message",
    "timestamp",
    "each",
    "require",
    "binding",
    "claims",
    "url_variants",
    "assurance",
];
pub(super) const TIMESTAMP: &[&str] = &["from", "unit", "past", "future"];
pub(super) const BINDING: &[&str] = &["from", "digest", "encoding"];

pub(super) fn scheme(document: &mut Document<'_>, table: Table<'_>) -> Option<Scheme> {
    document.only(table, "a scheme", SCHEME);
    let kind = signature::kind(document, table);
    let message = match table.get("message") {
        Some(entry) => document.read(entry, Template::parse),
        None => None,
    };
    let binding = binding(document, table);
    let signature = signature::signature(document, table);
    let key = key::key(document, table);
    let name = table.get("name").and_then(|entry| {
        let name = document.text(entry)?;
        if name.text.starts_with("sekali.") {
            document.problem(name.at, "names that begin with `sekali.` are our own", None);
        }
        Some(name.text.to_owned())
    });
    let condition: Condition = condition(document, table);
    let each = table.get("each").and_then(|entry| document.read(entry, EachPath::parse));
    let require = match section(document, table, "require") {
        Some(require) => {
            require.entries().filter_map(|entry| equals(document, entry, Place::parse)).collect()
        }
        None => Vec::new(),
    };
    let timestamp = timestamp(document, table);
    let claims = claims(document, table);
    let url_variants = table.get("url_variants").and_then(|entry| document.truth(entry)).unwrap_or(false);
    let lowered = word(document, table, "assurance", &[("low", Assurance::Low), ("high", Assurance::High)]);
    let kind = kind?;
    needs_message(document, table, &kind);
    let message = message.unwrap_or(Template { parts: Vec::new() });
    let proven = Scheme::proven(&kind, &message, binding.as_ref());
    let scheme = Scheme {
        name: name.unwrap_or_else(|| signature::kind_name(&kind).to_owned()),
        condition,
        kind,
        key,
        signature,
        message,
        timestamp,
        each,
        require,
        binding,
        claims,
        url_variants,
        assurance: lowered.map_or(proven, |lowered| lowered.min(proven)),
    };
    check(document, table, &scheme);
    Some(scheme)
}

fn needs_message(document: &mut Document<'_>, table: Table<'_>, kind: &Kind) {
    let signed = !matches!(kind, Kind::Jwt(_) | Kind::Token | Kind::Basic | Kind::None);
    if signed && table.get("message").is_none() {
        document.absent(table.at, "`message` is missing: what is signed", None);
    }
    if !signed && let Some(entry) = table.get("message") {
        document.problem(entry.key_at, "`message` has no meaning for this kind", None);
    }
    let from = section(document, table, "signature").and_then(|signature| signature.get("from"));
    if from.is_none() && !matches!(kind, Kind::Basic | Kind::None) {
        document.absent(table.at, "`signature.from` is missing: where the signature stands", None);
    }
}

/// What can be known to be wrong before any delivery comes.
fn check(document: &mut Document<'_>, table: Table<'_>, scheme: &Scheme) {
    let at = |key: &str| table.get(key).map_or(table.at, |entry| entry.key_at);
    if let Some(timestamp) = &scheme.timestamp
        && !scheme.signs(&timestamp.from)
    {
        let message = format!("`{}` is not among what is signed: anybody could change it", timestamp.from);
        document.problem(
            at("timestamp"),
            message,
            Some("put it into `message` or leave the timestamp out".into()),
        );
    }
    if let Some(binding) = &scheme.binding
        && !matches!(scheme.kind, Kind::Jwt(_))
        && !scheme.message.parts.iter().any(|part| matches!(part, Part::Url | Part::Target))
        && !scheme.signs(&binding.from)
    {
        let message = format!("`{}` is not among what is signed: it binds nothing", binding.from);
        document.problem(at("binding"), message, None);
    }
    let hashed = matches!(scheme.kind, Kind::Hash(_));
    if hashed != scheme.message.parts.contains(&Part::Secret) {
        let message = match hashed {
            true => "a plain digest proves nothing unless `{secret}` is in `message`",
            false => "`{secret}` belongs into the message of kind = \"hash\" only",
        };
        document.problem(at("message"), message, None);
    }
    let elements = scheme.message.places().chain(scheme.timestamp.as_ref().map(|timestamp| &timestamp.from));
    for place in elements.filter(|place| matches!(place, Place::Element(_))) {
        if scheme.signature.list.is_none() {
            let message = format!("`{place}` needs a signature that is a list: `items`, `pair` and `pick`");
            document.problem(at("signature"), message, None);
        }
    }
}

fn timestamp(document: &mut Document<'_>, table: Table<'_>) -> Option<Timestamp> {
    let table = section(document, table, "timestamp")?;
    document.only(table, "`timestamp`", TIMESTAMP);
    let from = place(document, table, "from");
    let unit = word(document, table, "unit", UNITS);
    for key in ["from", "unit"] {
        if table.get(key).is_none() {
            document.absent(table.at, format!("`timestamp.{key}` is missing"), None);
        }
    }
    let past = bound(document, table, "past");
    let future = if table.get("future").is_some() { bound(document, table, "future") } else { past };
    Some(Timestamp { from: from?, unit: unit?, past, future })
}

/// A span, or `"any"` where the vendor sets no bound. Left out, the future is
/// bounded like the past.
fn bound(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Duration> {
    let entry = table.get(key)?;
    match document.text(entry)?.text {
        "any" => None,
        _ => super::span(document, table, key),
    }
}

fn binding(document: &mut Document<'_>, table: Table<'_>) -> Option<Binding> {
    let table = section(document, table, "binding")?;
    document.only(table, "`binding`", BINDING);
    let from = place(document, table, "from");
    let digest = word(document, table, "digest", DIGESTS);
    let encoding = word(document, table, "encoding", ENCODINGS);
    for key in BINDING {
        if table.get(key).is_none() {
            document.absent(table.at, format!("`binding.{key}` is missing"), None);
        }
    }
    Some(Binding { from: from?, digest: digest?, encoding: encoding? })
}

/// `claims.iss = "param:api_key"` or `claims.iss = "const:netlify"`.
fn claims(document: &mut Document<'_>, table: Table<'_>) -> Vec<(String, Term)> {
    let Some(claims) = section(document, table, "claims") else { return Vec::new() };
    let mut wanted = Vec::new();
    for entry in claims.entries() {
        if let Some(term) = document.read(entry, Term::parse) {
            wanted.push((entry.key.to_owned(), term));
        }
    }
    wanted
}
