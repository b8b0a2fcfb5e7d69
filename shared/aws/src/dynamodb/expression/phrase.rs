//! The grammar of an expression: clauses, conditions, and the terms that
//! they speak of.

use super::{Change, Table};
use crate::dynamodb::item::attribute::{Attributes, SCHEMA, SCHEMA_WRITTEN, number};
use aws_sdk_dynamodb::types::AttributeValue;
use std::collections::BTreeMap;

/// What the `#names` and `:values` of an expression stand for. Every name is
/// a placeholder, since many of ours are reserved words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Terms {
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) values: BTreeMap<String, AttributeValue>,
}

/// An expression in the making.
#[derive(Default)]
pub(super) struct Phrase {
    pub(super) set: Vec<String>,
    remove: Vec<String>,
    add: Vec<String>,
    pub(super) conditions: Vec<String>,
    pub(super) terms: Terms,
}

impl Phrase {
    pub(super) fn name(&mut self, attribute: &str) -> String {
        let name = format!("#{attribute}");
        self.terms.names.insert(name.clone(), attribute.to_owned());
        name
    }

    pub(super) fn value(&mut self, label: &str, value: AttributeValue) -> String {
        let label = format!(":{label}");
        self.terms.values.insert(label.clone(), value);
        label
    }

    pub(super) fn set(&mut self, attribute: &str, value: AttributeValue) {
        let term = format!("{} = {}", self.name(attribute), self.value(attribute, value));
        self.set.push(term);
    }

    /// The first value stays.
    pub(super) fn set_once(&mut self, attribute: &str, value: AttributeValue) {
        let name = self.name(attribute);
        let term = format!("{name} = if_not_exists({name}, {})", self.value(attribute, value));
        self.set.push(term);
    }

    pub(super) fn remove(&mut self, attribute: &str) {
        let name = self.name(attribute);
        self.remove.push(name);
    }

    pub(super) fn count(&mut self, attribute: &str) {
        let term = format!("{} {}", self.name(attribute), self.value("one", number(1)));
        self.add.push(term);
    }

    /// Adds a text to a set, where it is not in it yet.
    pub(super) fn gather(&mut self, attribute: &str, value: String) {
        let value = self.value(attribute, AttributeValue::Ss(vec![value]));
        let term = format!("{} {value}", self.name(attribute));
        self.add.push(term);
    }

    pub(super) fn write(&mut self, attributes: Attributes) {
        for (attribute, value) in attributes {
            match value {
                Some(value) => self.set(attribute, value),
                None => self.remove(attribute),
            }
        }
    }

    /// Says the form of an item that may be created by this, and never lowers
    /// what a newer version said.
    pub(super) fn schema(&mut self) {
        let (name, value) = (self.name(SCHEMA), self.value(SCHEMA, number(SCHEMA_WRITTEN)));
        self.set.push(format!("{name} = if_not_exists({name}, {value})"));
    }

    /// The attribute still has the value that the write comes from.
    pub(super) fn was(&mut self, attribute: &str, value: AttributeValue) {
        let term = format!("{} = {}", self.name(attribute), self.value(&format!("was_{attribute}"), value));
        self.conditions.push(term);
    }

    pub(super) fn present(&mut self, attribute: &str) {
        let term = format!("attribute_exists({})", self.name(attribute));
        self.conditions.push(term);
    }

    pub(super) fn absent(&mut self, attribute: &str) {
        let term = format!("attribute_not_exists({})", self.name(attribute));
        self.conditions.push(term);
    }

    pub(super) fn condition(&self) -> String {
        self.conditions.join(" AND ")
    }

    pub(super) fn into_change(self, table: Table, pk: &str) -> Change {
        let clause = |word: &str, terms: &[String]| match terms {
            [] => None,
            terms => Some(format!("{word} {}", terms.join(", "))),
        };
        let clauses = [clause("SET", &self.set), clause("REMOVE", &self.remove), clause("ADD", &self.add)];
        let clauses: Vec<_> = clauses.into_iter().flatten().collect();
        Change {
            table,
            pk: pk.to_owned(),
            update: (!clauses.is_empty()).then(|| clauses.join(" ")),
            condition: self.condition(),
            terms: self.terms,
        }
    }
}
