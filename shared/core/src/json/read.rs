//! Values at a set of pointers, in one pass over the text.

use super::NotJson;
use crate::source::Pointer;
use crate::steps::step;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// One value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'a> {
    /// The value's own bytes.
    pub json: &'a str,
    /// Their place in the text that was read.
    pub span: Range<usize>,
}

/// What was found, in the order of the pointers asked for.
pub type Reading<'a> = Vec<Option<Found<'a>>>;

/// Reads the values at `pointers`. What is not there is `None`; a value of
/// another shape than the pointer expects is not there either.
///
/// # Errors
/// The text is not one JSON value.
pub fn read<'a>(text: &'a str, pointers: &[&Pointer]) -> Result<Reading<'a>, NotJson> {
    let gathered = walk(text, pointers)?;
    let found = |json: &'a str| Found { json, span: span_within(text, json) };
    Ok(gathered.last.into_iter().map(|value| value.map(found)).collect())
}

/// The text without the values at `pointers`, as pieces in order: what is
/// hashed of an event whose vendor changes these fields from try to try.
///
/// # Errors
/// The text is not one JSON value.
pub fn cut<'a>(text: &'a str, pointers: &[&Pointer]) -> Result<Vec<&'a str>, NotJson> {
    let gathered = walk(text, pointers)?;
    let mut spans: Vec<_> = gathered.every.into_iter().map(|json| span_within(text, json)).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut pieces = Vec::with_capacity(spans.len() + 1);
    let mut from = 0;
    for span in spans {
        // A pointer may lie within another one's value: then it is gone already.
        if span.start >= from {
            pieces.push(&text[from..span.start]);
        }
        from = from.max(span.end);
    }
    pieces.push(&text[from..]);
    Ok(pieces)
}

/// Where `part`, a slice of `text`, stands in it.
pub(super) fn span_within(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// The pointers that go through one place, by their next step.
#[derive(Debug, Default)]
struct Branch<'p> {
    /// Its place among all branches.
    number: usize,
    /// Pointers that end here.
    ends: Vec<usize>,
    below: BTreeMap<&'p str, Branch<'p>>,
}

impl<'p> Branch<'p> {
    /// The branches of the pointers, and how many they are.
    fn of(pointers: &[&'p Pointer]) -> (Self, usize) {
        let (mut root, mut count) = (Self::default(), 1);
        for (index, pointer) in pointers.iter().enumerate() {
            let mut branch = &mut root;
            for step in pointer.steps() {
                branch = branch.below.entry(step).or_insert_with(|| {
                    count += 1;
                    Self { number: count - 1, ..Self::default() }
                });
            }
            branch.ends.push(index);
        }
        (root, count)
    }
}

struct Gathered<'a> {
    last: Vec<Option<&'a str>>,
    every: Vec<&'a str>,
    /// Which of `last` was set, in order.
    set: Vec<usize>,
    /// What of `set` the last visit of each branch has set: a repeated member
    /// takes back that and nothing else, however many pointers there are.
    visits: Vec<Range<usize>>,
}

impl Gathered<'_> {
    /// A member is there once more: what was found in it before does not count.
    fn take_back(&mut self, branch: &Branch<'_>) {
        for set in std::mem::take(&mut self.visits[branch.number]) {
            step();
            self.last[self.set[set]] = None;
        }
    }
}

fn walk<'a>(text: &'a str, pointers: &[&Pointer]) -> Result<Gathered<'a>, NotJson> {
    let (branch, count) = Branch::of(pointers);
    let last = vec![None; pointers.len()];
    let mut gathered = Gathered { last, every: Vec::new(), set: Vec::new(), visits: vec![0..0; count] };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    At { branch: &branch, gathered: &mut gathered }.deserialize(&mut deserializer).map_err(|_| NotJson)?;
    deserializer.end().map_err(|_| NotJson)?;
    Ok(gathered)
}

/// One place of the text together with the pointers that lead through it.
struct At<'b, 'p, 'g, 'a> {
    branch: &'b Branch<'p>,
    gathered: &'g mut Gathered<'a>,
}

impl<'a> DeserializeSeed<'a> for At<'_, '_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.branch.ends.is_empty() {
            return deserializer.deserialize_any(self);
        }
        let raw: &'a RawValue = serde::Deserialize::deserialize(deserializer)?;
        for &end in &self.branch.ends {
            self.gathered.last[end] = Some(raw.get());
            self.gathered.set.push(end);
        }
        self.gathered.every.push(raw.get());
        if !self.branch.below.is_empty() {
            let mut within = serde_json::Deserializer::from_str(raw.get());
            within.deserialize_any(self).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}

/// The branch of a member, found while its name is read.
struct Member<'b, 'p>(&'b Branch<'p>);

impl<'a, 'b, 'p> DeserializeSeed<'a> for Member<'b, 'p> {
    type Value = Option<&'b Branch<'p>>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'b, 'p> Visitor<'_> for Member<'b, 'p> {
    type Value = Option<&'b Branch<'p>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.below.get(name))
    }
}

impl<'a> Visitor<'a> for At<'_, '_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(member) = map.next_key_seed(Member(self.branch))? {
            step();
            match member {
                None => drop(map.next_value::<IgnoredAny>()?),
                Some(branch) => {
                    // The last of repeated members counts, with all that is below it.
                    self.gathered.take_back(branch);
                    let from = self.gathered.set.len();
                    map.next_value_seed(At { branch, gathered: &mut *self.gathered })?;
                    self.gathered.visits[branch.number] = from..self.gathered.set.len();
                }
            }
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut list: S) -> Result<(), S::Error> {
        for index in 0_usize.. {
            step();
            let element = match self.branch.below.is_empty() {
                true => None,
                false => self.branch.below.get(index.to_string().as_str()),
            };
            let more = match element {
                None => list.next_element::<IgnoredAny>()?.is_some(),
                Some(branch) => {
                    list.next_element_seed(At { branch, gathered: &mut *self.gathered })?.is_some()
                }
            };
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
    use proptest::prelude::*;

    fn values<'a>(text: &'a str, pointers: &[&str]) -> Vec<Option<&'a str>> {
        let pointers: Vec<_> = pointers.iter().map(|pointer| Pointer::parse(pointer).unwrap()).collect();
        let found = read(text, &pointers.iter().collect::<Vec<_>>()).unwrap();
        found.into_iter().map(|value| value.map(|found| found.json)).collect()
    }

    fn pieces(text: &str, pointers: &[&str]) -> String {
        let pointers: Vec<_> = pointers.iter().map(|pointer| Pointer::parse(pointer).unwrap()).collect();
        cut(text, &pointers.iter().collect::<Vec<_>>()).unwrap().concat()
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let text = r#" { "a": {"b": [10, {"c": 1.50}]}, "é\/": "\u0040", "n": null } "#;
        assert_eq!(
            values(text, &["/a/b/1/c", "/a/b/0", "/é~1", "/n", "/a/x", "/a/b/2", "/n/x"]),
            [Some("1.50"), Some("10"), Some("\"\\u0040\""), Some("null"), None, None, None]
        );
    }

    #[test]
    fn a_pointer_may_lie_within_another_ones_value() {
        let text = r#"{"a":{"b":1}}"#;
        assert_eq!(values(text, &["/a", "/a/b", "/a/b"]), [Some(r#"{"b":1}"#), Some("1"), Some("1")]);
        assert_eq!(pieces(text, &["/a", "/a/b"]), r#"{"a":}"#);
    }

    #[test]
    fn the_last_of_repeated_members_counts_and_every_one_is_cut() {
        assert_eq!(values(r#"{"a":1,"a":2}"#, &["/a"]), [Some("2")]);
        assert_eq!(values(r#"{"a":{"b":1},"a":{}}"#, &["/a/b"]), [None]);
        assert_eq!(pieces(r#"{"a":1,"b":0,"a":2}"#, &["/a"]), r#"{"a":,"b":0,"a":}"#);
    }

    #[test]
    fn what_is_not_json_is_refused_even_where_nobody_looks() {
        for text in ["", "{", "{}x", "[1,]", "nul", "{\"a\":01}", "{\"a\" 1}"] {
            assert_eq!(read(text, &[]), Err(NotJson), "{text}");
        }
    }

    #[test]
    fn deep_nesting_outside_the_pointers_costs_nothing() {
        let text = format!("{{\"x\":{}{},\"id\":7}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(values(&text, &["/id"]), [Some("7")]);
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i64>().prop_map(serde_json::Value::from),
            "[a-c\"/~\\\\é]{0,3}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::btree_map("[a-c0-2/~]{0,2}", inner, 0..4)
                    .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    /// JSON text whose objects may have a member several times.
    fn any_text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![Just("null".to_owned()), "[0-9]", "\"[a-c]{0,2}\""];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                prop::collection::vec(("[a-c0-1]", inner), 0..5).prop_map(|members| {
                    let members: Vec<_> =
                        members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn of_repeated_members_the_last_counts_at_every_depth(
            text in any_text(),
            pointers in prop::collection::vec("(/[a-c0-1]){1,4}", 1..6),
        ) {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let parsed: Vec<_> = pointers.iter().map(|pointer| Pointer::parse(pointer).unwrap()).collect();
            let found = read(&text, &parsed.iter().collect::<Vec<_>>()).unwrap();
            for (pointer, found) in pointers.iter().zip(&found) {
                let got = found.as_ref().map(|found| serde_json::from_str::<serde_json::Value>(found.json).unwrap());
                prop_assert_eq!(got.as_ref(), value.pointer(pointer), "{} in {}", pointer, &text);
            }
        }

        // The tree that serde_json builds is the reference.
        #[test]
        fn one_pass_finds_what_a_tree_would(
            value in any_json(),
            pointers in prop::collection::vec("(/([a-c]|[0-2]|~0|~1)){1,4}", 0..5),
        ) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            let parsed: Vec<_> = pointers.iter().map(|pointer| Pointer::parse(pointer).unwrap()).collect();
            let found = read(&text, &parsed.iter().collect::<Vec<_>>()).unwrap();
            for (pointer, found) in pointers.iter().zip(&found) {
                let got = found.as_ref().map(|found| serde_json::from_str::<serde_json::Value>(found.json).unwrap());
                prop_assert_eq!(got.as_ref(), value.pointer(pointer), "{}", pointer);
                if let Some(found) = found {
                    prop_assert_eq!(&text[found.span.clone()], found.json);
                }
            }
        }

        #[test]
        fn no_bytes_make_the_reader_panic(text in ".{0,60}") {
            let pointer = Pointer::parse("/a/0").unwrap();
            let _ = (read(&text, &[&pointer]), cut(&text, &[&pointer]));
        }
    }
}
