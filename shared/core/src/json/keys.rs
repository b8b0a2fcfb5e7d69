//! The names of an object's members.

use super::NotJson;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::fmt;

/// The names of the members of an object, in order; none for any other value.
///
/// # Errors
/// The text is not one JSON value.
pub fn keys(text: &str) -> Result<Vec<String>, NotJson> {
    struct Names(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Names {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(ReadNames).map(Self)
        }
    }
    struct ReadNames;
    impl<'de> Visitor<'de> for ReadNames {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut names = Vec::new();
            while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    if !text.trim_start().starts_with('{') {
        return super::read(text, &[]).map(|_| Vec::new());
    }
    serde_json::from_str::<Names>(text).map(|names| names.0).map_err(|_| NotJson)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_members_come_in_order() {
        assert_eq!(keys(r#" {"b":1,"a\u0062":{"c":2},"b":3}"#).unwrap(), ["b", "ab", "b"]);
        assert_eq!(keys("[1]"), Ok(Vec::new()));
        assert_eq!(keys("{\"a\":}"), Err(NotJson));
    }
}
