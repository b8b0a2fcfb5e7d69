//! The words of an expression, and what its `#names` and `:values` stand for.

use super::Item;
use serde_json::Value;
use thiserror::Error;

/// An expression that is not understood; DynamoDB would say so, too, or knows
/// more of its language than is needed here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the expression is not understood at `{0}`")]
pub(super) struct NotUnderstood(pub(super) String);

/// The words of an expression, one after the other.
pub(super) struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    names: &'a Value,
    values: &'a Value,
}

impl<'a> Words<'a> {
    /// Of `text`, with the terms of its request.
    pub(super) fn of(text: &'a str, request: &'a Value) -> Self {
        let (names, values) = (&request["ExpressionAttributeNames"], &request["ExpressionAttributeValues"]);
        Self { words: split(text), at: 0, names, values }
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Result<&'a str, NotUnderstood> {
        let word = self.peek().ok_or_else(|| NotUnderstood("the end".to_owned()))?;
        self.at += 1;
        Ok(word)
    }

    /// Takes the word if it is this one.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let is_this = self.peek() == Some(word);
        self.at += usize::from(is_this);
        is_this
    }

    pub(super) fn wants(&mut self, word: &str) -> Result<(), NotUnderstood> {
        if self.takes(word) { Ok(()) } else { Err(self.lost()) }
    }

    pub(super) fn lost(&self) -> NotUnderstood {
        NotUnderstood(self.peek().unwrap_or("the end").to_owned())
    }

    /// The name of an attribute.
    pub(super) fn attribute(&mut self) -> Result<String, NotUnderstood> {
        let word = self.next()?;
        if !word.starts_with('#') {
            return Ok(word.to_owned());
        }
        self.names[word].as_str().map(str::to_owned).ok_or_else(|| NotUnderstood(word.to_owned()))
    }

    /// A value: one of the request's, or that of an attribute, which may be absent.
    pub(super) fn value(&mut self, item: &Item) -> Result<Option<Value>, NotUnderstood> {
        match self.peek() {
            Some(word) if word.starts_with(':') => {
                self.at += 1;
                let value = &self.values[word];
                if value.is_null() { Err(NotUnderstood(word.to_owned())) } else { Ok(Some(value.clone())) }
            }
            _ => Ok(item.get(&self.attribute()?).cloned()),
        }
    }
}

fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = match rest.as_bytes()[0] {
            b'<' | b'>' if rest[1..].starts_with(['=', '>']) => 2,
            b'(' | b')' | b',' | b'=' | b'<' | b'>' => 1,
            _ => rest.find([' ', '(', ')', ',', '=', '<', '>', '\n', '\t']).unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}
