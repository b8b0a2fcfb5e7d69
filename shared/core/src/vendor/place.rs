//! What a description may name: places of the delivery, and a few things that
//! only verification knows (elements of the signature header, parameters of
//! the endpoint, claims of a token).

use crate::source::{NotASource, Source};
use std::fmt;

/// One place that a description reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `/pointer`, `header:`, `query:`, `shared:`.
    Source(Source),
    /// `element:t`: a named element of the signature header.
    Element(String),
    /// `claim:iat`: a claim of the token.
    Claim(String),
    /// `param:webhook_id`: what the endpoint was configured with.
    Param(String),
    /// `named-header:auth_header`: the header whose name that parameter holds.
    NamedHeader(String),
    /// `matched:1`: what the first `*` of `each` stood for.
    Matched(usize),
    /// `own`: the event's own part, where it is plain text and no object.
    Own,
    /// `other-key:a,b`: the name of the first member that is none of these.
    OtherKey(Vec<String>),
}

/// Why a text names no place of a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAPlace {
    #[error(transparent)]
    Source(#[from] NotASource),
    #[error("`{0}:` needs a name")]
    NoName(&'static str),
    #[error("`matched:` counts the `*` of `each` from 1")]
    Count,
    #[error("`fetch:` asks the vendor's API; a description describes what arrives")]
    Fetch,
    #[error("a `{{` has no `}}`")]
    Open,
    #[error("`{0}` is no function here")]
    Function(String),
    #[error("`{0}` has other arguments")]
    Arguments(String),
}

impl Place {
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPlace> {
        let named = |kind: &'static str, name: &str| match name {
            "" => Err(NotAPlace::NoName(kind)),
            name => Ok(name.to_owned()),
        };
        if text == "own" {
            return Ok(Self::Own);
        }
        match text.split_once(':') {
            Some(("element", name)) => named("element", name).map(Self::Element),
            Some(("claim", name)) => named("claim", name).map(Self::Claim),
            Some(("param", name)) => named("param", name).map(Self::Param),
            Some(("named-header", name)) => named("named-header", name).map(Self::NamedHeader),
            Some(("matched", count)) => match count.parse() {
                Ok(count) if count > 0 => Ok(Self::Matched(count)),
                _ => Err(NotAPlace::Count),
            },
            Some(("other-key", names)) => {
                let names = named("other-key", names)?;
                Ok(Self::OtherKey(names.split(',').map(|name| name.trim().to_owned()).collect()))
            }
            _ => match Source::parse(text)? {
                Source::Fetch(_) => Err(NotAPlace::Fetch),
                source => Ok(Self::Source(source)),
            },
        }
    }

    /// The parameter that must be configured for this place to be read.
    pub(crate) fn param(&self) -> Option<&str> {
        match self {
            Self::Param(name) | Self::NamedHeader(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            Self::Source(source) => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(source) => write!(f, "{source}"),
            Self::Element(name) => write!(f, "element:{name}"),
            Self::Claim(name) => write!(f, "claim:{name}"),
            Self::Param(name) => write!(f, "param:{name}"),
            Self::NamedHeader(name) => write!(f, "named-header:{name}"),
            Self::Matched(count) => write!(f, "matched:{count}"),
            Self::Own => f.write_str("own"),
            Self::OtherKey(names) => write!(f, "other-key:{}", names.join(",")),
        }
    }
}

/// A place that may be marked with `?`: then its absence is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MaybePlace {
    pub(crate) place: Place,
    pub(crate) optional: bool,
}

impl MaybePlace {
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPlace> {
        let (text, optional) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
        Ok(Self { place: Place::parse(text)?, optional })
    }
}

/// A value that an event is described by: the first of several that is there.
/// `header:A | header:B`, `const:text`, or a template with `{…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) alternatives: Vec<Term>,
    pub(crate) optional: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    Place(Place),
    Const(String),
    /// Literal text and places in turn; absent if one of its places is.
    Joined(Vec<Piece>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(String),
    Place(Place),
}

impl Value {
    /// Reads `a | b?`; the mark belongs to the value as a whole.
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPlace> {
        let (text, optional) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
        let alternatives =
            text.split(" | ").map(|term| Term::parse(term.trim())).collect::<Result<_, _>>()?;
        Ok(Self { alternatives, optional })
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.alternatives.iter().flat_map(|term| {
            let pieces: Vec<&Place> = match term {
                Term::Place(place) => vec![place],
                Term::Const(_) => Vec::new(),
                Term::Joined(pieces) => pieces
                    .iter()
                    .filter_map(|piece| match piece {
                        Piece::Place(place) => Some(place),
                        Piece::Literal(_) => None,
                    })
                    .collect(),
            };
            pieces
        })
    }
}

/// The value as a description writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.alternatives.iter().map(ToString::to_string).collect();
        write!(f, "{}{}", terms.join(" | "), if self.optional { "?" } else { "" })
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(place) => write!(f, "{place}"),
            Self::Const(text) => write!(f, "const:{text}"),
            Self::Joined(pieces) => pieces.iter().try_for_each(|piece| match piece {
                Piece::Literal(text) => f.write_str(text),
                Piece::Place(place) => write!(f, "{{{place}}}"),
            }),
        }
    }
}

impl Term {
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPlace> {
        if let Some(constant) = text.strip_prefix("const:") {
            return Ok(Self::Const(constant.to_owned()));
        }
        if !text.contains('{') {
            return Place::parse(text).map(Self::Place);
        }
        let pieces = braces(text)?
            .into_iter()
            .map(|piece| match piece {
                Braced::Outside(literal) => Ok(Piece::Literal(literal.to_owned())),
                Braced::Inside(place) => Place::parse(place).map(Piece::Place),
            })
            .collect::<Result<_, NotAPlace>>()?;
        Ok(Self::Joined(pieces))
    }
}

/// A template cut at its braces.
pub(crate) enum Braced<'t> {
    Outside(&'t str),
    Inside(&'t str),
}

/// `v0:{body}` is `v0:` outside and `body` inside.
pub(crate) fn braces(text: &str) -> Result<Vec<Braced<'_>>, NotAPlace> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, from_brace)) = rest.split_once('{') {
        if !literal.is_empty() {
            pieces.push(Braced::Outside(literal));
        }
        let (inside, after) = from_brace.split_once('}').ok_or(NotAPlace::Open)?;
        pieces.push(Braced::Inside(inside));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Braced::Outside(rest));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back_as_they_were_written() {
        for text in [
            "/a",
            "header:X",
            "shared:/entry/*/id",
            "element:t",
            "claim:iat",
            "param:webhook_id",
            "named-header:auth_header",
            "matched:1",
            "own",
            "other-key:update_id",
        ] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        for text in ["element:", "matched:0", "matched:x", "fetch:/a", "t"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_is_the_first_of_its_alternatives() {
        for text in ["header:A | /b | const:c?", "a.{/b}.{matched:1}", "/x"] {
            assert_eq!(Value::parse(text).unwrap().to_string(), text);
        }
        let value = Value::parse("header:A | /b | const:c?").unwrap();
        assert!(value.optional);
        assert_eq!(value.alternatives.len(), 3);
        assert_eq!(value.places().count(), 2);
        let value = Value::parse("slash_command:{/command}").unwrap();
        assert_eq!(value.places().count(), 1);
        assert!(Value::parse("x{/a").is_err());
    }
}
