//! A form that was parsed and encoded again: which characters are escaped, how
//! a space is written and the order differ from library to library.

use super::bench::{Change, Hypotheses, Hypothesis};
use super::body::replaced;
use super::cause::Cause;
use super::order::orders;
use crate::vendor::form::pairs;

/// Characters besides letters and digits that encoders leave as they are: PHP,
/// RFC 3986, Java and browsers' forms, JavaScript's `encodeURIComponent`, Python's
/// `quote`, and none.
const LEFT_ALONE: [&[u8]; 6] = [b"-._", b"-._~", b"*-._", b"-._~!*'()", b"-._~/", b""];

/// Most fields whose order is looked for.
const MOST_REORDERED: usize = 5;

/// Every other way to write the form that the body is.
pub(super) fn hypotheses<'a>(text: &'a str, is_form: bool) -> Hypotheses<'a> {
    if text.trim_start().starts_with(['{', '[']) {
        return match is_form {
            true => Box::new(unwrapped(text)),
            false => Box::new(std::iter::empty()),
        };
    }
    if !text.contains('=') || text.contains(char::is_whitespace) {
        return Box::new(std::iter::empty());
    }
    Box::new(spelt_otherwise(text).chain(encoded_again(text)).map(|other| {
        Hypothesis::new(
            Cause::FormReencoded,
            Change::Body(other),
            "The form was written otherwise when it was signed.",
        )
    }))
}

/// The content type says a form and the body is what one of its fields held.
fn unwrapped(text: &str) -> impl Iterator<Item = Hypothesis> {
    writings().map(move |writing| {
        let body = [b"payload=", writing.written(text.as_bytes()).as_slice()].concat();
        let says = "The body is what the field `payload` of the signed form held.";
        Hypothesis::new(Cause::FormReencoded, Change::Body(body), says)
    })
}

/// Changes of the text that leave the rest as it is.
fn spelt_otherwise(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let given = text.as_bytes();
    [
        replaced(given, b"%20", b"+"),
        replaced(given, b"+", b"%20"),
        escapes(given, u8::to_ascii_uppercase),
        escapes(given, u8::to_ascii_lowercase),
        replaced(given, b"%0A", b"%0D%0A"),
        replaced(given, b"%0D%0A", b"%0A"),
    ]
    .into_iter()
    .filter(move |other| other.as_slice() != given)
    .collect::<Vec<_>>()
    .into_iter()
}

/// The digits of every percent-escape changed.
pub(super) fn escapes(given: &[u8], digit: fn(&u8) -> u8) -> Vec<u8> {
    let mut changed = given.to_vec();
    let mut at = 0;
    while at + 2 < changed.len() {
        if changed[at] == b'%' && changed[at + 1..at + 3].iter().all(u8::is_ascii_hexdigit) {
            changed[at + 1] = digit(&changed[at + 1]);
            changed[at + 2] = digit(&changed[at + 2]);
            at += 3;
        } else {
            at += 1;
        }
    }
    changed
}

fn encoded_again(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let fields: Vec<(Vec<u8>, Vec<u8>)> = pairs(text.as_bytes()).collect();
    writings().flat_map(move |writing| {
        let written: Vec<Vec<u8>> = fields
            .iter()
            .map(|(name, value)| [writing.written(name), b"=".to_vec(), writing.written(value)].concat())
            .collect();
        orders(written.len(), MOST_REORDERED)
            .map(|order| order.iter().map(|at| written[*at].clone()).collect::<Vec<_>>().join(&b'&'))
            .collect::<Vec<_>>()
    })
}

/// One way to encode.
#[derive(Clone, Copy)]
pub(super) struct Writing {
    left_alone: &'static [u8],
    plus: bool,
    upper: bool,
}

/// Every way to encode, the common ones first.
pub(super) fn writings() -> impl Iterator<Item = Writing> {
    [true, false].into_iter().flat_map(|upper| {
        LEFT_ALONE.into_iter().flat_map(move |left_alone| {
            [true, false].into_iter().map(move |plus| Writing { left_alone, plus, upper })
        })
    })
}

impl Writing {
    pub(super) fn written(self, plain: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(plain.len());
        for &byte in plain {
            if byte.is_ascii_alphanumeric() || self.left_alone.contains(&byte) {
                text.push(byte);
            } else if byte == b' ' && self.plus {
                text.push(b'+');
            } else {
                let escape = match self.upper {
                    true => format!("%{byte:02X}"),
                    false => format!("%{byte:02x}"),
                };
                text.extend_from_slice(escape.as_bytes());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(given: &str, signed: &str, is_form: bool) -> bool {
        hypotheses(given, is_form)
            .any(|hypothesis| matches!(&hypothesis.change, Change::Body(body) if body == signed.as_bytes()))
    }

    #[test]
    fn the_ways_in_which_libraries_write_forms_are_known() {
        for (given, signed) in [
            ("a=x%20y&b=%2A", "a=x+y&b=%2A"),
            ("a=x+y&b=*", "a=x%20y&b=%2A"),
            ("a=%c3%a9", "a=%C3%A9"),
            ("a=%C3%A9", "a=%c3%a9"),
            ("b=2&a=1", "a=1&b=2"),
            ("a=%7E", "a=~"),
            ("a=1%0A2", "a=1%0D%0A2"),
            ("a=(1)", "a=%281%29"),
        ] {
            assert!(finds(given, signed, true), "{given}");
        }
    }

    #[test]
    fn what_a_field_of_a_form_held_is_put_back() {
        assert!(finds("{\"a\":\"b c\"}", "payload=%7B%22a%22%3A%22b+c%22%7D", true));
        assert!(!finds("{\"a\":1}", "payload=%7B%22a%22%3A1%7D", false));
    }
}
