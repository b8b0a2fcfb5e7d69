//! The small languages inside texts: spans of time, sizes, names, URLs.

use crate::document::{Document, Entry, Text};
use crate::rate::Rate;
use std::time::Duration;

/// No span in a configuration is longer; beyond it a digit was typed too many.
const LONGEST_SPAN: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// Longest name of an endpoint, resource, action, destination, status or field.
/// Names stand in keys, metrics and logs.
const LONGEST_NAME: usize = 64;

/// Why a text is not what was asked for; its display is the sentence for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAValue {
    /// Not a number and a unit.
    #[error("a span of time is a whole number and one of ms, s, m, h, d")]
    Span,
    /// Longer than ten years.
    #[error("a span of time is at most 3650 days")]
    SpanTooLong,
    /// Not a number and a unit.
    #[error("a size is a whole number and one of B, KiB, MiB")]
    Size,
    /// Not a number and a unit of time.
    #[error("a rate is a whole number from 1 on and one of /s, /m, /h, e.g. 100/s")]
    Rate,
    /// Not a media type.
    #[error("this is not a media type such as application/json, in lower case and without parameters")]
    MediaType,
    /// Not a name.
    #[error(
        "a name is made of a-z, A-Z, 0-9, _ and -, begins with a letter or digit and has at most 64 characters"
    )]
    Name,
    /// Not an absolute URL.
    #[error("this is not a URL of the form https://host/path")]
    Url,
    /// A URL with a user or password.
    #[error("a URL here holds no user or password")]
    UrlWithUser,
    /// A URL with a fragment.
    #[error("a URL here has no #fragment")]
    UrlWithFragment,
    /// Plain http to somewhere else than this machine.
    #[error("plain http is only for a loopback address")]
    PlainHttp,
}

impl NotAValue {
    /// What to write in place of the text.
    pub fn remedy(self, text: &str) -> String {
        match self {
            Self::Span => match meant(text) {
                Some(span) => format!("\"{span}\""),
                None => {
                    "e.g. \"24h\", \"30d\" or \"500ms\"; two units are said in the smaller one".to_owned()
                }
            },
            Self::SpanTooLong => "a span that is meant for ever is left out".to_owned(),
            Self::Size => "e.g. \"256KiB\" or \"1MiB\"".to_owned(),
            Self::Rate => "e.g. \"100/s\", \"30/m\" or \"500/h\"".to_owned(),
            Self::MediaType => "e.g. \"application/json\"".to_owned(),
            Self::Name => "e.g. `order-paid`".to_owned(),
            Self::Url => "e.g. \"https://tasks.example.com/new\"".to_owned(),
            Self::UrlWithUser => "name the place of a secret instead".to_owned(),
            Self::UrlWithFragment => "leave out what begins with #: it is never sent".to_owned(),
            Self::PlainHttp => match text.split_once("://") {
                Some((_, rest)) => format!("https://{rest}, or 127.0.0.1 for a service on this machine"),
                None => "https://".to_owned(),
            },
        }
    }
}

/// The span that people meant who wrote `45 days`, `2 Hours` or `1w`.
fn meant(text: &str) -> Option<String> {
    let compact: String = text.split_whitespace().collect::<String>().to_ascii_lowercase();
    let (number, unit) = number_and_unit(&compact)?;
    let (number, unit) = match unit {
        "ms" | "s" | "m" | "h" | "d" => (number, unit),
        "sec" | "secs" | "second" | "seconds" => (number, "s"),
        "min" | "mins" | "minute" | "minutes" => (number, "m"),
        "hr" | "hrs" | "hour" | "hours" => (number, "h"),
        "day" | "days" => (number, "d"),
        "w" | "week" | "weeks" => (number.checked_mul(7)?, "d"),
        _ => return None,
    };
    let meant = format!("{number}{unit}");
    span(&meant).is_ok().then_some(meant)
}

/// A value that must be text, read by one of the readers here; what that
/// refuses is a problem with its remedy.
pub(crate) fn read<'d, T>(
    document: &mut Document<'_>,
    entry: Entry<'d>,
    reader: impl FnOnce(&'d str) -> Result<T, NotAValue>,
) -> Option<T> {
    let text = document.text(entry)?;
    accept(document, text, reader(text.text))
}

/// The same of a text that was read.
pub(crate) fn accept<T>(
    document: &mut Document<'_>,
    text: Text<'_>,
    result: Result<T, NotAValue>,
) -> Option<T> {
    let refused = |refused: NotAValue| {
        document.problem(text.at, refused.to_string(), Some(refused.remedy(text.text)));
    };
    result.map_err(refused).ok()
}

/// A span of time such as `24h`, `30d`, `15m`, `10s` or `500ms`.
pub fn span(text: &str) -> Result<Duration, NotAValue> {
    let (number, unit) = number_and_unit(text).ok_or(NotAValue::Span)?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(NotAValue::Span),
    };
    let span = number.checked_mul(millis).map(Duration::from_millis).ok_or(NotAValue::SpanTooLong)?;
    if span > LONGEST_SPAN { Err(NotAValue::SpanTooLong) } else { Ok(span) }
}

/// A size in bytes such as `1MiB`, `256KiB` or `512B`.
pub fn size(text: &str) -> Result<u64, NotAValue> {
    let (number, unit) = number_and_unit(text).ok_or(NotAValue::Size)?;
    let factor = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return Err(NotAValue::Size),
    };
    number.checked_mul(factor).ok_or(NotAValue::Size)
}

/// A rate such as `100/s`, `30/m` or `500/h`.
pub fn rate(text: &str) -> Result<Rate, NotAValue> {
    let (number, unit) = number_and_unit(text).ok_or(NotAValue::Rate)?;
    let per = match unit {
        "/s" => Duration::from_secs(1),
        "/m" => Duration::from_secs(60),
        "/h" => Duration::from_secs(3_600),
        _ => return Err(NotAValue::Rate),
    };
    match u32::try_from(number) {
        Ok(many) if many > 0 => Ok(Rate { many, per }),
        _ => Err(NotAValue::Rate),
    }
}

/// A media type such as `application/json`.
pub fn media_type(text: &str) -> Result<&str, NotAValue> {
    let of_type = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$&-^_.+".contains(&byte)
            })
    };
    match text.split_once('/') {
        Some((main, sub)) if of_type(main) && of_type(sub) => Ok(text),
        _ => Err(NotAValue::MediaType),
    }
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// A name of something in the configuration.
pub fn name(text: &str) -> Result<&str, NotAValue> {
    let well_made = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= LONGEST_NAME
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if well_made { Ok(text) } else { Err(NotAValue::Name) }
}

/// An absolute URL, over TLS unless it stays on this machine.
pub fn url(text: &str) -> Result<&str, NotAValue> {
    let (scheme, rest) = text.split_once("://").ok_or(NotAValue::Url)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    if authority.contains('@') {
        return Err(NotAValue::UrlWithUser);
    }
    if text.contains('#') {
        return Err(NotAValue::UrlWithFragment);
    }
    let host = host(authority).ok_or(NotAValue::Url)?;
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        return Err(NotAValue::Url);
    }
    match scheme {
        "https" => Ok(text),
        "http" if is_loopback(host) => Ok(text),
        "http" => Err(NotAValue::PlainHttp),
        _ => Err(NotAValue::Url),
    }
}

/// The host of `host`, `host:port` or `[v6]:port`; `None` where it is malformed.
fn host(authority: &str) -> Option<&str> {
    let (host, after) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (host, after) = inner.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, after)
        }
        None => authority.find(':').map_or((authority, ""), |colon| authority.split_at(colon)),
    };
    let port_is_fine = match after.strip_prefix(':') {
        Some(port) => {
            port.starts_with(|c: char| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port != 0)
        }
        None => after.is_empty(),
    };
    let host_is_fine = !host.is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_'));
    (port_is_fine && host_is_fine).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A span as people write it: the largest unit that divides it.
pub fn show_span(span: Duration) -> String {
    let millis = span.as_millis();
    [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        .into_iter()
        .find(|(unit, _)| millis > 0 && millis.is_multiple_of(*unit))
        .map_or_else(|| format!("{millis}ms"), |(unit, name)| format!("{}{name}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_span_is_a_whole_number_and_a_unit() {
        assert_eq!(span("24h"), Ok(Duration::from_secs(86_400)));
        assert_eq!(span("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(span("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "24", "h", "1.5h", "-1h", "1 h", "1h30m", "1w", "１h"] {
            assert_eq!(span(bad), Err(NotAValue::Span), "{bad}");
        }
        assert_eq!(span("4000d"), Err(NotAValue::SpanTooLong));
        assert_eq!(span("18446744073709551615d"), Err(NotAValue::SpanTooLong));
    }

    #[test]
    fn a_span_in_other_words_is_said_in_ours() {
        for (written, meant) in [
            ("45 days", "\"45d\""),
            ("2 Hours", "\"2h\""),
            ("1w", "\"7d\""),
            ("90 sec", "\"90s\""),
            ("1 h", "\"1h\""),
        ] {
            assert_eq!(NotAValue::Span.remedy(written), meant);
        }
        for nothing in ["", "soon", "1h30m", "999999 weeks", "1.5h"] {
            assert!(NotAValue::Span.remedy(nothing).starts_with("e.g. "), "{nothing}");
        }
    }

    #[test]
    fn a_size_is_in_powers_of_two() {
        assert_eq!(size("1MiB"), Ok(1_048_576));
        assert_eq!(size("256KiB"), Ok(262_144));
        assert_eq!(size("512B"), Ok(512));
        for bad in ["1MB", "1", "KiB", "99999999999999999999B", "18446744073709551615MiB"] {
            assert_eq!(size(bad), Err(NotAValue::Size), "{bad}");
        }
    }

    #[test]
    fn a_rate_is_a_number_in_a_unit_of_time() {
        assert_eq!(rate("100/s"), Ok(Rate { many: 100, per: Duration::from_secs(1) }));
        assert_eq!(rate("1/h"), Ok(Rate { many: 1, per: Duration::from_secs(3_600) }));
        for bad in ["", "100", "0/s", "/s", "1.5/s", "10 /s", "10/d", "-1/s", "5000000000/s"] {
            assert_eq!(rate(bad), Err(NotAValue::Rate), "{bad}");
        }
    }

    #[test]
    fn a_media_type_has_two_parts_and_no_parameters() {
        assert!(media_type("application/cloudevents+json").is_ok());
        for bad in
            ["", "json", "application/", "Application/json", "text/plain; charset=utf-8", "a/b/c", "*/*"]
        {
            assert_eq!(media_type(bad), Err(NotAValue::MediaType), "{bad}");
        }
    }

    #[test]
    fn a_name_fits_in_a_path_a_key_and_a_metric() {
        assert!(name("stripe-live_2").is_ok());
        for bad in ["", "-a", "a b", "a/b", "é", &"x".repeat(65)] {
            assert_eq!(name(bad), Err(NotAValue::Name), "{bad}");
        }
    }

    #[test]
    fn a_url_is_over_tls_unless_it_stays_on_this_machine() {
        for good in [
            "https://packing.example.com/tasks",
            "https://example.com:8443?a=b",
            "http://127.0.0.1:9000/x",
            "http://localhost/x",
            "http://[::1]:80/",
        ] {
            assert_eq!(url(good), Ok(good));
        }
        assert_eq!(url("http://packing.example.com/"), Err(NotAValue::PlainHttp));
        assert_eq!(url("http://localhost.example.com/"), Err(NotAValue::PlainHttp));
        assert_eq!(url("https://user:invented@example.com/"), Err(NotAValue::UrlWithUser));
        assert_eq!(url("https://example.com/#a"), Err(NotAValue::UrlWithFragment));
        for bad in [
            "example.com",
            "ftp://example.com",
            "https://",
            "https:///x",
            "https://a b",
            "https://a:99999/",
            "https://[1/",
        ] {
            assert_eq!(url(bad), Err(NotAValue::Url), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_span_is_shown_as_it_can_be_read(millis in 0..=315_360_000_000_u64) {
            let given = Duration::from_millis(millis);
            prop_assert_eq!(span(&show_span(given)), Ok(given));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in ".{0,40}") {
            let _ = (span(&text), size(&text), name(&text), url(&text), rate(&text), media_type(&text));
        }
    }
}
