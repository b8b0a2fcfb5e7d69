//! A delivery as it came over the wire, whichever gateway brought it.

use crate::steps::step;
use crate::time::UnixMillis;
use crate::vendor::moment;
use crate::vendor::scheme::Unit;
use std::time::Duration;

/// The header fields of a request. Names are case-insensitive; repeats are
/// kept in order, since a repeated single-valued header must be refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// From pairs as received. White space around a value is trimmed.
    pub fn new<N: Into<String>, V: AsRef<[u8]>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into().to_ascii_lowercase(), value.as_ref().trim_ascii().to_vec()))
                .collect(),
        )
    }

    /// All values of one header, in order.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .inspect(|_| step())
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// The only value of a header: `None` where it is absent or repeated.
    pub fn only(&self, name: &str) -> Option<&[u8]> {
        let mut values = self.all(name);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// The only value of a header as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.only(name)?).ok()
    }

    /// Every pair, names in lower case.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }
}

/// One delivery: a request with its body as received, after the gateway's own
/// base64 was taken off.
#[derive(Debug, Clone)]
pub struct Request {
    /// Upper case, e.g. `POST`.
    pub method: String,
    /// The path as the vendor called it, stage included, percent-escapes kept.
    pub path: String,
    /// The query without `?`, percent-escapes kept; empty where there is none.
    pub query: String,
    /// Header fields.
    pub headers: Headers,
    /// The raw bytes. Signatures are over these and nothing else.
    pub body: Vec<u8>,
}

impl Request {
    /// The declared media type in lower case, without parameters; `None` where
    /// none is declared, or several.
    pub fn media_type(&self) -> Option<String> {
        let declared = self.headers.text("content-type")?;
        let media_type = declared.split(';').next().unwrap_or(declared).trim();
        (!media_type.is_empty()).then(|| media_type.to_ascii_lowercase())
    }
}

/// How long a `Retry-After` asks to wait, from `now` on: whole seconds or a
/// date. `None`: it is neither, and asks nothing.
pub fn retry_after(text: &str, now: UnixMillis) -> Option<Duration> {
    let text = text.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => moment::stated(text, Unit::Http, 0).map(|date| date.since(now)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_by_a_date() {
        let now = UnixMillis(1_772_000_000_000);
        assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Wed, 25 Feb 2026 06:14:20 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Wed, 25 Feb 2015 06:14:20 GMT", now), Some(Duration::ZERO));
        for nonsense in ["", "-1", "1.5", "soon", "99999999999999999999"] {
            assert_eq!(retry_after(nonsense, now), None, "{nonsense}");
        }
    }

    #[test]
    fn header_names_are_case_insensitive_and_values_trimmed() {
        let headers = Headers::new([("X-Hub-Signature-256", " sha256=ab ")]);
        assert_eq!(headers.text("x-hub-signature-256"), Some("sha256=ab"));
    }

    #[test]
    fn a_repeated_header_has_no_only_value() {
        let headers = Headers::new([("a", "1"), ("A", "1")]);
        assert_eq!(headers.only("a"), None);
        assert_eq!(headers.all("a").count(), 2);
    }
}
