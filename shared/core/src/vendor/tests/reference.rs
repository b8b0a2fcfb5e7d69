//! The reference says what the parser does, no more and no less.

use super::*;
use std::collections::BTreeSet;

const REFERENCE: &str = include_str!("../../../../../docs/vendors.md");

/// The text under the heading that names the section.
fn section(name: &str) -> &'static str {
    let heading = format!("`{name}`");
    REFERENCE
        .split("\n## ")
        .find(|section| section.lines().next().is_some_and(|line| line.contains(&heading)))
        .unwrap_or_else(|| panic!("no section about {heading}"))
}

/// The keys in the first column of a section's table.
fn documented(section: &'static str) -> BTreeSet<&'static str> {
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next())
        .flat_map(|cell| cell.split(", "))
        .map(|key| key.trim_matches('`'))
        .collect()
}

#[test]
fn every_key_is_documented_and_every_documented_key_exists() {
    for (name, keys) in KEYS {
        assert_eq!(documented(section(name)), keys.iter().copied().collect(), "{name}");
    }
}

#[test]
fn every_word_of_the_language_is_documented() {
    let quoted: Vec<String> = [
        algorithm::DIGESTS.iter().map(|(word, _)| *word).collect::<Vec<_>>(),
        algorithm::ENCODINGS.iter().map(|(word, _)| *word).collect(),
        scheme::KEY_ENCODINGS.iter().map(|(word, _)| *word).collect(),
        scheme::JWT_ALGORITHMS.iter().map(|(word, _)| *word).collect(),
        scheme::UNITS.iter().map(|(word, _)| *word).collect(),
        shape::IDENTITIES.iter().map(|(word, _)| *word).collect(),
        shape::ORDERS.iter().map(|(word, _)| *word).collect(),
        shape::CONTENT_ENCODINGS.iter().map(|(word, _)| *word).collect(),
        describe::KIND_NAMES.to_vec(),
    ]
    .concat()
    .into_iter()
    .map(|word| format!("`\"{word}\"`"))
    .collect();
    let functions = template::FUNCTIONS.iter().map(|function| format!("`{{{function}"));
    for word in quoted.into_iter().chain(functions) {
        assert!(REFERENCE.contains(&word), "{word}");
    }
}

#[test]
fn the_example_is_a_description() {
    let example = REFERENCE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(Vendor::parse("acme", "docs/vendors.md", example).is_ok());
}

#[test]
fn the_table_of_vendors_is_that_of_the_descriptions() {
    let rows: Vec<String> = builtin::names().map(|name| row(&builtin_vendor(name))).collect();
    let table = rows.join("\n");
    assert!(REFERENCE.contains(&table), "docs/vendors.md should list:\n{table}");
}

/// Each once, in order.
fn distinct(texts: impl IntoIterator<Item = String>) -> String {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    if known.is_empty() { "none".to_owned() } else { known.join("; ") }
}

fn row(vendor: &Vendor) -> String {
    use crate::config::value::show_span;
    let unknown = || "unknown".to_owned();
    let span = |span: Option<std::time::Duration>, none: &str| match span {
        Some(span) if span.is_zero() => none.to_owned(),
        span => span.map_or_else(unknown, show_span),
    };
    let cells = [
        vendor.name().to_string(),
        if vendor.confirmed() { "yes" } else { "no" }.to_owned(),
        distinct(vendor.schemes.iter().map(|scheme| kind(&scheme.kind))),
        vendor.assurance().as_str().to_owned(),
        distinct(vendor.schemes.iter().map(bounds)),
        distinct(vendor.events.iter().map(identified)),
        span(vendor.reply().deadline, "none"),
        span(vendor.retry().horizon, "not"),
        span(vendor.retry().resend, "not"),
        distinct(vendor.handshakes.iter().map(|handshake| handshake.name.clone())),
    ];
    format!("| {} |", cells.join(" | "))
}

fn kind(kind: &scheme::Kind) -> String {
    use scheme::{Algorithm, Kind};
    let name = describe::kind_name(kind);
    let digests = |algorithm: &Algorithm| {
        let named = |digest: &algorithm::Digest| algorithm::DIGESTS.iter().find(|(_, known)| known == digest);
        let names: Vec<_> = algorithm.digests().iter().filter_map(named).map(|(name, _)| *name).collect();
        names.join("/")
    };
    match kind {
        Kind::Hmac(algorithm) | Kind::Hash(algorithm) | Kind::RsaPkcs1(algorithm) => {
            format!("{name} {}", digests(algorithm))
        }
        Kind::Jwt(algorithms) => {
            let named = |algorithm: &_| scheme::JWT_ALGORITHMS.iter().find(|(_, known)| known == algorithm);
            let names: Vec<_> = algorithms.iter().filter_map(named).map(|(name, _)| *name).collect();
            format!("{name} {}", names.join("/"))
        }
        _ => name.to_owned(),
    }
}

/// How far the signed time may be behind and ahead.
fn bounds(scheme: &scheme::Scheme) -> String {
    use crate::config::value::show_span;
    let Some(timestamp) = &scheme.timestamp else { return "none".to_owned() };
    let bound = |span: Option<_>| span.map_or_else(|| "any".to_owned(), show_span);
    match (bound(timestamp.past), bound(timestamp.future)) {
        (past, future) if past == "any" && future == "any" => past,
        (past, future) if past == future => format!("±{past}"),
        (past, future) => format!("-{past} +{future}"),
    }
}

/// What identifies the events of one form.
fn identified(shape: &shape::EventShape) -> String {
    let each = shape.each.as_ref().map(|each| format!("each `{each}`: ")).unwrap_or_default();
    let parts: Vec<String> =
        shape.id.iter().map(|part| format!("`{}`", part.to_string().replace(" | ", "` or `"))).collect();
    let id = match (shape.identity, parts.is_empty(), shape.or_digest) {
        (shape::IdentityForm::None, ..) => "a ping".to_owned(),
        (_, true, _) => "digest (weak)".to_owned(),
        (shape::IdentityForm::Weak, ..) => format!("{} (weak)", parts.join(" + ")),
        (_, _, true) => format!("{}, else digest (weak)", parts.join(" + ")),
        _ => parts.join(" + "),
    };
    format!("{each}{id}")
}
