//! Places: where a value of a delivery is read. Descriptions and rules name
//! values by place only, so nothing downstream sees a vendor's shape.

use std::fmt;
use thiserror::Error;

/// Longest pointer that is taken, in steps; deeper reading would let a
/// description decide how deep the reader recurses.
pub const DEEPEST_POINTER: usize = 32;

/// A JSON pointer (RFC 6901) that is not the whole document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// Reads `/a/b~1c/0`. A step matches a member of an object or, if it is a
    /// plain number, an element of an array.
    ///
    /// # Errors
    /// The text is no pointer; the message is for the one who wrote it.
    pub fn parse(text: &str) -> Result<Self, NotASource> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(NotASource::NoPointer(text.to_owned()));
        };
        let steps = rest.split('/').map(unescape).collect::<Option<Vec<_>>>();
        match steps {
            None => Err(NotASource::Escape(text.to_owned())),
            Some(steps) if steps.len() > DEEPEST_POINTER => Err(NotASource::TooDeep(text.to_owned())),
            Some(steps) => Ok(Self { text: text.to_owned(), steps }),
        }
    }

    /// The unescaped steps, outermost first; never empty.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// The pointer with each step `*` replaced, in order, by what it stands for.
    #[must_use]
    pub(crate) fn filled(&self, matched: &[String]) -> Self {
        let mut matched = matched.iter();
        let steps: Vec<String> = self
            .steps
            .iter()
            .map(|step| match step.as_str() {
                "*" => matched.next().unwrap_or(step).clone(),
                _ => step.clone(),
            })
            .collect();
        let text =
            steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
        Self { text, steps }
    }

    /// The pointer as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `~1` is `/` and `~0` is `~`; `None` for any other use of `~`.
fn unescape(step: &str) -> Option<String> {
    let mut plain = String::with_capacity(step.len());
    let mut chars = step.chars();
    while let Some(c) = chars.next() {
        match c {
            '~' => match chars.next()? {
                '0' => plain.push('~'),
                '1' => plain.push('/'),
                _ => return None,
            },
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// Where a value is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// `/data/id`: in the event's own part of the body.
    Body(Pointer),
    /// `header:X-Topic`: a header of the delivery; names ignore case.
    Header(String),
    /// `query:source`: a query parameter of the delivery, decoded once.
    Query(String),
    /// `shared:/destination`: in the delivery around an event, for vendors
    /// that send several events at once. `*` stands for the event's own place.
    Shared(Pointer),
    /// `fetch:/status`: in what the vendor's API answers about the resource.
    Fetch(Pointer),
}

impl Source {
    /// Reads the text of a place, e.g. `/data/id` or `header:X-Topic`.
    ///
    /// # Errors
    /// The text names no place; the message is for the one who wrote it.
    pub fn parse(text: &str) -> Result<Self, NotASource> {
        if text.starts_with('/') {
            return Pointer::parse(text).map(Self::Body);
        }
        let name = |kind: &str, name: &str| match name {
            "" => Err(NotASource::NoName(kind.to_owned())),
            name => Ok(name.to_owned()),
        };
        match text.split_once(':') {
            Some(("header", header)) if header.bytes().all(is_header_byte) => {
                name("header", header).map(Self::Header)
            }
            Some(("header", header)) => Err(NotASource::HeaderName(header.to_owned())),
            Some(("query", parameter)) => name("query", parameter).map(Self::Query),
            Some(("shared", pointer)) => Pointer::parse(pointer).map(Self::Shared),
            Some(("fetch", pointer)) => Pointer::parse(pointer).map(Self::Fetch),
            _ => Err(NotASource::Unknown(text.to_owned())),
        }
    }

    /// One text for one place: header names in lower case. Stored context is
    /// kept under this, so that `header:X-Topic` finds `header:x-topic`.
    pub fn canonical(&self) -> String {
        match self {
            Self::Header(name) => format!("header:{}", name.to_ascii_lowercase()),
            other => other.to_string(),
        }
    }

    /// Whether the value is in the event's own part of the body.
    pub fn is_body(&self) -> bool {
        matches!(self, Self::Body(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(pointer) => write!(f, "{pointer}"),
            Self::Header(name) => write!(f, "header:{name}"),
            Self::Query(name) => write!(f, "query:{name}"),
            Self::Shared(pointer) => write!(f, "shared:{pointer}"),
            Self::Fetch(pointer) => write!(f, "fetch:{pointer}"),
        }
    }
}

/// A `token` character of RFC 9110.
fn is_header_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Why a text names no place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotASource {
    /// Neither a pointer nor a known kind of place.
    #[error(
        "`{0}` names no place: write `/pointer` for the body, or `header:`, `query:`, `shared:`, `fetch:`"
    )]
    Unknown(String),
    /// The part behind the colon is missing.
    #[error("`{0}:` needs a name")]
    NoName(String),
    /// A header name with characters that no header has.
    #[error("`{0}` cannot be the name of a header")]
    HeaderName(String),
    /// A pointer that does not begin with a slash.
    #[error("`{0}` is not a pointer: it begins with `/`")]
    NoPointer(String),
    /// A lone `~`.
    #[error("in `{0}` a `~` must be written `~0` and a `/` within a name `~1`")]
    Escape(String),
    /// More steps than are read.
    #[error("`{0}` has more than {DEEPEST_POINTER} steps")]
    TooDeep(String),
}

impl NotASource {
    /// What was likely meant, where the text tells.
    pub fn remedy(&self) -> Option<String> {
        let (Self::Unknown(text) | Self::NoPointer(text)) = self else { return None };
        let bare = text.trim_start_matches(['$', '.']);
        let is_path = !bare.is_empty()
            && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
        is_path.then(|| format!("\"/{}\"", bare.replace('.', "/")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_place_is_given_back_as_it_was_written() {
        for text in ["/a/b~1c/0", "/", "header:X-Topic", "query:hub.mode", "shared:/a", "fetch:/status"] {
            assert_eq!(Source::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_names_no_place_is_refused_with_a_reason() {
        for (text, reason) in [
            ("id", "names no place"),
            ("", "names no place"),
            ("body:/id", "names no place"),
            ("header:", "needs a name"),
            ("header:a b", "cannot be the name"),
            ("shared:id", "is not a pointer"),
            ("/a~2", "must be written"),
            ("/a~", "must be written"),
        ] {
            let error = Source::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(Source::parse(&"/a".repeat(33)).is_err());
    }

    #[test]
    fn header_places_are_one_place_in_any_case() {
        let [a, b] = ["header:X-Topic", "header:x-topic"].map(|text| Source::parse(text).unwrap());
        assert_eq!(a.canonical(), b.canonical());
    }

    proptest! {
        #[test]
        fn a_pointer_survives_being_written_and_read(steps in prop::collection::vec("[a~/0-9é]{0,5}", 1..6)) {
            let text: String =
                steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
            let pointer = Pointer::parse(&text).unwrap();
            prop_assert_eq!(pointer.steps(), &steps[..]);
            prop_assert_eq!(pointer.to_string(), text);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,40}") {
            if let Ok(source) = Source::parse(&text) {
                prop_assert_eq!(source.to_string(), text);
            }
        }
    }
}
