//! JSON as vendors send it, read without a tree and without changing it:
//! numbers stay the text that they were (ids beyond 2^53 and `145000.00` are
//! real), and what nobody asked for is skipped.
//!
//! One rule for repeated members: the last one counts, as in nearly every
//! parser that a vendor or a destination may use.

mod each;
mod keys;
mod number;
mod read;

pub use each::{EachPath, Item, each};
pub use keys::keys;
pub use read::{Found, Reading, cut, read};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use toml::de::DeValue;

/// The bytes are not JSON text in UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the content is not JSON in UTF-8")]
pub struct NotJson;

/// A body as text for the readers of this module: UTF-8, without the byte
/// order mark that some senders put in front.
///
/// # Errors
/// The bytes are not UTF-8.
pub fn text(body: &[u8]) -> Result<&str, NotJson> {
    let text = std::str::from_utf8(body).map_err(|_| NotJson)?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// One JSON value in the bytes it was sent in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(String);

/// What a value holds, as far as keys and conditions care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Truth,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    List,
    /// An object.
    Object,
}

impl JsonText {
    /// A value read earlier, as it was stored.
    ///
    /// # Errors
    /// The text is not one JSON value.
    pub fn from_json(json: &str) -> Result<Self, NotJson> {
        let raw: &RawValue = serde_json::from_str(json).map_err(|_| NotJson)?;
        Ok(Self(raw.get().to_owned()))
    }

    /// A JSON string that holds `text`; what a header or parameter becomes.
    pub fn from_text(text: &str) -> Self {
        Self(serde_json::Value::from(text).to_string())
    }

    /// The bytes as they were sent.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'n') | None => Kind::Null,
            Some(b't' | b'f') => Kind::Truth,
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::List,
            Some(b'{') => Kind::Object,
            Some(_) => Kind::Number,
        }
    }

    /// Whether it is a list without elements.
    pub fn is_empty_list(&self) -> bool {
        let inner = self.0.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.is_some_and(|inner| inner.trim().is_empty())
    }

    /// The value as one plain text: a string unescaped, a number or truth as
    /// it was written. `None` for null, lists and objects, which name nothing.
    pub fn plain(&self) -> Option<Cow<'_, str>> {
        match self.kind() {
            Kind::Text => unquoted(&self.0),
            Kind::Number | Kind::Truth => Some(Cow::Borrowed(&self.0)),
            Kind::Null | Kind::List | Kind::Object => None,
        }
    }

    /// The value as a part of a key: its plain text, unless that is empty. An
    /// absent, null or empty part of a key makes the event held (INV-7).
    pub fn key_part(&self) -> Option<Cow<'_, str>> {
        self.plain().filter(|text| !text.is_empty())
    }

    /// Whether it equals a literal as JSON: `100` is `100.0` and not `"100"`.
    pub fn equals(&self, literal: &Literal) -> bool {
        match (self.kind(), literal) {
            (Kind::Text, Literal::Text(text)) => unquoted(&self.0).is_some_and(|own| own == text.as_str()),
            (Kind::Number, Literal::Number(number)) => number::equal(&self.0, number),
            (Kind::Truth, Literal::Truth(truth)) => self.0 == truth.to_string(),
            _ => false,
        }
    }
}

/// The text of a JSON string; borrowed where nothing is escaped.
fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(json).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// A literal of a configuration file, compared with values as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// Text in quotes.
    Text(String),
    /// A whole or decimal number, in JSON's notation.
    Number(String),
    /// `true` or `false`.
    Truth(bool),
}

impl Literal {
    /// A literal as TOML writes it. `None` for what JSON cannot hold or what
    /// no single value equals: dates, lists, tables, `inf`, `nan`.
    pub fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Some(Self::Text(text.clone().into_owned())),
            DeValue::Boolean(truth) => Some(Self::Truth(*truth)),
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(|number| Self::Number(number.to_string())),
            DeValue::Float(number) => {
                let text = number.as_str().trim_start_matches('+');
                number::is_number(text).then(|| Self::Number(text.to_owned()))
            }
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}", JsonText::from_text(text).as_json()),
            Self::Number(number) => f.write_str(number),
            Self::Truth(truth) => write!(f, "{truth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> JsonText {
        JsonText::from_json(text).unwrap()
    }

    #[test]
    fn numbers_stay_the_text_they_were() {
        assert_eq!(json("145000.00").plain().as_deref(), Some("145000.00"));
        assert_eq!(json("18446744073709551615").plain().as_deref(), Some("18446744073709551615"));
    }

    #[test]
    fn null_empty_and_absent_are_no_key_parts() {
        for empty in ["null", "\"\"", "[]", "{}"] {
            assert_eq!(json(empty).key_part(), None, "{empty}");
        }
        assert_eq!(json("\"a\\u0040b\\/\"").key_part().as_deref(), Some("a@b/"));
        assert_eq!(json("false").key_part().as_deref(), Some("false"));
    }

    #[test]
    fn literals_are_compared_as_json() {
        let parsed: toml::de::DeTable<'_> =
            toml::de::DeTable::parse("n = 100\nf = 1.5\nh = 0x10\nt = \"a\"\nb = true").unwrap().into_inner();
        let literal = |key: &str| Literal::from_toml(parsed[key].get_ref()).unwrap();
        assert!(json("100.0").equals(&literal("n")) && json("1e2").equals(&literal("n")));
        assert!(!json("\"100\"").equals(&literal("n")));
        assert!(json("15E-1").equals(&literal("f")) && json("16").equals(&literal("h")));
        assert!(json("\"\\u0061\"").equals(&literal("t")) && json("true").equals(&literal("b")));
        assert!(!json("\"true\"").equals(&literal("b")) && !json("null").equals(&literal("t")));
    }

    #[test]
    fn a_byte_order_mark_is_not_content() {
        assert_eq!(text(b"\xef\xbb\xbf{}"), Ok("{}"));
        assert_eq!(text(b"{\"n\":\"\xff\"}"), Err(NotJson));
    }
}
