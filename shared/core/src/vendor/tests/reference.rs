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

#[test]
fn the_reference_names_the_descriptions_that_have_a_list() {
    let names: Vec<&str> = builtin::names().filter(|name| builtin_vendor(name).list().is_some()).collect();
    let sentence = format!("These descriptions have one: {}.", names.join(", "));
    assert!(REFERENCE.contains(&sentence), "docs/vendors.md should say: {sentence}");
}

fn row(vendor: &Vendor) -> String {
    let summary = vendor.summary();
    let secret = match summary.secret {
        SecretNeed::Needed => "yes",
        SecretNeed::Published => "published",
        SecretNeed::None => "no",
    };
    let confirmed = if summary.confirmed { "yes" } else { "no" };
    let params = summary.configured_with();
    let cells = [
        &summary.name,
        confirmed,
        secret,
        &params,
        &summary.event_type,
        &summary.signed_by,
        summary.proves,
        &summary.signed_time,
        &summary.id,
        &summary.waits,
        &summary.repeats,
        &summary.resent,
        &summary.handshakes,
    ];
    format!("| {} |", cells.join(" | "))
}
