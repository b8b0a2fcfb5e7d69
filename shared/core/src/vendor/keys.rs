//! Secrets made into keys, once per process. Verification fails closed
//! (INV-10): one unusable secret takes the endpoint offline, with a message
//! that says what is wrong with its form and never shows it.

use super::Vendor;
use super::algorithm::{Digest, MacKey, hex_bytes};
use super::public_key::PublicKey;
use super::scheme::{KeyEncoding, KeyForm, Kind, Scheme};
use crate::secret::Secret;
use crate::time::UnixMillis;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::fmt;

/// The keys of an endpoint, for each scheme of its vendor.
#[derive(Debug)]
pub struct Keys {
    by_scheme: Vec<Vec<Key>>,
}

/// One live key and the secret that it comes from.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its place in the endpoint's `secrets`; logs and metrics name it. `None`:
    /// the vendor publishes it.
    pub(crate) secret: Option<usize>,
    pub(crate) material: Material,
}

pub(crate) enum Material {
    /// Prepared for every digest that the scheme may ask for.
    Hmac(Vec<(Digest, MacKey)>),
    /// Compared or hashed as it is.
    Bytes(Vec<u8>),
    /// A public key, or all those of a set.
    Public(Vec<PublicKey>),
    /// Of tokens that are signed with a shared secret.
    Token(Box<MacKey>),
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Material(..)")
    }
}

/// A secret from which no key can be made: the endpoint must answer 503 and
/// raise an alarm, never verify with something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableKey {
    /// The vendor signs and the endpoint has no secret.
    #[error("the vendor signs its deliveries and the endpoint has no secret")]
    NoSecret,
    /// A secret is not in the vendor's form.
    #[error("secret {}: {fault}", index + 1)]
    Form {
        /// Its place in the endpoint's `secrets`, from 0.
        index: usize,
        /// What is wrong with it.
        fault: KeyFault,
    },
}

/// What is wrong with the form of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// White space in front or behind, often the newline of a file.
    #[error("there is white space around it; store it without")]
    WhiteSpace,
    /// Pasted with its quotes.
    #[error("it is in quotes; store what is between them")]
    Quotes,
    /// A signature's version in front of it.
    #[error("it begins with `v1,` as signatures do; store the part from `whsec_` on")]
    VersionPrefix,
    /// The vendor's encoding does not decode.
    #[error("it is not {0}")]
    Encoding(&'static str),
    /// Basic authentication has a user and a password.
    #[error("it is not `user:password`")]
    NoColon,
    /// Too few bytes to be a key.
    #[error("it has {found} bytes as a key; the vendor's have at least {least}")]
    TooShort {
        /// Bytes after decoding.
        found: usize,
        /// Fewest that are taken.
        least: usize,
    },
}

impl Keys {
    pub(crate) fn of(&self, scheme: usize) -> &[Key] {
        self.by_scheme.get(scheme).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Vendor {
    /// Makes the keys of an endpoint from its live secrets, in their order.
    /// Done once per process; verification then only uses them.
    ///
    /// A vendor that publishes its keys needs none; a document of keys that is
    /// given as a secret all the same is used instead of the published one.
    ///
    /// # Errors
    /// No secret, or one that no scheme of the vendor can use: take the
    /// endpoint offline (INV-10).
    pub fn keys(&self, secrets: &[Secret]) -> Result<Keys, UnusableKey> {
        let takes_secret = |scheme: &Scheme| scheme.kind != Kind::None;
        if secrets.is_empty() && self.schemes.iter().any(Scheme::needs_secret) {
            return Err(UnusableKey::NoSecret);
        }
        let mut by_scheme: Vec<Vec<Key>> = self.schemes.iter().map(|_| Vec::new()).collect();
        for (index, secret) in secrets.iter().enumerate() {
            let mut first_fault = None;
            let mut used = false;
            for (scheme, keys) in
                self.schemes.iter().zip(&mut by_scheme).filter(|(scheme, _)| takes_secret(scheme))
            {
                match material(scheme, secret) {
                    Ok(material) => {
                        keys.push(Key { secret: Some(index), material });
                        used = true;
                    }
                    Err(fault) => first_fault = first_fault.or(Some(fault)),
                }
            }
            if let (false, Some(fault)) = (used, first_fault) {
                return Err(UnusableKey::Form { index, fault });
            }
        }
        Ok(Keys { by_scheme })
    }

    /// Makes keys from a document that the vendor publishes. They serve the
    /// schemes whose keys are published, and no other: anybody can read them.
    ///
    /// # Errors
    /// The document holds no key that a scheme could use.
    pub fn published_keys(&self, document: &[u8]) -> Result<Keys, KeyFault> {
        let mut fault = KeyFault::Encoding("a document of public keys");
        let mut by_scheme: Vec<Vec<Key>> = self.schemes.iter().map(|_| Vec::new()).collect();
        let published = self.schemes.iter().zip(&mut by_scheme);
        for (scheme, keys) in published.filter(|(scheme, _)| scheme.key.published.is_some()) {
            match made(scheme, Cow::Borrowed(document.trim_ascii())) {
                Ok(material) => keys.push(Key { secret: None, material }),
                Err(other) => fault = other,
            }
        }
        if by_scheme.iter().any(|keys| !keys.is_empty()) { Ok(Keys { by_scheme }) } else { Err(fault) }
    }
}

impl Key {
    /// Whether it may be used at this time: published certificates say from
    /// when to when. One that is configured is believed whatever it says.
    pub(crate) fn is_valid_at(&self, now: UnixMillis) -> bool {
        match &self.material {
            Material::Public(keys) if self.secret.is_none() => keys.iter().any(|key| key.is_valid_at(now)),
            _ => true,
        }
    }
}

fn material(scheme: &Scheme, secret: &Secret) -> Result<Material, KeyFault> {
    made(scheme, decode(&scheme.key, secret)?)
}

/// The key of a scheme from its bytes.
fn made(scheme: &Scheme, bytes: Cow<'_, [u8]>) -> Result<Material, KeyFault> {
    Ok(match &scheme.kind {
        Kind::Hmac(algorithm) => Material::Hmac(
            algorithm.digests().into_iter().map(|digest| (digest, MacKey::new(digest, &bytes))).collect(),
        ),
        Kind::Ed25519 => Material::Public(public(&scheme.key, &bytes, PublicKey::is_ed25519)?),
        Kind::EcdsaP256 => Material::Public(public(&scheme.key, &bytes, PublicKey::is_p256)?),
        Kind::RsaPkcs1(_) => Material::Public(public(&scheme.key, &bytes, PublicKey::is_rsa)?),
        // A public key is never taken for the secret of an HMAC.
        Kind::Jwt(_) => match scheme.key.encoding {
            KeyEncoding::Utf8 | KeyEncoding::Base64 | KeyEncoding::Hex => {
                Material::Token(Box::new(MacKey::new(Digest::Sha256, &bytes)))
            }
            _ => Material::Public(public(&scheme.key, &bytes, |_| true)?),
        },
        Kind::Basic if !bytes.contains(&b':') => return Err(KeyFault::NoColon),
        Kind::Hash(_) | Kind::Token | Kind::Basic | Kind::None => Material::Bytes(bytes.into_owned()),
    })
}

/// The public keys of a secret, which is a public one.
fn public(
    form: &KeyForm,
    bytes: &[u8],
    suits: impl Fn(&PublicKey) -> bool,
) -> Result<Vec<PublicKey>, KeyFault> {
    let (keys, wanted) = match form.encoding {
        KeyEncoding::Pem => (PublicKey::pem(bytes).into_iter().collect(), "a public key in PEM"),
        KeyEncoding::Certificate => {
            (PublicKey::certificate(bytes).into_iter().collect(), "a certificate in PEM")
        }
        KeyEncoding::Jwks => (PublicKey::set(bytes), "a JSON key set"),
        KeyEncoding::SpkiBase64 => (PublicKey::spki(bytes).into_iter().collect(), "a public key in DER"),
        KeyEncoding::Utf8 | KeyEncoding::Base64 | KeyEncoding::Hex => {
            (PublicKey::ed25519(bytes).into_iter().collect(), "an Ed25519 public key of 32 bytes")
        }
    };
    let keys: Vec<PublicKey> = keys;
    let keys: Vec<PublicKey> = keys.into_iter().filter(suits).collect();
    if keys.is_empty() { Err(KeyFault::Encoding(wanted)) } else { Ok(keys) }
}

/// The key bytes of a secret; borrowed where the text itself is the key.
pub(crate) fn decode<'s>(form: &KeyForm, secret: &'s Secret) -> Result<Cow<'s, [u8]>, KeyFault> {
    let given = well_formed(secret.expose(), form)?;
    let bare = match &form.prefix {
        Some(prefix) => given.strip_prefix(prefix.as_bytes()).unwrap_or(given),
        None => given,
    };
    let bytes = match form.encoding {
        KeyEncoding::Utf8 | KeyEncoding::Pem | KeyEncoding::Certificate | KeyEncoding::Jwks => {
            Cow::Borrowed(given)
        }
        KeyEncoding::Base64 | KeyEncoding::SpkiBase64 => {
            Cow::Owned(STANDARD.decode(bare).map_err(|_| KeyFault::Encoding("base64"))?)
        }
        KeyEncoding::Hex => Cow::Owned(hex_bytes(bare, true).ok_or(KeyFault::Encoding("hex digits"))?),
    };
    match bytes.len() {
        found if found < form.min => Err(KeyFault::TooShort { found, least: form.min }),
        _ => Ok(bytes),
    }
}

/// Refuses what people paste by mistake. Documents (certificates, key sets)
/// may end in a newline.
fn well_formed<'s>(given: &'s [u8], form: &KeyForm) -> Result<&'s [u8], KeyFault> {
    let trimmed = given.trim_ascii();
    if form.encoding.is_document() {
        return Ok(trimmed);
    }
    if trimmed.len() != given.len() {
        return Err(KeyFault::WhiteSpace);
    }
    if let [first @ (b'"' | b'\'' | b'`'), .., last] = given
        && first == last
    {
        return Err(KeyFault::Quotes);
    }
    match form.prefix {
        Some(_) if given.starts_with(b"v1,") || given.starts_with(b"v1a,") => Err(KeyFault::VersionPrefix),
        _ => Ok(given),
    }
}
