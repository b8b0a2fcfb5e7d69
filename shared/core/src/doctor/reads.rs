//! The headers that a vendor's schemes read, and headers with one thing changed.

use crate::http::Headers;
use crate::source::Source;
use crate::vendor::place::Place;
use crate::vendor::scheme::{Scheme, SignatureForm, SignaturePlace};
use crate::vendor::{Params, Vendor};

/// The headers of one scheme, names in lower case.
pub(super) struct Reads<'v> {
    pub(super) scheme: &'v Scheme,
    /// Those that carry signatures.
    pub(super) signatures: Vec<String>,
    /// Those that a signature covers or that say how it is made.
    pub(super) companions: Vec<String>,
    /// Those that say whether the scheme is the one to use.
    pub(super) conditions: Vec<String>,
}

impl Reads<'_> {
    /// Those without which nothing verifies.
    pub(super) fn needed(&self) -> impl Iterator<Item = &String> {
        self.signatures.iter().chain(&self.companions)
    }

    /// Every one of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.needed().chain(&self.conditions)
    }

    /// Whether a signature is there, as far as headers carry it.
    pub(super) fn is_signed(&self, headers: &Headers) -> bool {
        self.signatures.is_empty() || self.signatures.iter().any(|name| has(headers, name))
    }

    /// How the signatures are written.
    pub(super) fn form(&self) -> &SignatureForm {
        &self.scheme.signature
    }
}

/// What each scheme reads. Of numbered headers, those that are there.
pub(super) fn reads<'v>(vendor: &'v Vendor, params: &Params, headers: &Headers) -> Vec<Reads<'v>> {
    let name_of = |place: &Place| match place {
        Place::Source(Source::Header(name)) => Some(name.to_ascii_lowercase()),
        Place::NamedHeader(param) => params.get(param, vendor.params()).map(str::to_ascii_lowercase),
        _ => None,
    };
    let of_scheme = |scheme: &'v Scheme| {
        let mut signatures: Vec<String> = Vec::new();
        for place in &scheme.signature.from {
            match place {
                SignaturePlace::Place(place) => signatures.extend(name_of(place)),
                SignaturePlace::Numbered(prefix) => signatures.extend(numbered(headers, prefix)),
            }
        }
        let mut companions: Vec<String> = Vec::new();
        for name in scheme.places().filter_map(name_of) {
            if !signatures.contains(&name) && !companions.contains(&name) {
                companions.push(name);
            }
        }
        let conditions = scheme.condition.sources().filter_map(|source| match source {
            Source::Header(name) => Some(name.to_ascii_lowercase()),
            _ => None,
        });
        let conditions =
            conditions.filter(|name| !signatures.contains(name) && !companions.contains(name)).collect();
        Reads { scheme, signatures, companions, conditions }
    };
    vendor.schemes.iter().map(of_scheme).collect()
}

/// The numbered headers that are there, or else the first.
fn numbered(headers: &Headers, prefix: &str) -> Vec<String> {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    let mut names: Vec<String> = headers
        .iter()
        .filter(|(name, _)| name.strip_prefix(prefix).is_some_and(is_number))
        .map(|(name, _)| name.to_owned())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { vec![format!("{prefix}1")] } else { names }
}

/// Whether a header is there, once or more.
pub(super) fn has(headers: &Headers, name: &str) -> bool {
    headers.all(name).next().is_some()
}

/// The headers with exactly this value under a name.
pub(super) fn with(headers: &Headers, name: &str, value: &[u8]) -> Headers {
    let others = headers.iter().filter(|(known, _)| !known.eq_ignore_ascii_case(name));
    Headers::new(others.chain(std::iter::once((name, value))))
}

/// The headers with some of them under other names.
pub(super) fn renamed(headers: &Headers, names: &[(String, String)]) -> Headers {
    Headers::new(headers.iter().map(|(name, value)| {
        let to = names.iter().find(|(from, _)| from == name).map_or(name, |(_, to)| to.as_str());
        (to, value)
    }))
}
