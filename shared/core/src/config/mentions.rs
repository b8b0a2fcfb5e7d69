//! What a file names, whether or not it can be used: so that a malformed rule
//! does not make what it asks for seem unused.

use super::File;
use crate::document::{Document, Entry, Table};
use crate::problem::nearest;
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeValue;

/// The names in a file and what they are named for. A name that is nearly a
/// declared one is taken for a slip of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// How many endpoints there are.
    pub endpoints: usize,
    /// How many rules they have.
    pub rules: usize,
    broken: bool,
    /// What rules say of the resources of each kind.
    said: BTreeMap<String, Said>,
    /// What they say where the kind cannot be read: it may be any.
    said_of_any: Option<Said>,
    actions: BTreeSet<String>,
    destinations: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Said {
    statuses: BTreeSet<String>,
    /// A status is read from the vendor's API, or cannot be read here.
    others: bool,
}

impl Mentions {
    /// Reads them off, without judging anything.
    pub(super) fn of(endpoints: File<'_>) -> Self {
        let (document, root) = Document::parse(endpoints.0, endpoints.1);
        let root = Table::root(&root);
        let names =
            |section: &str| -> BTreeSet<&str> { tables(root, section).map(|(name, _)| name).collect() };
        let (kinds, declared, targets) = (names("resource"), names("action"), names("destination"));
        let mut mentions = Self { broken: document.is_broken(), ..Self::default() };
        for (_, action) in tables(root, "action") {
            let to = action.get("to").and_then(text);
            mentions.destinations.extend(to.map(|to| meant(to, &targets)));
        }
        for (_, endpoint) in tables(root, "endpoint") {
            mentions.endpoints += 1;
            let mut said = Said::default();
            for rule in rules(endpoint) {
                mentions.rules += 1;
                said.add(rule);
                let action =
                    rule.get("action").and_then(table).into_iter().flat_map(|action| action.entries());
                mentions.actions.extend(action.map(|action| meant(action.key, &declared)));
            }
            mentions.add(endpoint, said, &kinds);
        }
        mentions
    }

    fn add(&mut self, endpoint: Table<'_>, said: Said, kinds: &BTreeSet<&str>) {
        let Some(entry) = endpoint.get("resource") else { return };
        let named = table(entry).and_then(|named| named.entries().next());
        let kind = named.map(|named| meant(named.key, kinds));
        match kind.filter(|kind| kinds.contains(kind.as_str())) {
            Some(kind) => self.said.entry(kind).or_default().join(said),
            None => self.said_of_any.get_or_insert_default().join(said),
        }
    }

    /// Whether these are all: behind an error of syntax some may be lost.
    pub(super) fn are_all(&self) -> bool {
        !self.broken
    }

    /// Whether an endpoint may have a resource of the kind.
    pub(super) fn has_resource(&self, kind: &str) -> bool {
        self.said.contains_key(kind) || self.said_of_any.is_some()
    }

    /// The statuses that rules give to resources of the kind; `None` where it
    /// may be any of them.
    pub(super) fn statuses<'d>(&self, kind: &str, declared: &[&'d str]) -> Option<BTreeSet<&'d str>> {
        let said: Vec<&Said> = self.said.get(kind).into_iter().chain(&self.said_of_any).collect();
        if said.iter().any(|said| said.others) {
            return None;
        }
        let given = said.iter().flat_map(|said| &said.statuses);
        Some(given.filter_map(|status| nearest(status, declared.iter().copied())).collect())
    }

    /// Whether a rule asks for the action.
    pub(super) fn asks_for(&self, action: &str) -> bool {
        self.actions.contains(action)
    }

    /// Whether an action goes to the destination.
    pub(super) fn calls(&self, destination: &str) -> bool {
        self.destinations.contains(destination)
    }
}

impl Said {
    fn add(&mut self, rule: Table<'_>) {
        match rule.get("status").map(text) {
            None => {}
            Some(Some(status)) if !status.starts_with("fetch:") => {
                self.statuses.insert(status.to_owned());
            }
            Some(_) => self.others = true,
        }
    }

    fn join(&mut self, more: Self) {
        self.statuses.extend(more.statuses);
        self.others |= more.others;
    }
}

/// The tables of a section, by name.
fn tables<'d>(root: Table<'d>, section: &str) -> impl Iterator<Item = (&'d str, Table<'d>)> + use<'d> {
    let section = root.get(section).and_then(table);
    let entries = section.into_iter().flat_map(|section| section.entries());
    entries.filter_map(|entry| Some((entry.key, table(entry)?)))
}

fn rules<'d>(endpoint: Table<'d>) -> impl Iterator<Item = Table<'d>> + use<'d> {
    let items = endpoint.get("rule").and_then(|entry| match entry.value {
        DeValue::Array(items) => Some(items.iter()),
        _ => None,
    });
    items.into_iter().flatten().filter_map(|item| match item.get_ref() {
        DeValue::Table(entries) => Some(Table::of(item.span().start, entries)),
        _ => None,
    })
}

fn table(entry: Entry<'_>) -> Option<Table<'_>> {
    match entry.value {
        DeValue::Table(entries) => Some(Table::of(entry.key_at, entries)),
        _ => None,
    }
}

fn text(entry: Entry<'_>) -> Option<&str> {
    match entry.value {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// The declared name that is meant.
fn meant(name: &str, declared: &BTreeSet<&str>) -> String {
    match declared.contains(name) {
        true => name,
        false => nearest(name, declared.iter().copied()).unwrap_or(name),
    }
    .to_owned()
}
