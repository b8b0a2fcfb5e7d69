//! The signed message, as an ordered list of parts: `{element:t}.{body}`.

use super::algorithm::{Digest, Encoding};
use super::place::{Braced, MaybePlace, NotAPlace, Place, braces};
use crate::source::Source;

/// What is signed, or what a handshake answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Literal(String),
    /// The raw body as received.
    Body,
    /// The method, upper case.
    Method,
    /// The endpoint's configured public URL with the query as received.
    Url,
    /// The same with the few percent-escapes undone that HubSpot undoes.
    UrlUnescaped,
    /// The path of the public URL.
    Path,
    /// Path and query.
    Target,
    /// The key's own bytes (keyed digests).
    Secret,
    /// A place; absent is empty where it is marked with `?`.
    Place(MaybePlace),
    /// The digest of the raw body.
    BodyDigest(Digest, Encoding),
    /// CRC-32 of the raw body in decimal digits.
    BodyCrc32,
    /// Form parameters sorted by name, names and values joined.
    FormSorted,
    /// `name\nvalue\n` of members of the body; absent ones marked `?` are left out.
    JsonLines(Vec<(String, bool)>),
    /// `name:value` of the headers that this header lists, sorted and joined
    /// with `;`. The named ones must be among them.
    SignedHeaders(Source, Vec<String>),
    /// The HMAC of a place under the endpoint's key (handshakes).
    Hmac(Digest, Encoding, Place),
}

/// The named functions, for error messages and the reference.
pub(crate) const FUNCTIONS: &[&str] =
    &["digest", "crc32", "form-sorted", "json-lines", "signed-headers", "hmac"];

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPlace> {
        let parts = braces(text)?
            .into_iter()
            .map(|piece| match piece {
                Braced::Outside(literal) => Ok(Part::Literal(literal.to_owned())),
                Braced::Inside(inside) => Part::parse(inside.trim()),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { parts })
    }

    /// Every place that is read for it.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.parts.iter().filter_map(|part| match part {
            Part::Place(place) => Some(&place.place),
            Part::Hmac(_, _, place) => Some(place),
            _ => None,
        })
    }

    /// Whether a header is always among those that a header lists as signed.
    pub(crate) fn lists_header(&self, name: &str) -> bool {
        self.parts.iter().any(|part| match part {
            Part::SignedHeaders(_, always) => always.iter().any(|known| known.eq_ignore_ascii_case(name)),
            _ => false,
        })
    }

    /// Whether the endpoint's public URL is needed.
    pub(crate) fn names_url(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Url | Part::UrlUnescaped | Part::Path | Part::Target))
    }

    /// The members of the body that are signed as lines.
    pub(crate) fn json_members(&self) -> impl Iterator<Item = Source> {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::JsonLines(names) => Some(names),
                _ => None,
            })
            .flatten()
            .filter_map(|(name, _)| Source::parse(&format!("/{name}")).ok())
    }

    /// Whether all that an event says is signed, if not every byte around it.
    pub(crate) fn binds_event(&self) -> bool {
        self.binds_body() || self.parts.iter().any(|part| matches!(part, Part::JsonLines(_)))
    }

    /// Whether every byte of the body goes into it through a function that
    /// binds the body as strongly as the signature itself.
    pub(crate) fn binds_body(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Body | Part::BodyDigest(..)))
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, NotAPlace> {
        let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let Some((function, arguments)) = call else {
            return Ok(match text {
                "body" => Self::Body,
                "method" => Self::Method,
                "url" => Self::Url,
                "url-unescaped" => Self::UrlUnescaped,
                "path" => Self::Path,
                "target" => Self::Target,
                "secret" => Self::Secret,
                "form-sorted" => Self::FormSorted,
                place => Self::Place(MaybePlace::parse(place)?),
            });
        };
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let wrong = || NotAPlace::Arguments(function.to_owned());
        match (function, arguments.as_slice()) {
            ("digest", [digest, encoding]) => Ok(Self::BodyDigest(
                Digest::parse(digest).ok_or_else(wrong)?,
                Encoding::parse(encoding).ok_or_else(wrong)?,
            )),
            ("hmac", [digest, encoding, place]) => Ok(Self::Hmac(
                Digest::parse(digest).ok_or_else(wrong)?,
                Encoding::parse(encoding).ok_or_else(wrong)?,
                Place::parse(place)?,
            )),
            ("crc32", ["body"]) => Ok(Self::BodyCrc32),
            ("json-lines", names) if names.iter().all(|name| !name.is_empty()) => Ok(Self::JsonLines(
                names
                    .iter()
                    .map(|name| {
                        name.strip_suffix('?')
                            .map_or_else(|| ((*name).to_owned(), false), |name| (name.to_owned(), true))
                    })
                    .collect(),
            )),
            ("signed-headers", [list, always @ ..]) => match Source::parse(list)? {
                list @ Source::Header(_) => Ok(Self::SignedHeaders(
                    list,
                    always.iter().map(|name| name.to_ascii_lowercase()).collect(),
                )),
                _ => Err(wrong()),
            },
            (known, _) if FUNCTIONS.contains(&known) => Err(wrong()),
            (unknown, _) => Err(NotAPlace::Function(unknown.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_parts_in_order() {
        let template = Template::parse("v0:{header:X-Time}:{body}").unwrap();
        assert_eq!(template.parts.len(), 4);
        assert_eq!(template.parts[0], Part::Literal("v0:".into()));
        assert_eq!(template.parts[3], Part::Body);
        assert!(template.binds_body());
    }

    #[test]
    fn functions_are_named_and_have_their_arguments() {
        for text in [
            "{digest(sha256, hex)}",
            "{crc32(body)}",
            "{form-sorted}",
            "{json-lines(Message, Subject?)}",
            "{signed-headers(header:x-list)}",
            "{hmac(sha256, base64, query:crc_token)}",
            "{/a?}:{param:id}",
        ] {
            assert!(Template::parse(text).is_ok(), "{text}");
        }
        for (text, reason) in [
            ("{digest(md5, hex)}", "arguments"),
            ("{crc32(x)}", "arguments"),
            ("{minified(body)}", "no function"),
            ("{body", "has no"),
            ("{nothing}", "names no place"),
        ] {
            let error = Template::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn a_checksum_does_not_bind_the_body() {
        assert!(!Template::parse("{crc32(body)}").unwrap().binds_body());
    }
}
