//! JSON that was parsed and written again: white space, escapes and the way
//! numbers are written differ from library to library. An order of members
//! that was lost cannot be found again; [`written_by_machine`] only says that
//! it may have been.

mod token;

use super::bench::{Change, Hypotheses, Hypothesis};
use super::body::BOM;
use super::cause::Cause;
use crate::json;
use std::collections::HashSet;
use token::{Spacing, Spelling, Token, tokens};

/// Most numbers of a body that are written otherwise, one at a time.
const MOST_NUMBERS: usize = 50;

/// How unlikely an order of members must be to have come about by itself: one
/// in so many.
const UNLIKELY: u64 = 12;

/// Every other way to write the JSON that the body is.
pub(super) fn hypotheses(text: &str) -> Hypotheses<'_> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = if bare.len() < text.len() { BOM } else { &[] };
    if json::read(bare, &[]).is_err() {
        return Box::new(std::iter::empty());
    }
    let tokens = tokens(bare);
    let mut seen: HashSet<Vec<u8>> = HashSet::from([bare.as_bytes().to_vec()]);
    let unwrapped = unwrapped(bare).into_iter();
    let all = unwrapped.chain(styles(tokens.clone())).chain(numbers(tokens));
    Box::new(all.filter(move |(written, _)| seen.insert(written.clone().into_bytes())).map(
        move |(written, says)| {
            let body = [mark, written.as_bytes()].concat();
            Hypothesis::new(Cause::BodyReserialised, Change::Body(body), says)
        },
    ))
}

/// The few writings that are common.
pub(super) fn quick(text: &str) -> impl Iterator<Item = Hypothesis> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = if bare.len() < text.len() { BOM } else { &[] };
    let tokens = tokens(bare);
    token::COMMON.iter().map(move |(spacing, spelling)| {
        let body = [mark, token::written(&tokens, *spacing, *spelling).as_bytes()].concat();
        Hypothesis::new(
            Cause::BodyReserialised,
            Change::Body(body),
            "The JSON was written otherwise when it was signed.",
        )
    })
}

/// A body that is one JSON string, which holds what was signed.
fn unwrapped(text: &str) -> Option<(String, String)> {
    let inner: String = serde_json::from_str(text).ok()?;
    Some((inner, "The body is a JSON string that holds what was signed.".to_owned()))
}

/// Every writing, with what stands behind the JSON kept, without it, and with
/// a line end, which a parser drops.
fn styles(tokens: Vec<Token>) -> impl Iterator<Item = (String, String)> {
    let kept = match tokens.last() {
        Some(Token::Space(space)) => space.clone(),
        _ => String::new(),
    };
    let ends = [kept, String::new(), "\r\n".to_owned(), "\n".to_owned()];
    ends.into_iter().flat_map(move |end| {
        let tokens = tokens.clone();
        Spacing::ALL.iter().flat_map(move |spacing| {
            let (tokens, end) = (tokens.clone(), end.clone());
            Spelling::all().map(move |spelling| {
                let says =
                    format!("The JSON was written {} when it was signed.", described(*spacing, spelling));
                let mut text = token::written(&tokens, *spacing, spelling);
                text.truncate(text.trim_ascii_end().len());
                (text + &end, says)
            })
        })
    })
}

fn described(spacing: Spacing, spelling: Spelling) -> String {
    let parts = [spacing.described(), spelling.slash(), spelling.unicode(), spelling.markup()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "otherwise".to_owned() } else { parts.join(", ") }
}

/// Each number with the zeros that a parser drops.
fn numbers(tokens: Vec<Token>) -> impl Iterator<Item = (String, String)> {
    let places: Vec<usize> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.is_number())
        .map(|(at, _)| at)
        .take(MOST_NUMBERS)
        .collect();
    places.into_iter().flat_map(move |at| {
        let tokens = tokens.clone();
        [".0", ".00", "0", "00"].into_iter().filter_map(move |zeros| {
            let mut tokens = tokens.clone();
            tokens[at] = tokens[at].with_zeros(zeros)?;
            let says = "A number was written with more zeros when it was signed.".to_owned();
            Some((token::written(&tokens, Spacing::Kept, Spelling::KEPT), says))
        })
    })
}

/// Why the body looks as if a parser had written it, where it does.
pub(super) fn written_by_machine(text: &str) -> Option<&'static str> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if json::read(bare, &[]).is_ok() {
        let sorted = sorted_by_chance(&tokens(bare)).is_some_and(|chance| chance >= UNLIKELY);
        return sorted.then_some("its members are in alphabetical order, which parsers make");
    }
    let text = bare.trim();
    if text == "[object Object]" {
        return Some("it is what JavaScript makes of an object that is used as text");
    }
    let python = text.starts_with("{'") && (text.ends_with('}'));
    let ruby = text.starts_with("{\"") && text.contains("\"=>");
    (python || ruby).then_some("it is how a programming language shows an object, not JSON")
}

/// In how many random orders of members all objects would be in alphabetical
/// order once; `None` where one of them is not.
fn sorted_by_chance(tokens: &[Token]) -> Option<u64> {
    let mut open: Vec<Vec<&str>> = Vec::new();
    let mut chance: u64 = 1;
    let significant: Vec<&Token> = tokens.iter().filter(|token| !token.is_space()).collect();
    for (at, token) in significant.iter().enumerate() {
        match token {
            Token::Mark('{' | '[') => open.push(Vec::new()),
            Token::Mark('}' | ']') => {
                let names = open.pop()?;
                if !names.is_sorted() {
                    return None;
                }
                chance = (2..=names.len()).fold(chance, |chance, factor| {
                    chance.saturating_mul(u64::try_from(factor).unwrap_or(u64::MAX))
                });
            }
            Token::Text(name) if matches!(significant.get(at + 1), Some(Token::Mark(':'))) => {
                open.last_mut()?.push(name);
            }
            _ => {}
        }
    }
    Some(chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(given: &str, signed: &str) -> bool {
        hypotheses(given)
            .any(|hypothesis| matches!(&hypothesis.change, Change::Body(body) if body == signed.as_bytes()))
    }

    #[test]
    fn the_ways_in_which_libraries_write_json_are_known() {
        let original = r#"{"id":"evt_1","url":"https:\/\/a.example\/x","s":"caf\u00e9","n":[1,{}]}"#;
        for given in [
            r#"{"id":"evt_1","url":"https://a.example/x","s":"caf\u00e9","n":[1,{}]}"#,
            r#"{"id": "evt_1", "url": "https:\/\/a.example\/x", "s": "caf\u00e9", "n": [1, {}]}"#,
            r#"{"id":"evt_1","url":"https:\/\/a.example\/x","s":"café","n":[1,{}]}"#,
            r#"{"id": "evt_1", "url": "https://a.example/x", "s": "caf\u00E9", "n": [1, {}]}"#,
            "{\n  \"id\": \"evt_1\",\n  \"url\": \"https://a.example/x\",\n  \"s\": \"café\",\n  \"n\": [\n    1,\n    {}\n  ]\n}",
        ] {
            assert!(finds(given, original), "{given}");
        }
        for (given, signed) in [
            (r#"{"a":"<b>&"}"#, r#"{"a":"\u003cb\u003e\u0026"}"#),
            (r#"{"a":"\u003cb\u003e"}"#, r#"{"a":"<b>"}"#),
            (r#"{"a":145000}"#, r#"{"a":145000.00}"#),
            (r#"{"a":1.5}"#, r#"{"a":1.50}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            ("{\"a\":1}", "{\n    \"a\": 1\n}"),
            ("{\"a\":\"😀\"}", r#"{"a":"\ud83d\ude00"}"#),
            ("{\"a\":\"\\ud83d\\ude00\"}", "{\"a\":\"😀\"}"),
        ] {
            assert!(finds(given, signed), "{given}");
        }
    }

    #[test]
    fn what_stands_between_tokens_is_kept_where_only_escapes_differ() {
        let given = "\u{feff}{\"a\":\"\\u00e9\",\r\n \"c\" : \"/x\"}\r\n";
        assert!(finds(given, "\u{feff}{\"a\":\"\\u00e9\",\r\n \"c\" : \"\\/x\"}\r\n"));
    }

    #[test]
    fn members_in_alphabetical_order_are_noticed_where_that_is_unlikely() {
        assert!(written_by_machine(r#"{"created":1,"data":{"n":1,"s":2},"id":3,"type":4}"#).is_some());
        assert!(written_by_machine(r#"{"id":1,"type":2}"#).is_none());
        assert!(written_by_machine(r#"{"id":1,"created":2,"type":3,"data":4}"#).is_none());
        assert!(written_by_machine("[object Object]").is_some());
        assert!(written_by_machine("{'id': 1}").is_some());
    }
}
