//! What is stored of one event: its own part of the body, and of the delivery
//! around it only what the vendor's description or a rule names. Ingest and
//! processor read values through it, so a rule says the same in both.

use crate::json::{self, JsonText, NotJson};
use crate::source::{Pointer, Source};
use std::collections::BTreeMap;

/// One event's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload {
    body: Vec<u8>,
    /// By the canonical text of the place.
    context: BTreeMap<String, JsonText>,
}

/// A stored context that cannot be read: written by something else than this
/// code. The event cannot be processed; a human must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored context of a payload is not an object of JSON values")]
pub struct NotAContext;

impl Payload {
    /// A payload whose delivery says `context` at the given places.
    pub fn new(body: Vec<u8>, context: impl IntoIterator<Item = (Source, JsonText)>) -> Self {
        let context = context.into_iter().map(|(source, value)| (source.canonical(), value)).collect();
        Self { body, context }
    }

    /// The event's own part of the body: JSON, or the bytes as received where
    /// they could not be read.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// What the delivery around the body says, by place.
    pub(crate) fn context(&self) -> impl Iterator<Item = (Source, &JsonText)> {
        self.context.iter().filter_map(|(place, value)| Some((Source::parse(place).ok()?, value)))
    }

    /// The body, and the context as JSON text: what a store keeps.
    pub fn to_parts(&self) -> (&[u8], String) {
        // Every value is JSON text already; names are quoted like any string.
        let members: Vec<_> = self
            .context
            .iter()
            .map(|(name, value)| format!("{}:{}", JsonText::from_text(name).as_json(), value.as_json()))
            .collect();
        (&self.body, format!("{{{}}}", members.join(",")))
    }

    /// A payload read back from a store.
    ///
    /// # Errors
    /// The context is not what `to_parts` wrote.
    pub fn from_parts(body: Vec<u8>, context: &str) -> Result<Self, NotAContext> {
        let members: BTreeMap<String, &serde_json::value::RawValue> =
            serde_json::from_str(context).map_err(|_| NotAContext)?;
        let context = members
            .into_iter()
            .map(|(name, value)| JsonText::from_json(value.get()).map(|value| (name, value)))
            .collect::<Result<_, _>>()
            .map_err(|NotJson| NotAContext)?;
        Ok(Self { body, context })
    }

    /// The values at `sources`, in their order; absent ones are `None`. The
    /// body is read once.
    ///
    /// # Errors
    /// A value of the body is asked for and the body is not JSON: the event is
    /// unreadable, which is not the same as a value that is absent.
    pub fn read(&self, sources: &[Source]) -> Result<Vec<Option<JsonText>>, NotJson> {
        let pointers: Vec<&Pointer> = sources
            .iter()
            .filter_map(|source| match source {
                Source::Body(pointer) => Some(pointer),
                _ => None,
            })
            .collect();
        let mut from_body = match pointers.is_empty() {
            true => Vec::new(),
            false => json::read(json::text(&self.body)?, &pointers)?,
        }
        .into_iter();
        sources
            .iter()
            .map(|source| match source {
                Source::Body(_) => {
                    from_body.next().flatten().map(|found| JsonText::from_json(found.json)).transpose()
                }
                other => Ok(self.context.get(&other.canonical()).cloned()),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source(text: &str) -> Source {
        Source::parse(text).unwrap()
    }

    fn payload() -> Payload {
        let context = [
            (source("header:X-Topic"), JsonText::from_text("a\"b")),
            (source("shared:/n"), JsonText::from_json("1.50").unwrap()),
        ];
        Payload::new(br#"{"id":9007199254740993}"#.to_vec(), context)
    }

    #[test]
    fn values_are_read_from_body_and_context_alike() {
        let sources = ["shared:/n", "/id", "header:x-topic", "/none", "query:q"].map(source);
        let values = payload().read(&sources).unwrap();
        let shown: Vec<_> = values.iter().map(|value| value.as_ref().map(JsonText::as_json)).collect();
        assert_eq!(shown, [Some("1.50"), Some("9007199254740993"), Some(r#""a\"b""#), None, None]);
    }

    #[test]
    fn a_stored_payload_is_the_same_when_it_comes_back() {
        let payload = payload();
        let (body, context) = payload.to_parts();
        assert_eq!(Payload::from_parts(body.to_vec(), &context), Ok(payload.clone()));
        assert_eq!(Payload::from_parts(Vec::new(), "[]"), Err(NotAContext));
    }

    #[test]
    fn an_unreadable_body_is_not_an_absent_value() {
        let payload = Payload::new(b"hello \xff".to_vec(), [(source("header:a"), JsonText::from_text("1"))]);
        assert_eq!(payload.read(&[source("/id")]), Err(NotJson));
        assert!(payload.read(&[source("header:a")]).unwrap()[0].is_some());
    }

    proptest! {
        #[test]
        fn any_text_survives_in_the_context(name in "[a-z\"\\\\é:]{1,8}", text in ".{0,20}") {
            let place = Source::Query(name);
            let payload = Payload::new(Vec::new(), [(place.clone(), JsonText::from_text(&text))]);
            let (body, context) = payload.to_parts();
            let back = Payload::from_parts(body.to_vec(), &context).unwrap();
            let value = back.read(&[place]).unwrap().remove(0).unwrap();
            prop_assert_eq!(value.plain().unwrap(), text);
        }
    }
}
