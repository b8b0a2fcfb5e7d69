//! Captured requests, in the forms in which people have them: HTTP text, a HAR
//! file, a gateway's event, a puzzle.

mod gateway;
mod har;
mod http_text;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sekali::doctor::puzzle::{Captured, Puzzle};
use sekali::http::Request;
use sekali::time::UnixMillis;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// A captured request.
#[derive(Debug, Clone)]
pub struct Capture {
    /// The request.
    pub request: Request,
    /// The URL as it was called, without query, where that is known.
    pub url: Option<String>,
    /// When it arrived, where that is known.
    pub received_at: Option<UnixMillis>,
    /// What was done to the capture itself, for its reader to know.
    pub note: Option<String>,
}

/// What a file holds.
#[derive(Debug)]
pub enum Captures {
    /// One request.
    One(Box<Capture>),
    /// Puzzles, which bring their vendors and secrets.
    Puzzles(Vec<Puzzle>),
}

/// Reads a file, or standard input for `-`. `entry` picks one of a HAR file's
/// requests, counted from 1.
///
/// # Errors
/// It cannot be read, or is in none of the forms.
pub fn read(file: &Path, entry: Option<usize>) -> Result<Captures> {
    let mut bytes = Vec::new();
    match file.to_str() {
        Some("-") => {
            std::io::stdin().read_to_end(&mut bytes).map(drop).context("cannot read standard input")?;
        }
        _ => bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?,
    }
    recognised(&bytes, entry).with_context(|| format!("{} is no captured request", file.display()))
}

/// Reads a capture in whichever form it is.
///
/// # Errors
/// In none.
pub fn recognised(bytes: &[u8], entry: Option<usize>) -> Result<Captures> {
    // An editor or a shell may have put its mark in front of the file.
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        bail!("the file is UTF-16, in which no body keeps its bytes: capture it again as bytes or UTF-8");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let json = match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => serde_json::from_slice::<Value>(bytes).ok(),
        _ => None,
    };
    let Some(json) = json else {
        return http_text::read(bytes).map(|capture| Captures::One(Box::new(capture)));
    };
    let one = |capture: Result<Capture>| capture.map(|capture| Captures::One(Box::new(capture)));
    if json.is_array() {
        let puzzles: Vec<Puzzle> = serde_json::from_value(json)
            .map_err(|error| malformed("the list does not hold puzzles", &error))?;
        return Ok(Captures::Puzzles(puzzles));
    }
    if json.get("captured").is_some() {
        let puzzle =
            serde_json::from_value(json).map_err(|error| malformed("the puzzle is malformed", &error))?;
        return Ok(Captures::Puzzles(vec![puzzle]));
    }
    if json.get("log").is_some() {
        return one(har::read(&json, entry));
    }
    if json.get("requestContext").is_some() {
        return one(gateway::read(&json));
    }
    if json.get("body_b64").is_some() {
        let captured: Captured =
            serde_json::from_value(json).map_err(|error| malformed("the capture is malformed", &error))?;
        let url = captured.url().split('?').next().map(str::to_owned);
        return one(Ok(Capture { request: captured.request()?, url, received_at: None, note: None }));
    }
    bail!(
        "JSON without `captured`, `log`, `requestContext` or `body_b64`: it is a body alone. Put the request's line and headers above it, and an empty line between"
    )
}

/// What is malformed, without the values of the file, which the reader's words
/// may quote: names are shown.
fn malformed(what: &str, error: &serde_json::Error) -> anyhow::Error {
    let said = error.to_string();
    match said.starts_with("missing field") {
        true => anyhow!("{what}: {said}"),
        false => anyhow!("{what}: a member has another type than it should"),
    }
}

/// The parts of a URL or of a request's target: what is before the query, the
/// path, and the query.
fn parts(target: &str) -> (Option<String>, String, String) {
    let (bare, query) = target.split_once('?').unwrap_or((target, ""));
    let query = query.split('#').next().unwrap_or(query);
    match bare.split_once("://") {
        Some((_, rest)) => {
            let path = rest.find('/').map_or("/", |at| &rest[at..]);
            (Some(bare.to_owned()), path.to_owned(), query.to_owned())
        }
        None => (None, bare.to_owned(), query.to_owned()),
    }
}

/// Base64 of either alphabet, with or without padding, in lines or not: tools
/// that export requests differ.
fn base64(text: &str) -> Option<Vec<u8>> {
    let plain: String = text
        .chars()
        .filter(|letter| !letter.is_ascii_whitespace() && *letter != '=')
        .map(|letter| match letter {
            '-' => '+',
            '_' => '/',
            letter => letter,
        })
        .collect();
    STANDARD_NO_PAD.decode(plain).ok()
}

/// A member that is text.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Capture {
        match recognised(bytes, None).unwrap() {
            Captures::One(capture) => *capture,
            Captures::Puzzles(_) => panic!("puzzles"),
        }
    }

    #[test]
    fn a_captured_request_of_a_vector_is_recognised() {
        let capture = one(
            br#"{"method":"post","url":"https://a.example/x?y=1","headers":[["A","b"]],"body_b64":"e30="}"#,
        );
        assert_eq!(capture.url.as_deref(), Some("https://a.example/x"));
        assert_eq!((capture.request.method.as_str(), capture.request.query.as_str()), ("POST", "y=1"));
        assert_eq!(capture.request.body, b"{}");
    }

    #[test]
    fn a_mark_in_front_of_the_file_is_no_part_of_the_request() {
        let request = "\u{feff}POST /in HTTP/1.1\r\nHost: a.example\r\nX-A: b\r\n\r\n{}";
        assert_eq!(one(request.as_bytes()).url.as_deref(), Some("https://a.example/in"));
        let har = "\u{feff}{\"log\":{\"entries\":[{\"request\":{\"url\":\"https://a.example/in\"}}]}}";
        assert_eq!(one(har.as_bytes()).request.path, "/in");
        let wide: Vec<u8> = request.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let error = recognised(&wide, None).unwrap_err().to_string();
        assert!(error.contains("UTF-16"), "{error}");
    }

    #[test]
    fn base64_is_read_as_tools_write_it() {
        for text in ["e30=", "e30", "e3\n0=\n"] {
            assert_eq!(base64(text).as_deref(), Some(&b"{}"[..]), "{text:?}");
        }
        assert_eq!((base64("_-8="), base64("/+8=")), (Some(vec![0xff, 0xef]), Some(vec![0xff, 0xef])));
        assert_eq!(base64("no base64!"), None);
    }

    #[test]
    fn a_body_alone_is_no_request_and_the_error_says_what_lacks() {
        let error = format!("{:#}", recognised(br#"{"id":"evt_1"}"#, None).unwrap_err());
        assert!(error.contains("headers above it"), "{error}");
        assert!(recognised(b"", None).is_err());
        assert!(recognised(b"[1]", None).is_err());
    }
}
