//! The signed bytes, part by part.

use super::form;
use super::place::{MaybePlace, Place};
use super::refusal::Refusal;
use super::template::{Part, Template};
use super::view::{Single, View};
use crate::source::{Pointer, Source};
use std::borrow::Cow;

/// The message of a delivery in pieces, the body borrowed. A place for the
/// secret is left empty here and filled by keyed digests.
pub(crate) struct Message<'v> {
    pub(crate) pieces: Vec<Cow<'v, [u8]>>,
    /// Which pieces are the secret's.
    pub(crate) secret_at: Vec<usize>,
}

/// Renders the template over a delivery.
///
/// # Errors
/// A part is missing or ambiguous: the delivery cannot be verified.
pub(crate) fn message<'v>(
    view: &'v View<'_>,
    template: &'v Template,
    url: &'v str,
) -> Result<Message<'v>, Refusal> {
    let mut message = Message { pieces: Vec::with_capacity(template.parts.len()), secret_at: Vec::new() };
    for part in &template.parts {
        let piece = match part {
            Part::Literal(text) => Cow::Borrowed(text.as_bytes()),
            Part::Body => Cow::Borrowed(view.request.body.as_slice()),
            Part::Method => Cow::Borrowed(view.request.method.as_bytes()),
            Part::Url => Cow::Borrowed(url.as_bytes()),
            Part::UrlUnescaped => owned(unescaped_subset(url)),
            Part::Path => Cow::Borrowed(target(url).split('?').next().unwrap_or_default().as_bytes()),
            Part::Target => Cow::Borrowed(target(url).as_bytes()),
            Part::Secret => {
                message.secret_at.push(message.pieces.len());
                Cow::Borrowed(&[][..])
            }
            Part::Place(place) => at_place(view, place)?,
            Part::BodyDigest(digest, encoding) => owned(encoding.encode(&digest.of(&view.request.body))),
            Part::BodyCrc32 => owned(crc32(&view.request.body).to_string()),
            Part::FormSorted => Cow::Owned(form_sorted(view)),
            Part::JsonLines(names) => owned(json_lines(view, names)?),
            Part::SignedHeaders(list, always) => Cow::Owned(signed_headers(view, list, always)?),
            Part::Hmac(..) => return Err(Refusal::Malformed("message".to_owned())),
        };
        message.pieces.push(piece);
    }
    Ok(message)
}

fn owned<'v>(text: String) -> Cow<'v, [u8]> {
    Cow::Owned(text.into_bytes())
}

fn at_place<'v>(view: &'v View<'_>, place: &MaybePlace) -> Result<Cow<'v, [u8]>, Refusal> {
    match view.bytes(&place.place) {
        Single::One(bytes) => Ok(bytes),
        Single::Repeated => Err(Refusal::Repeated(place.place.to_string())),
        Single::Absent if place.optional => Ok(Cow::Borrowed(&[][..])),
        Single::Absent => match &place.place {
            Place::Param(name) => Err(Refusal::NoParam(name.clone())),
            missing => Err(Refusal::Missing(missing.to_string())),
        },
    }
}

/// Path and query of a URL; `/` where it has no path.
fn target(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.find('/').map_or("/", |slash| &after_scheme[slash..])
}

/// The few escapes that HubSpot undoes before it signs a URL.
fn unescaped_subset(url: &str) -> String {
    const UNDONE: [(&str, &str); 12] = [
        ("%3A", ":"),
        ("%2F", "/"),
        ("%3F", "?"),
        ("%40", "@"),
        ("%21", "!"),
        ("%24", "$"),
        ("%27", "'"),
        ("%28", "("),
        ("%29", ")"),
        ("%2A", "*"),
        ("%2C", ","),
        ("%3B", ";"),
    ];
    let mut plain = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let escape = rest.get(..3).unwrap_or_default().to_ascii_uppercase();
        match UNDONE.iter().find(|(known, _)| *known == escape) {
            Some((_, character)) => {
                plain.push_str(character);
                rest = &rest[3..];
            }
            None => {
                plain.push('%');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// CRC-32 (IEEE), bit by bit: only PayPal asks, for bodies of a few KB.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Twilio's form: names sorted, each followed by its sorted distinct values,
/// without separators. No form, nothing.
fn form_sorted(view: &View<'_>) -> Vec<u8> {
    let is_form = super::view::media_type(view.request)
        .is_some_and(|media| media == "application/x-www-form-urlencoded");
    if !is_form {
        return Vec::new();
    }
    let mut pairs: Vec<_> = form::pairs(&view.request.body).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().flat_map(|(name, value)| [name, value].concat()).collect()
}

/// SNS: `Name\nvalue\n` for each member in the listed order.
fn json_lines(view: &View<'_>, names: &[(String, bool)]) -> Result<String, Refusal> {
    let mut lines = String::new();
    for (name, optional) in names {
        let pointer = Pointer::parse(&format!("/{name}")).map_err(|_| Refusal::Missing(name.clone()))?;
        match view.text(&Place::Source(Source::Body(pointer))) {
            Some(value) => {
                lines.push_str(name);
                lines.push('\n');
                lines.push_str(&value);
                lines.push('\n');
            }
            None if *optional => {}
            None => return Err(Refusal::Missing(format!("/{name}"))),
        }
    }
    Ok(lines)
}

/// Most headers that a header may list as signed: each of them is looked for
/// among all, and nobody has vouched for the list yet (INV-8).
const MOST_LISTED: usize = 64;

/// Contentful: `name:value` of each listed header, sorted and joined with `;`.
fn signed_headers(view: &View<'_>, list: &Source, always: &[String]) -> Result<Vec<u8>, Refusal> {
    let place = Place::Source(list.clone());
    let Some(listed) = view.text(&place) else { return Err(Refusal::Missing(list.to_string())) };
    let mut names: Vec<String> =
        listed.split(',').take(MOST_LISTED + 1).map(|name| name.trim().to_ascii_lowercase()).collect();
    if names.len() > MOST_LISTED {
        return Err(Refusal::Malformed(list.to_string()));
    }
    names.sort_unstable();
    // What the list leaves out, anybody could change.
    if let Some(missing) = always.iter().find(|name| !names.contains(name)) {
        return Err(Refusal::Missing(format!("{missing} in {list}")));
    }
    let mut lines = Vec::with_capacity(names.len());
    for name in &names {
        match view.header(name) {
            Single::One(value) => lines.push([name.as_bytes(), b":", value].concat()),
            Single::Absent => return Err(Refusal::Missing(format!("header:{name}"))),
            Single::Repeated => return Err(Refusal::Repeated(format!("header:{name}"))),
        }
    }
    Ok(lines.join(&b';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_common_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn a_url_has_a_target() {
        assert_eq!(target("https://a.example/in?x=1"), "/in?x=1");
        assert_eq!(target("https://a.example"), "/");
    }

    #[test]
    fn only_some_escapes_are_undone() {
        assert_eq!(unescaped_subset("https://a/%3a%2F%20%C3%A9%"), "https://a/:/%20%C3%A9%");
    }
}
