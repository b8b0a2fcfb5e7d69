//! What a description sees of a delivery while it is verified or read: the
//! values at its places, the body read once for all of them.

use super::form;
use super::params::Params;
use super::place::{Piece, Place, Term, Value};
use super::scheme::Condition;
use super::shape::Param;
use crate::http::Request;
use crate::json::{self, JsonText};
use crate::source::{Pointer, Source};
use crate::steps::step;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A delivery, or one item of it.
#[derive(Debug)]
pub(crate) struct View<'r> {
    pub(crate) request: &'r Request,
    pub(crate) params: &'r Params,
    pub(crate) declared: &'r [Param],
    /// What the `*` of `each` stood for.
    pub(crate) matched: &'r [String],
    /// The named elements of the signature header.
    pub(crate) elements: &'r [(String, String)],
    /// The claims of the token, as JSON.
    pub(crate) claims: BTreeMap<String, JsonText>,
    /// The own part's text, for what is not a pointer.
    pub(crate) own: Option<&'r str>,
    body: BTreeMap<String, JsonText>,
    shared: BTreeMap<String, JsonText>,
}

/// How often a value stands that may stand once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Single<T> {
    Absent,
    One(T),
    Repeated,
}

impl<T> Single<T> {
    fn of(mut values: impl Iterator<Item = T>) -> Self {
        match (values.next(), values.next()) {
            (None, _) => Self::Absent,
            (Some(value), None) => Self::One(value),
            (Some(_), Some(_)) => Self::Repeated,
        }
    }

    pub(crate) fn map<U>(self, of: impl FnOnce(T) -> U) -> Single<U> {
        match self {
            Self::Absent => Single::Absent,
            Self::One(value) => Single::One(of(value)),
            Self::Repeated => Single::Repeated,
        }
    }

    pub(crate) fn one(self) -> Option<T> {
        match self {
            Self::One(value) => Some(value),
            Self::Absent | Self::Repeated => None,
        }
    }
}

static NOTHING: Params = Params { public_url: None, named: BTreeMap::new() };

impl<'r> View<'r> {
    /// A view of a whole delivery. `own` is its body as JSON; a body that is
    /// no JSON has no values. The pointers among `places` are read now.
    pub(crate) fn new<'p>(
        request: &'r Request,
        own: Option<&'r str>,
        places: impl IntoIterator<Item = &'p Source>,
    ) -> Self {
        let (mut in_body, mut around) = (Vec::new(), Vec::new());
        for place in places {
            match place {
                Source::Body(pointer) => in_body.push(pointer),
                Source::Shared(pointer) => around.push(pointer),
                Source::Header(_) | Source::Query(_) | Source::Fetch(_) => {}
            }
        }
        Self {
            request,
            params: &NOTHING,
            declared: &[],
            matched: &[],
            elements: &[],
            claims: BTreeMap::new(),
            own,
            body: own.map(|own| values(own, &in_body)).unwrap_or_default(),
            shared: own.map(|own| values(own, &around)).unwrap_or_default(),
        }
    }

    /// The same view with the values around an item, read for all items at once.
    pub(crate) fn around(mut self, matched: &'r [String], shared: BTreeMap<String, JsonText>) -> Self {
        self.matched = matched;
        self.shared = shared;
        self
    }

    pub(crate) fn with_params(mut self, params: &'r Params, declared: &'r [Param]) -> Self {
        self.params = params;
        self.declared = declared;
        self
    }

    pub(crate) fn with_elements(mut self, elements: &'r [(String, String)]) -> Self {
        self.elements = elements;
        self
    }

    pub(crate) fn with_claims(mut self, claims: BTreeMap<String, JsonText>) -> Self {
        self.claims = claims;
        self
    }

    pub(crate) fn header(&self, name: &str) -> Single<&'r [u8]> {
        Single::of(self.request.headers.all(name))
    }

    pub(crate) fn query(&self, name: &str) -> Single<Vec<u8>> {
        Single::of(form::values(&self.request.query, name))
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name, self.declared)
    }

    /// The bytes at a place as they are signed: a header raw, a JSON string
    /// decoded, a number as it was written.
    pub(crate) fn bytes(&self, place: &Place) -> Single<Cow<'_, [u8]>> {
        match place {
            Place::Source(Source::Header(name)) => self.header(name).map(Cow::Borrowed),
            Place::NamedHeader(param) => match self.param(param) {
                Some(name) => self.header(name).map(Cow::Borrowed),
                None => Single::Absent,
            },
            Place::Source(Source::Query(name)) => self.query(name).map(Cow::Owned),
            Place::Element(name) => Single::of(
                self.elements
                    .iter()
                    .inspect(|_| step())
                    .filter(|(key, _)| key == name)
                    .map(|(_, value)| Cow::Borrowed(value.as_bytes())),
            ),
            Place::Param(name) => {
                Single::of(self.param(name).map(|text| Cow::Borrowed(text.as_bytes())).into_iter())
            }
            Place::Matched(count) => {
                Single::of(self.matched.get(count - 1).map(|text| Cow::Borrowed(text.as_bytes())).into_iter())
            }
            Place::Own => {
                let own = self.own.and_then(|own| JsonText::from_json(own).ok());
                let text = own.as_ref().and_then(JsonText::plain).map(Cow::into_owned);
                Single::of(text.map(|text| Cow::Owned(text.into_bytes())).into_iter())
            }
            Place::OtherKey(names) => {
                let keys = self.own.and_then(|own| json::keys(own).ok()).unwrap_or_default();
                let other = keys.into_iter().find(|key| !names.contains(key));
                Single::of(other.map(|key| Cow::Owned(key.into_bytes())).into_iter())
            }
            Place::Source(_) | Place::Claim(_) => {
                let text = self.stored(place).and_then(JsonText::plain);
                Single::of(text.map(into_bytes).into_iter())
            }
        }
    }

    /// The value at a place as plain text.
    pub(crate) fn text(&self, place: &Place) -> Option<Cow<'_, str>> {
        match self.bytes(place).one()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }

    fn stored(&self, place: &Place) -> Option<&JsonText> {
        match place {
            Place::Source(Source::Body(pointer)) => self.body.get(pointer.as_str()),
            Place::Source(Source::Shared(pointer)) => self.shared.get(pointer.as_str()),
            Place::Claim(name) => self.claims.get(name),
            _ => None,
        }
    }

    /// The value at a source as JSON: what conditions and rules compare.
    pub(crate) fn json(&self, source: &Source) -> Option<JsonText> {
        match source {
            Source::Body(pointer) => self.body.get(pointer.as_str()).cloned(),
            Source::Shared(pointer) => self.shared.get(pointer.as_str()).cloned(),
            Source::Header(name) => Some(text_json(self.header(name).one()?)?),
            Source::Query(name) => Some(text_json(&self.query(name).one()?)?),
            Source::Fetch(_) => None,
        }
    }

    /// The first alternative that is there and not empty.
    pub(crate) fn value(&self, value: &Value) -> Option<String> {
        value.alternatives.iter().find_map(|term| self.term(term)).filter(|text| !text.is_empty())
    }

    pub(crate) fn term(&self, term: &Term) -> Option<String> {
        let present = |place| self.text(place).filter(|text| !text.is_empty());
        match term {
            Term::Const(text) => Some(text.clone()),
            Term::Place(place) => present(place).map(Cow::into_owned),
            Term::Joined(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Literal(text) => Some(text.clone()),
                    Piece::Place(place) => present(place).map(Cow::into_owned),
                })
                .collect(),
        }
    }

    /// Whether all of a condition holds. A null counts as absent.
    pub(crate) fn holds(&self, condition: &Condition) -> bool {
        let present = |source: &Source| {
            self.json(source).is_some_and(|value| value.kind() != json::Kind::Null)
                || self.is_repeated(source)
        };
        condition.present.iter().all(present)
            && !condition.absent.iter().any(present)
            && condition
                .empty
                .iter()
                .all(|source| self.json(source).is_some_and(|value| value.is_empty_list()))
            && condition.equal.iter().all(|(source, literals)| {
                let value = match source {
                    Source::Header(name) if name.eq_ignore_ascii_case("content-type") => self.media_type(),
                    source => self.json(source),
                };
                value.is_some_and(|value| literals.iter().any(|literal| value.equals(literal)))
            })
    }

    fn is_repeated(&self, source: &Source) -> bool {
        match source {
            Source::Header(name) => self.header(name) == Single::Repeated,
            Source::Query(name) => self.query(name) == Single::Repeated,
            _ => false,
        }
    }

    /// The content type without its parameters, in lower case.
    fn media_type(&self) -> Option<JsonText> {
        media_type(self.request).map(|text| JsonText::from_text(&text))
    }
}

/// The declared media type in lower case, without parameters.
pub(crate) fn media_type(request: &Request) -> Option<String> {
    let declared = request.headers.text("content-type")?;
    let media_type = declared.split(';').next().unwrap_or(declared).trim();
    (!media_type.is_empty()).then(|| media_type.to_ascii_lowercase())
}

fn values(text: &str, pointers: &[&Pointer]) -> BTreeMap<String, JsonText> {
    if pointers.is_empty() {
        return BTreeMap::new();
    }
    let found = json::read(text, pointers).unwrap_or_default();
    pointers
        .iter()
        .zip(found)
        .filter_map(|(pointer, found)| {
            Some((pointer.as_str().to_owned(), JsonText::from_json(found?.json).ok()?))
        })
        .collect()
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn text_json(bytes: &[u8]) -> Option<JsonText> {
    std::str::from_utf8(bytes).ok().map(JsonText::from_text)
}
