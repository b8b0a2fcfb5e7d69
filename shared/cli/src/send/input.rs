//! What is sent, cut out of a file or a stream: one body, JSON lines, or a
//! JSON list. The bytes of a body stay as they are.

use clap::ValueEnum;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::fmt;
use std::io::{self, BufRead, Read};

/// No gateway takes a longer body.
const LARGEST_BODY: u64 = 10 * 1024 * 1024;

/// What has no lines is held in memory whole.
const LARGEST_WHOLE: u64 = 256 * 1024 * 1024;

/// What the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Whatever it looks like: one JSON value, a JSON list, or JSON lines.
    Auto,
    /// One body, byte for byte, of any content type.
    Body,
    /// One body to a line.
    Lines,
    /// A JSON list of bodies.
    List,
    /// Lines or a list of {"id": "..", "headers": {..}, "body": ..}.
    Deliveries,
}

/// Where something stands in the input, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    /// It is the input.
    Whole,
    /// In a line, counted from 1.
    Line(u64),
    /// In a list, counted from 1.
    Item(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the input"),
            Self::Line(number) => write!(f, "line {number}"),
            Self::Item(number) => write!(f, "item {number}"),
        }
    }
}

/// One piece of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it stands.
    pub at: Position,
    /// What it is.
    pub bytes: Vec<u8>,
}

/// Why the input cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRead {
    /// The file or the stream.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// In none of the forms.
    #[error(
        "it is neither a JSON value, nor a JSON list, nor JSON lines ({0}); --as lines goes on after a bad line, --as body sends any bytes as they are"
    )]
    NoForm(serde_json::Error),
    /// It should have been a list.
    #[error("it is no JSON list: {0}")]
    NoList(serde_json::Error),
    /// Longer than anybody takes.
    #[error("{0} is longer than 10 MiB, which no gateway takes")]
    TooLong(Position),
    /// Too much for memory.
    #[error("it is longer than 256 MiB; write it as JSON lines, which are read one by one")]
    TooMuch,
}

/// Gives the pieces one by one, for as long as `give` says to go on. Lines are
/// given as they come; everything else is read to its end before.
///
/// # Errors
/// See [`NotRead`]; what was given before stays given.
pub(super) fn pieces(
    mut input: impl BufRead,
    form: Form,
    mut give: impl FnMut(Piece) -> bool,
) -> Result<(), NotRead> {
    match form {
        Form::Body => {
            let bytes = whole(&mut input, Vec::new())?;
            give(Piece { at: Position::Whole, bytes });
            Ok(())
        }
        Form::List => list(&whole(&mut input, Vec::new())?, give).map_err(NotRead::NoList),
        Form::Lines => Lines::new(input).give(give),
        Form::Auto | Form::Deliveries => looked_at(input, give),
    }
}

/// A first line that is JSON by itself begins JSON lines, unless it is a list
/// and nothing follows it.
fn looked_at(input: impl BufRead, mut give: impl FnMut(Piece) -> bool) -> Result<(), NotRead> {
    let mut lines = Lines::new(input);
    let Some(first) = lines.next()? else { return Ok(()) };
    if serde_json::from_slice::<IgnoredAny>(&first.bytes).is_err() {
        let bytes = whole(&mut lines.input, [first.bytes.as_slice(), b"\n"].concat())?;
        return undivided(&bytes, give);
    }
    if first.bytes.trim_ascii_start().first() == Some(&b'[') {
        let Some(second) = lines.next()? else { return undivided(&first.bytes, give) };
        if !give(first) || !give(second) {
            return Ok(());
        }
        return lines.give(give);
    }
    if give(first) { lines.give(give) } else { Ok(()) }
}

/// One JSON value: a list of bodies, or a body.
fn undivided(bytes: &[u8], mut give: impl FnMut(Piece) -> bool) -> Result<(), NotRead> {
    let bytes = bytes.trim_ascii();
    if bytes.first() == Some(&b'[') {
        return list(bytes, give).map_err(NotRead::NoForm);
    }
    serde_json::from_slice::<IgnoredAny>(bytes).map_err(NotRead::NoForm)?;
    give(Piece { at: Position::Whole, bytes: bytes.to_vec() });
    Ok(())
}

fn list(bytes: &[u8], mut give: impl FnMut(Piece) -> bool) -> Result<(), serde_json::Error> {
    let items: Vec<&RawValue> = serde_json::from_slice(bytes)?;
    for (number, item) in (1..).zip(items) {
        if !give(Piece { at: Position::Item(number), bytes: item.get().as_bytes().to_vec() }) {
            break;
        }
    }
    Ok(())
}

fn whole(input: &mut impl BufRead, mut bytes: Vec<u8>) -> Result<Vec<u8>, NotRead> {
    input.take(LARGEST_WHOLE).read_to_end(&mut bytes)?;
    if input.fill_buf()?.is_empty() { Ok(bytes) } else { Err(NotRead::TooMuch) }
}

/// The lines that hold anything.
struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    fn next(&mut self) -> Result<Option<Piece>, NotRead> {
        loop {
            let mut bytes = Vec::new();
            self.input.by_ref().take(LARGEST_BODY + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            let at = Position::Line(self.number);
            let trimmed = bytes.trim_ascii();
            if trimmed.len() as u64 > LARGEST_BODY {
                return Err(NotRead::TooLong(at));
            }
            if !trimmed.is_empty() {
                return Ok(Some(Piece { at, bytes: trimmed.to_vec() }));
            }
        }
    }

    fn give(mut self, mut give: impl FnMut(Piece) -> bool) -> Result<(), NotRead> {
        while let Some(piece) = self.next()? {
            if !give(piece) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, form: Form) -> Result<Vec<(String, String)>, NotRead> {
        let mut found = Vec::new();
        pieces(text.as_bytes(), form, |piece| {
            found.push((piece.at.to_string(), String::from_utf8(piece.bytes).unwrap()));
            true
        })?;
        Ok(found)
    }

    fn bodies(text: &str, form: Form) -> Vec<String> {
        read(text, form).unwrap().into_iter().map(|(_, body)| body).collect()
    }

    #[test]
    fn what_it_is_is_seen_by_looking() {
        let auto = |text| read(text, Form::Auto).unwrap();
        let pair = |at: &str, body: &str| (at.to_owned(), body.to_owned());
        assert_eq!(auto("{\"a\":1}\n"), [pair("line 1", "{\"a\":1}")]);
        assert_eq!(auto("{\n \"a\": 1\n}\n"), [pair("the input", "{\n \"a\": 1\n}")]);
        assert_eq!(
            auto("\n{\"a\":1}\n\n{\"b\":2}"),
            [pair("line 2", "{\"a\":1}"), pair("line 4", "{\"b\":2}")]
        );
        assert_eq!(auto("[{\"a\": 1},2]\n"), [pair("item 1", "{\"a\": 1}"), pair("item 2", "2")]);
        assert_eq!(auto("[\n{\"a\":1}\n]"), [pair("item 1", "{\"a\":1}")]);
        assert_eq!(auto("[1]\n[2]\n"), [pair("line 1", "[1]"), pair("line 2", "[2]")]);
        assert_eq!(auto(" \n\n"), []);
    }

    #[test]
    fn a_body_is_sent_byte_for_byte() {
        assert_eq!(bodies("a=1&b=2\r\n", Form::Body), ["a=1&b=2\r\n"]);
        assert_eq!(bodies("[1, 2.50,\"\\u00e9\"]", Form::Body), ["[1, 2.50,\"\\u00e9\"]"]);
        assert_eq!(bodies("[ 2.50 ,\"\\u00e9\"]", Form::List), ["2.50", "\"\\u00e9\""]);
    }

    #[test]
    fn lines_are_given_before_the_next_is_read() {
        let mut given = Vec::new();
        let input = io::BufReader::with_capacity(8, "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n".as_bytes());
        pieces(input, Form::Auto, |piece| {
            given.push(piece.at);
            given.len() < 2
        })
        .unwrap();
        assert_eq!(given, [Position::Line(1), Position::Line(2)]);
    }

    #[test]
    fn what_is_in_no_form_is_refused_and_a_bad_line_is_left_to_its_reader() {
        let error = read("{\"a\":1\n{\"b\":2}\n", Form::Auto).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("--as lines"), "{error}");
        assert!(matches!(read("{}", Form::List), Err(NotRead::NoList(_))));
        assert_eq!(bodies("{\"a\":1}\nnonsense\n", Form::Auto), ["{\"a\":1}", "nonsense"]);
    }

    #[test]
    fn a_line_that_never_ends_is_not_held() {
        let endless = io::BufReader::new(io::repeat(b'x'));
        let error = pieces(endless, Form::Lines, |_| true).unwrap_err();
        assert!(matches!(error, NotRead::TooLong(Position::Line(1))), "{error}");
    }
}
