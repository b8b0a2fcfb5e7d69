//! Attributes of an item: how each kind of value is written and read back.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::ports::StoreError;
use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

/// A stored item.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// What a write does to each attribute that it knows: sets it, or removes it.
/// One it does not know stays as it is: an older reader, after a rollback,
/// takes nothing from an item that a newer one wrote.
pub(crate) type Attributes = Vec<(&'static str, Option<AttributeValue>)>;

/// The partition key of every table.
pub(crate) const KEY: &str = "pk";

/// The form of an item, for whoever migrates one day. It is written where an
/// item is created and never lowered. A reader does not refuse a higher
/// number: it reads what it knows, and fails only where that cannot be read.
pub(crate) const SCHEMA: &str = "schema";

/// The form that this code writes.
pub(crate) const SCHEMA_WRITTEN: u32 = 1;

pub(crate) fn text(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn number(value: impl Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

pub(crate) fn bytes(value: &[u8]) -> AttributeValue {
    AttributeValue::B(Blob::new(value))
}

pub(crate) fn flag(value: bool) -> AttributeValue {
    AttributeValue::Bool(value)
}

pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a str>) -> AttributeValue {
    AttributeValue::L(values.into_iter().map(text).collect())
}

/// The key of an item.
pub(crate) fn key(pk: &str) -> Item {
    HashMap::from([(KEY.to_owned(), text(pk))])
}

/// A whole item, as it is when first written.
pub(crate) fn whole(pk: &str, attributes: Attributes) -> Item {
    let mut item = key(pk);
    item.insert(SCHEMA.to_owned(), number(SCHEMA_WRITTEN));
    item.extend(attributes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    item
}

/// A write costs a unit for every started KB of the item.
const BYTES_OF_A_WRITE_UNIT: usize = 1024;

/// How many write units an item of this size takes.
pub(crate) fn write_units(size: usize) -> usize {
    size.div_ceil(BYTES_OF_A_WRITE_UNIT).max(1)
}

/// How large an item is, as DynamoDB counts it: names and values, a number at
/// half a byte a digit and one more.
pub(crate) fn size_of(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of_value(value)).sum()
}

fn size_of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => number.len().div_ceil(2) + 1,
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(values) => values.iter().map(String::len).sum(),
        AttributeValue::L(values) => 3 + values.iter().map(|value| size_of_value(value) + 1).sum::<usize>(),
        _ => 1,
    }
}

/// Reads the attributes of a stored item by name.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a>(pub(crate) &'a Item);

impl<'a> Reading<'a> {
    pub(crate) fn maybe_text(self, name: &str) -> Result<Option<&'a str>, StoreError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(AttributeValue::S(text)) => Ok(Some(text)),
            Some(_) => Err(self.unreadable(name, "is no text")),
        }
    }

    pub(crate) fn text(self, name: &str) -> Result<&'a str, StoreError> {
        self.maybe_text(name)?.ok_or_else(|| self.unreadable(name, "is missing"))
    }

    pub(crate) fn maybe_number<T: FromStr>(self, name: &str) -> Result<Option<T>, StoreError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(AttributeValue::N(number)) => {
                number.parse().map(Some).map_err(|_| self.unreadable(name, "is out of range"))
            }
            Some(_) => Err(self.unreadable(name, "is no number")),
        }
    }

    pub(crate) fn number<T: FromStr>(self, name: &str) -> Result<T, StoreError> {
        self.maybe_number(name)?.ok_or_else(|| self.unreadable(name, "is missing"))
    }

    pub(crate) fn bytes(self, name: &str) -> Result<Vec<u8>, StoreError> {
        match self.0.get(name) {
            Some(AttributeValue::B(blob)) => Ok(blob.as_ref().to_vec()),
            _ => Err(self.unreadable(name, "is missing or no bytes")),
        }
    }

    pub(crate) fn flag(self, name: &str) -> Result<bool, StoreError> {
        match self.0.get(name) {
            Some(AttributeValue::Bool(flag)) => Ok(*flag),
            _ => Err(self.unreadable(name, "is missing or no truth value")),
        }
    }

    /// An absent set is an empty one.
    pub(crate) fn set(self, name: &str) -> Result<Vec<&'a str>, StoreError> {
        match self.0.get(name) {
            None => Ok(Vec::new()),
            Some(AttributeValue::Ss(values)) => Ok(values.iter().map(String::as_str).collect()),
            Some(_) => Err(self.unreadable(name, "is no set of texts")),
        }
    }

    /// An absent list is an empty one.
    pub(crate) fn texts(self, name: &str) -> Result<Vec<&'a str>, StoreError> {
        match self.0.get(name) {
            None => Ok(Vec::new()),
            Some(AttributeValue::L(values)) => values
                .iter()
                .map(|value| value.as_s().map(String::as_str))
                .collect::<Result<_, _>>()
                .map_err(|_| self.unreadable(name, "holds something else than text")),
            Some(_) => Err(self.unreadable(name, "is no list")),
        }
    }

    /// A word of a closed list. One that this version does not know makes the
    /// item unreadable: to guess would be to act on another fact.
    pub(crate) fn word<T>(self, name: &str, known: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let word = self.text(name)?;
        known(word)
            .ok_or_else(|| self.unreadable(name, &format!("is `{word}`, which this version does not know")))
    }

    pub(crate) fn unreadable(self, name: &str, what: &str) -> StoreError {
        let pk = self.0.get(KEY).and_then(|key| key.as_s().ok()).map_or("?", String::as_str);
        StoreError::Unreadable(format!("{pk}: `{name}` {what}"))
    }
}
