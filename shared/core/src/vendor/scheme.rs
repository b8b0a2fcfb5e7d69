//! How one kind of signature is made: the parts of a description that
//! verification follows. Everything is data; nothing here knows a vendor.

use super::algorithm::{Digest, Encoding};
use super::key_url::KeyUrl;
use super::place::{Place, Term};
use super::template::Template;
use crate::json::{EachPath, Literal};
use crate::source::Source;
use std::time::Duration;

/// One way in which a vendor proves that a delivery is its own. The first
/// scheme whose condition holds decides; there is no falling back to another.
#[derive(Debug, Clone)]
pub(crate) struct Scheme {
    pub(crate) name: String,
    pub(crate) condition: Condition,
    pub(crate) kind: Kind,
    pub(crate) key: KeyForm,
    pub(crate) signature: SignatureForm,
    pub(crate) message: Template,
    pub(crate) timestamp: Option<Timestamp>,
    /// Every item is verified by itself; its places are relative to it.
    pub(crate) each: Option<EachPath>,
    /// What else must be so: `BOX-SIGNATURE-VERSION` is `1`.
    pub(crate) require: Vec<(Place, Vec<Literal>)>,
    pub(crate) binding: Option<Binding>,
    pub(crate) claims: Vec<(String, Term)>,
    pub(crate) url_variants: bool,
    pub(crate) assurance: Assurance,
}

/// When a scheme, an event shape or a handshake applies: all of it must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Condition {
    pub(crate) present: Vec<Source>,
    pub(crate) absent: Vec<Source>,
    /// Lists that are there and hold nothing.
    pub(crate) empty: Vec<Source>,
    pub(crate) equal: Vec<(Source, Vec<Literal>)>,
}

impl Condition {
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.present
            .iter()
            .chain(&self.absent)
            .chain(&self.empty)
            .chain(self.equal.iter().map(|(source, _)| source))
    }
}

/// The kinds of proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Hmac(Algorithm),
    /// A plain digest over a message that contains the secret.
    Hash(Algorithm),
    Ed25519,
    /// SHA-256, signature in DER.
    EcdsaP256,
    RsaPkcs1(Algorithm),
    /// A signed token whose claims bind the body.
    Jwt(Vec<JwtAlgorithm>),
    /// A static value, compared in constant time.
    Token,
    /// HTTP basic authentication.
    Basic,
    /// The vendor proves nothing, and the description says so.
    None,
}

/// A digest, fixed or named by the delivery within a closed map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Fixed(Digest),
    Named { from: Place, list: Option<List>, map: Vec<(String, Digest)> },
}

impl Algorithm {
    /// Every digest that may be asked for.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        match self {
            Self::Fixed(digest) => vec![*digest],
            Self::Named { map, .. } => {
                let mut digests: Vec<Digest> = Vec::new();
                for (_, digest) in map {
                    if !digests.contains(digest) {
                        digests.push(*digest);
                    }
                }
                digests
            }
        }
    }
}

/// The algorithms of signed tokens that are understood. `none` is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JwtAlgorithm {
    Hs256,
    Rs256,
    Es256,
    EdDsa,
}

/// Their names in a token's header, which are those of descriptions.
pub(crate) const JWT_ALGORITHMS: &[(&str, JwtAlgorithm)] = &[
    ("HS256", JwtAlgorithm::Hs256),
    ("RS256", JwtAlgorithm::Rs256),
    ("ES256", JwtAlgorithm::Es256),
    ("EdDSA", JwtAlgorithm::EdDsa),
];

/// How the secret that people copy becomes key bytes. The prefix alone never
/// decides: Stripe's `whsec_` is part of the key, Standard Webhooks' is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyForm {
    pub(crate) encoding: KeyEncoding,
    /// Taken off in front, if it is there.
    pub(crate) prefix: Option<String>,
    /// Fewest bytes after decoding.
    pub(crate) min: usize,
    /// Where the vendor publishes its keys, if it does.
    pub(crate) published: Option<Published>,
}

/// Where a key is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Published {
    /// Always at the same place.
    At(KeyUrl),
    /// Where the delivery says, if that is at one of these hosts and paths.
    Named { from: Place, hosts: Vec<String>, paths: Vec<String> },
}

impl KeyEncoding {
    /// Whether it is that of documents, which no secret is taken for.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Pem | Self::Certificate | Self::Jwks)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyEncoding {
    /// The text itself.
    Utf8,
    Base64,
    Hex,
    /// `-----BEGIN PUBLIC KEY-----`.
    Pem,
    /// The same without its frame.
    SpkiBase64,
    /// `-----BEGIN CERTIFICATE-----`.
    Certificate,
    /// A JSON set of public keys.
    Jwks,
}

/// The names of the key encodings, as descriptions write them.
pub(crate) const KEY_ENCODINGS: &[(&str, KeyEncoding)] = &[
    ("utf8", KeyEncoding::Utf8),
    ("base64", KeyEncoding::Base64),
    ("hex", KeyEncoding::Hex),
    ("pem", KeyEncoding::Pem),
    ("spki-base64", KeyEncoding::SpkiBase64),
    ("certificate", KeyEncoding::Certificate),
    ("jwks", KeyEncoding::Jwks),
];

/// Where signatures stand and how they are written. Any candidate under any
/// live key may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignatureForm {
    pub(crate) from: Vec<SignaturePlace>,
    pub(crate) list: Option<List>,
    pub(crate) prefix: Option<String>,
    /// Of static tokens: `Bearer …` and what follows it are the same.
    pub(crate) prefix_may_lack: bool,
    pub(crate) encoding: Encoding,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignaturePlace {
    Place(Place),
    /// `header:X-DocuSign-Signature-*`: one header for each number.
    Numbered(String),
}

impl SignatureForm {
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.from.iter().filter_map(|place| match place {
            SignaturePlace::Place(place) => Some(place),
            SignaturePlace::Numbered(_) => None,
        })
    }
}

/// A list within one value: `t=1,v1=ab` or `v1,ab v1a,cd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) items: char,
    pub(crate) pair: char,
    /// The key whose elements are signatures.
    pub(crate) pick: String,
}

/// When the delivery was signed. It must be part of what is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timestamp {
    pub(crate) from: Place,
    pub(crate) unit: Unit,
    /// How old it may be; `None`: the vendor sets no bound.
    pub(crate) past: Option<Duration>,
    /// How far ahead of our clock it may be.
    pub(crate) future: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Millis,
    Iso,
    /// `Wed, 25 Feb 2026 06:12:20 GMT`.
    Http,
}

/// The names of the units of time, as descriptions write them.
pub(crate) const UNITS: &[(&str, Unit)] =
    &[("s", Unit::Seconds), ("ms", Unit::Millis), ("iso", Unit::Iso), ("http", Unit::Http)];

/// A digest over the body that stands in something that is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) from: Place,
    pub(crate) digest: Digest,
    pub(crate) encoding: Encoding,
}

/// How much a verified delivery proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assurance {
    /// Nothing: the vendor does not sign.
    None,
    /// The sender knew a secret, or part of the body is signed. The rest may
    /// have been changed on the way: ask the vendor before acting on it.
    Low,
    /// The whole body is bound by the signature.
    High,
}

impl Assurance {
    /// For logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

impl Scheme {
    /// Whether a secret of the endpoint must make its key.
    pub(crate) fn needs_secret(&self) -> bool {
        self.kind != Kind::None && self.key.published.is_none()
    }

    /// What the form of the scheme proves by itself; a description may only
    /// lower it.
    pub(crate) fn proven(kind: &Kind, message: &Template, binding: Option<&Binding>) -> Assurance {
        match kind {
            Kind::None => Assurance::None,
            Kind::Token | Kind::Basic => Assurance::Low,
            Kind::Jwt(_) if binding.is_some() => Assurance::High,
            Kind::Jwt(_) => Assurance::Low,
            _ if message.binds_event() || binding.is_some() => Assurance::High,
            _ => Assurance::Low,
        }
    }

    /// Every place that verification reads.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        let named = match &self.kind {
            Kind::Hmac(Algorithm::Named { from, .. })
            | Kind::Hash(Algorithm::Named { from, .. })
            | Kind::RsaPkcs1(Algorithm::Named { from, .. }) => Some(from),
            _ => None,
        };
        let claims = self.claims.iter().filter_map(|(_, term)| match term {
            Term::Place(place) => Some(place),
            _ => None,
        });
        let key_from = match &self.key.published {
            Some(Published::Named { from, .. }) => Some(from),
            Some(Published::At(_)) | None => None,
        };
        self.message
            .places()
            .chain(self.signature.places())
            .chain(self.timestamp.iter().map(|timestamp| &timestamp.from))
            .chain(self.require.iter().map(|(place, _)| place))
            .chain(self.binding.iter().map(|binding| &binding.from))
            .chain(key_from)
            .chain(named)
            .chain(claims)
    }

    /// Whether the place is among what is signed, so that nobody can change
    /// it without the key.
    pub(crate) fn signs(&self, place: &Place) -> bool {
        let in_body = matches!(place, Place::Source(Source::Body(_)));
        match (&self.kind, place) {
            (Kind::Jwt(_), Place::Claim(_)) => true,
            _ if in_body && self.each.is_none() && self.message.binds_body() => true,
            (_, Place::Source(Source::Header(name))) if self.message.lists_header(name) => true,
            _ => self.message.places().any(|signed| signed == place),
        }
    }
}
