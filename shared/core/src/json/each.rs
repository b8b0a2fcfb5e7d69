//! The events within a delivery: every value that a path with `*` matches.

use super::NotJson;
use super::read::span_within;
use crate::source::{NotASource, Pointer};
use crate::steps::step;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

/// A pointer in which a step `*` means every element of an array, and a step
/// with a `*` in it (`*_events`) every member whose name fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EachPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Elements,
    Members { before: String, after: String },
}

/// One event's own part of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its bytes.
    pub json: &'a str,
    /// Their place in the delivery.
    pub span: Range<usize>,
    /// What each step with a `*` stood for, outermost first.
    pub matched: Vec<String>,
}

impl EachPath {
    /// Reads `/entry/*/changes/*`.
    ///
    /// # Errors
    /// The text is no pointer or has no `*`.
    pub fn parse(text: &str) -> Result<Self, NotASource> {
        let steps: Vec<_> = Pointer::parse(text)?
            .steps()
            .iter()
            .map(|step| match step.split_once('*') {
                None => Step::Name(step.clone()),
                Some(("", "")) => Step::Elements,
                Some((before, after)) => Step::Members { before: before.to_owned(), after: after.to_owned() },
            })
            .collect();
        match steps.iter().all(|step| matches!(step, Step::Name(_))) {
            true => Err(NotASource::Unknown(text.to_owned())),
            false => Ok(Self { text: text.to_owned(), steps }),
        }
    }

    /// How many steps have a `*`.
    pub fn stars(&self) -> usize {
        self.steps.iter().filter(|step| !matches!(step, Step::Name(_))).count()
    }
}

impl fmt::Display for EachPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Every value that the path matches, in the order of the text.
///
/// # Errors
/// The text is not one JSON value.
pub fn each<'a>(text: &'a str, path: &EachPath) -> Result<Vec<Item<'a>>, NotJson> {
    let mut found = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut matched = Vec::new();
    At { steps: &path.steps, matched: &mut matched, found: &mut found }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|_| NotJson)?;
    Ok(found
        .into_iter()
        .flatten()
        .map(|(raw, matched): (&'a RawValue, _)| {
            let json = raw.get();
            Item { json, span: span_within(text, json), matched }
        })
        .collect())
}

struct At<'s, 'g, 'a> {
    steps: &'s [Step],
    matched: &'g mut Vec<String>,
    /// `None` is one that a repeated member took back.
    found: &'g mut Vec<Option<(&'a RawValue, Vec<String>)>>,
}

impl<'a> At<'_, '_, 'a> {
    /// Goes one step deeper with the name or index that a `*` stood for.
    fn below(&mut self, matched: Option<String>) -> At<'_, '_, 'a> {
        self.matched.extend(matched);
        At { steps: &self.steps[1..], matched: self.matched, found: self.found }
    }
}

impl<'a> DeserializeSeed<'a> for At<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.steps.is_empty() {
            let raw = serde::Deserialize::deserialize(deserializer)?;
            self.found.push(Some((raw, self.matched.clone())));
            return Ok(());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for At<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<M: MapAccess<'a>>(mut self, mut map: M) -> Result<(), M::Error> {
        let depth = self.matched.len();
        // What each member that fits gave when it was last there.
        let mut given: HashMap<String, Range<usize>> = HashMap::new();
        while let Some(name) = map.next_key::<String>()? {
            step();
            let fits = match &self.steps[0] {
                Step::Name(wanted) => *wanted == name,
                Step::Elements => false,
                Step::Members { before, after } => {
                    name.len() >= before.len() + after.len()
                        && name.starts_with(before.as_str())
                        && name.ends_with(after.as_str())
                }
            };
            if !fits {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // The last of repeated members counts.
            for taken_back in given.remove(&name).unwrap_or_default() {
                step();
                self.found[taken_back] = None;
            }
            let from = self.found.len();
            let by_name = matches!(self.steps[0], Step::Name(_));
            map.next_value_seed(self.below((!by_name).then(|| name.clone())))?;
            self.matched.truncate(depth);
            given.insert(name, from..self.found.len());
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(mut self, mut list: S) -> Result<(), S::Error> {
        let depth = self.matched.len();
        for index in 0_usize.. {
            step();
            let more = match &self.steps[0] {
                Step::Elements => list.next_element_seed(self.below(Some(index.to_string())))?.is_some(),
                Step::Name(wanted) if *wanted == index.to_string() => {
                    list.next_element_seed(self.below(None))?.is_some()
                }
                _ => list.next_element::<IgnoredAny>()?.is_some(),
            };
            self.matched.truncate(depth);
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str, path: &str) -> Vec<(String, Vec<String>)> {
        let found = each(text, &EachPath::parse(path).unwrap()).unwrap();
        for item in &found {
            assert_eq!(&text[item.span.clone()], item.json);
        }
        found.into_iter().map(|item| (item.json.to_owned(), item.matched)).collect()
    }

    fn item(json: &str, matched: &[&str]) -> (String, Vec<String>) {
        (json.to_owned(), matched.iter().map(|&part| part.to_owned()).collect())
    }

    #[test]
    fn every_element_of_nested_arrays_is_an_item() {
        let text = r#"{"entry":[{"c":[1, 2]},{"x":0},{"c":[3]}]}"#;
        assert_eq!(
            items(text, "/entry/*/c/*"),
            [item("1", &["0", "0"]), item("2", &["0", "1"]), item("3", &["2", "0"])]
        );
        assert_eq!(items("[1,[2]]", "/*"), [item("1", &["0"]), item("[2]", &["1"])]);
        assert_eq!(items(r#"{"entry":{}}"#, "/entry/*"), []);
    }

    #[test]
    fn members_are_matched_by_the_pattern_of_their_name() {
        let text = r#"{"a_events":[1],"events":[2],"b_events":[3],"id":4}"#;
        assert_eq!(
            items(text, "/*_events/*"),
            [item("1", &["a_events", "0"]), item("3", &["b_events", "0"])]
        );
    }

    #[test]
    fn the_last_of_repeated_members_counts() {
        assert_eq!(items(r#"{"a":[1,2],"b":0,"a":[3]}"#, "/a/*"), [item("3", &["0"])]);
        assert_eq!(items(r#"{"x_e":[1],"y_e":[2],"x_e":[]}"#, "/*_e/*"), [item("2", &["y_e", "0"])]);
    }

    #[test]
    fn a_path_without_a_star_is_refused() {
        assert!(EachPath::parse("/a/b").is_err() && EachPath::parse("a/*").is_err());
    }
}
