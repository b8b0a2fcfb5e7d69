//! URLs that we call ourselves: the host is the configuration's, and what an
//! event brings is percent-encoded into one step of the path or one value of
//! the query. Whatever a vendor writes, nobody else is asked, and nothing else.

use crate::config::{NotAValue, value};
use std::fmt;
use thiserror::Error;

/// Longest value that is written into a URL, in bytes; ids have a few dozen.
const LONGEST_PART: usize = 512;

/// A URL with parts in braces, e.g. `https://api.example.com/v1/jobs/{key}`.
/// What a part stands for is the caller's: a place in an event, or a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UrlTemplate<P> {
    text: String,
    pieces: Vec<Piece<P>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Piece<P> {
    Fixed(String),
    Part(P),
}

/// A URL that may be called: a template that was filled, or a URL whose host
/// was pinned otherwise. It begins with `https://`, or with `http://` and a
/// loopback address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboundUrl(String);

/// Why a text is no template; its display is the sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotAUrlTemplate {
    /// Without its parts it would be no URL.
    #[error("{0}")]
    Url(NotAValue),
    /// A brace that is not one of a pair.
    #[error("in a URL `{{` and `}}` come in pairs around the name of a part")]
    Braces,
    /// A part before the path.
    #[error("the host of a URL is fixed: parts in braces come after the `/` or `?` that follows it")]
    Host,
    /// A part that the caller does not know.
    #[error("`{{{part}}}` in a URL: {reason}")]
    Part {
        /// Between the braces.
        part: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No part where there has to be one.
    #[error("the URL is the same for everything: it needs a part in braces")]
    NoPart,
}

/// Why a template cannot be filled. The value is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotFilled {
    /// The value is not there or empty: without it the URL names something else.
    #[error("part {0} of the URL is absent or empty")]
    Absent(usize),
    /// More bytes than anybody's id has.
    #[error("part {0} of the URL has more than {LONGEST_PART} bytes")]
    TooLong(usize),
    /// A step `.` or `..`, which a server takes for another path.
    #[error("a step of the URL's path is `.` or `..`")]
    Dots,
}

impl<P> UrlTemplate<P> {
    /// Reads a template; `part` says what stands for the text between braces,
    /// or why nothing does.
    ///
    /// # Errors
    /// The text is no template; the message is for the one who wrote it.
    pub fn parse(
        text: &str,
        mut part: impl FnMut(&str) -> Result<P, String>,
    ) -> Result<Self, NotAUrlTemplate> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (fixed, after) = rest.split_at(at);
            let inside = after.strip_prefix('{').ok_or(NotAUrlTemplate::Braces)?;
            let end = inside.find(['{', '}']).ok_or(NotAUrlTemplate::Braces)?;
            if !inside[end..].starts_with('}') {
                return Err(NotAUrlTemplate::Braces);
            }
            plain.push_str(fixed);
            if !is_past_host(&plain) {
                return Err(NotAUrlTemplate::Host);
            }
            let name = &inside[..end];
            let known =
                part(name).map_err(|reason| NotAUrlTemplate::Part { part: name.to_owned(), reason })?;
            pieces.extend([Piece::Fixed(fixed.to_owned()), Piece::Part(known)]);
            // What a part may become never makes a URL of what is none.
            plain.push('x');
            rest = &inside[end + 1..];
        }
        plain.push_str(rest);
        pieces.push(Piece::Fixed(rest.to_owned()));
        value::url(&plain).map_err(NotAUrlTemplate::Url)?;
        Ok(Self { text: text.to_owned(), pieces })
    }

    /// The same, where a URL without parts would be a mistake.
    ///
    /// # Errors
    /// As [`UrlTemplate::parse`], and where there is no part.
    pub fn with_parts(
        text: &str,
        part: impl FnMut(&str) -> Result<P, String>,
    ) -> Result<Self, NotAUrlTemplate> {
        let template = Self::parse(text, part)?;
        if template.parts().next().is_none() {
            return Err(NotAUrlTemplate::NoPart);
        }
        Ok(template)
    }

    /// What its braces stand for, in order.
    pub fn parts(&self) -> impl Iterator<Item = &P> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Part(part) => Some(part),
            Piece::Fixed(_) => None,
        })
    }

    /// The URL with every part percent-encoded.
    ///
    /// # Errors
    /// A value is missing, empty or too long, or would make another path of it:
    /// then nobody may be asked.
    pub fn fill<'v>(
        &self,
        mut value: impl FnMut(&P) -> Option<std::borrow::Cow<'v, str>>,
    ) -> Result<OutboundUrl, NotFilled> {
        let mut url = String::with_capacity(self.text.len());
        let mut count = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(text) => url.push_str(text),
                Piece::Part(part) => {
                    count += 1;
                    let value =
                        value(part).filter(|value| !value.is_empty()).ok_or(NotFilled::Absent(count))?;
                    if value.len() > LONGEST_PART {
                        return Err(NotFilled::TooLong(count));
                    }
                    encode(&value, &mut url);
                }
            }
        }
        let path = url.split('?').next().unwrap_or_default();
        if path.split('/').skip(3).any(|step| matches!(step, "." | "..")) {
            return Err(NotFilled::Dots);
        }
        Ok(OutboundUrl(url))
    }
}

impl<P> fmt::Display for UrlTemplate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl OutboundUrl {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same with one parameter more in its query.
    #[must_use]
    pub fn with_query(&self, name: &str, value: &str) -> Self {
        let mut url = self.0.clone();
        url.push(if url.contains('?') { '&' } else { '?' });
        encode(name, &mut url);
        url.push('=');
        encode(value, &mut url);
        Self(url)
    }

    /// Whether both are asked of the same host, at the same port, in the same
    /// way.
    pub fn same_origin(&self, other: &Self) -> bool {
        origin(&self.0).eq_ignore_ascii_case(origin(&other.0))
    }

    /// A URL whose host somebody has pinned already, and that is one in the
    /// sense of the configuration. Whoever calls this vouches for the host.
    ///
    /// # Errors
    /// The text is no URL, or plain http to somewhere else than this machine.
    pub fn pinned(url: &str) -> Result<Self, NotAValue> {
        value::url(url).map(|url| Self(url.to_owned()))
    }
}

impl fmt::Display for OutboundUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Scheme, host and port.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
    &url[..end]
}

/// Whether the host of what stands here is complete.
fn is_past_host(before: &str) -> bool {
    before.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']))
}

/// Everything but the unreserved characters of RFC 3986.
fn encode(value: &str, url: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push('%');
            url.push(char::from(DIGITS[usize::from(byte >> 4)]));
            url.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::borrow::Cow;

    fn template(text: &str) -> Result<UrlTemplate<String>, NotAUrlTemplate> {
        UrlTemplate::parse(text, |name| match name {
            "" => Err("it names nothing".to_owned()),
            name => Ok(name.to_owned()),
        })
    }

    fn filled(text: &str, value: &str) -> Result<String, NotFilled> {
        let url = template(text).unwrap().fill(|_| Some(Cow::Owned(value.to_owned())));
        url.map(|url| url.as_str().to_owned())
    }

    #[test]
    fn parts_are_percent_encoded_into_path_and_query() {
        let url = "https://api.example.com/v1/jobs/{key}?expand={/data/x}";
        assert_eq!(
            filled(url, "a/b?c=d#e é%2F"),
            Ok("https://api.example.com/v1/jobs/a%2Fb%3Fc%3Dd%23e%20%C3%A9%252F?expand=a%2Fb%3Fc%3Dd%23e%20%C3%A9%252F"
                .to_owned())
        );
        let parts: Vec<String> = template(url).unwrap().parts().cloned().collect();
        assert_eq!(parts, ["key", "/data/x"]);
    }

    #[test]
    fn the_host_is_fixed() {
        for bad in [
            "https://{host}/v1",
            "https://api.{region}.example.com/v1",
            "https://api.example.com{path}",
            "https://api.example.com:{port}/",
            "{url}",
            "{scheme}://api.example.com/",
        ] {
            assert_eq!(template(bad), Err(NotAUrlTemplate::Host), "{bad}");
        }
    }

    #[test]
    fn what_is_no_template_is_refused_with_a_reason() {
        for bad in [
            "https://a.example/{",
            "https://a.example/}",
            "https://a.example/{a{b}}",
            "https://a.example/{a}}",
        ] {
            assert_eq!(template(bad), Err(NotAUrlTemplate::Braces), "{bad}");
        }
        for (bad, reason) in [
            ("http://a.example/{x}", "plain http"),
            ("https://u:p@a.example/{x}", "no user"),
            ("https://a.example/{x}#top", "fragment"),
            ("https://a.example/ {x}", "not a URL"),
            ("https://a.example/{}", "it names nothing"),
        ] {
            let error = template(bad).unwrap_err().to_string();
            assert!(error.contains(reason), "{bad}: {error}");
        }
        assert!(template("http://127.0.0.1:9000/{x}").is_ok());
        let none = UrlTemplate::with_parts("https://a.example/x", |_| Ok(()));
        assert_eq!(none, Err(NotAUrlTemplate::NoPart));
    }

    // Without its id `/v1/jobs/` is the list of all jobs.
    #[test]
    fn a_part_that_is_absent_empty_or_another_path_fills_nothing() {
        let url = "https://a.example/v1/{x}";
        assert_eq!(filled(url, ""), Err(NotFilled::Absent(1)));
        assert_eq!(template(url).unwrap().fill(|_| None), Err(NotFilled::Absent(1)));
        assert_eq!(filled(url, &"x".repeat(513)), Err(NotFilled::TooLong(1)));
        for dots in [".", ".."] {
            assert_eq!(filled(url, dots), Err(NotFilled::Dots), "{dots}");
        }
        assert_eq!(filled("https://a.example/{x}{x}/y", "."), Err(NotFilled::Dots));
        assert_eq!(filled("https://a.example/?q={x}", ".."), Ok("https://a.example/?q=..".to_owned()));
        assert_eq!(filled("https://a.example/f{x}", ".."), Ok("https://a.example/f..".to_owned()));
    }

    #[test]
    fn a_parameter_is_added_behind_those_that_are_there_and_encoded() {
        let url = |text: &str| OutboundUrl::pinned(text).unwrap();
        let more = url("https://a.example/v1").with_query("created[gte]", "1 2").with_query("after", "x&y");
        assert_eq!(more.as_str(), "https://a.example/v1?created%5Bgte%5D=1%202&after=x%26y");
        assert!(more.same_origin(&url("https://A.example/other")));
        for other in ["http://127.0.0.1/v1", "https://a.example.com/v1", "https://a.example:8443/v1"] {
            assert!(!more.same_origin(&url(other)), "{other}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_vendor_writes_host_and_number_of_steps_stay(value in "\\PC{1,20}|[/.?#@:%\\\\]{1,8}") {
            if let Ok(url) = filled("https://api.example.com/v1/{x}/state?of={x}", &value) {
                let rest = url.strip_prefix("https://api.example.com/v1/").unwrap();
                prop_assert_eq!(rest.matches('/').count(), 1);
                prop_assert_eq!(rest.matches('?').count(), 1);
                prop_assert!(!rest.contains(['#', '@', '\\', ' ', '&']));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(https://a/)?[a-z{}/?#é]{0,20}") {
            let _ = template(&text);
        }
    }
}
