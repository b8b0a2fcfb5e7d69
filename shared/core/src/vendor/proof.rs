//! Whether a key made a signature: one answer for each kind of scheme, in
//! constant time wherever a secret is compared.

use super::algorithm::Digest;
use super::keys::{Key, Material};
use super::message::Message;
use super::refusal::Refusal;
use super::scheme::{Algorithm, Kind, Scheme};
use super::signature::{self, Carried};
use super::view::View;
use crate::steps::step;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

/// Most signatures that are tried under a public key. Each costs as much as
/// the whole body, and nobody has vouched for it yet (INV-8); vendors send one
/// or two.
const MOST_PUBLIC: usize = 8;

/// The digest that the delivery is signed with. A map of names is closed: what
/// it does not name is refused, not guessed.
pub(super) fn digest(view: &View<'_>, kind: &Kind) -> Result<Digest, Refusal> {
    let (Kind::Hmac(algorithm) | Kind::Hash(algorithm) | Kind::RsaPkcs1(algorithm)) = kind else {
        return Ok(Digest::Sha256);
    };
    match algorithm {
        Algorithm::Fixed(digest) => Ok(*digest),
        Algorithm::Named { from, list, map } => {
            let text = view.text(from).ok_or(Refusal::Algorithm)?;
            let name = match list {
                Some(list) => signature::element(&text, list).ok_or(Refusal::Algorithm)?,
                None => &text,
            };
            map.iter().find(|(known, _)| known == name).map(|(_, digest)| *digest).ok_or(Refusal::Algorithm)
        }
    }
}

/// Whether one of the signatures is the key's over the message.
pub(super) fn is_signature(key: &Key, digest: Digest, message: &Message<'_>, signatures: &[Vec<u8>]) -> bool {
    match &key.material {
        Material::Hmac(prepared) => {
            let Some((_, key)) = prepared.iter().find(|(known, _)| *known == digest) else { return false };
            any_equal(signatures, &key.over(message.pieces.iter().map(AsRef::as_ref)))
        }
        Material::Bytes(secret) => {
            let pieces = message.pieces.iter().enumerate();
            let piece = |(index, piece)| match message.secret_at.contains(&index) {
                true => secret.as_slice(),
                false => AsRef::<[u8]>::as_ref(piece),
            };
            any_equal(signatures, &digest.over(pieces.map(piece)))
        }
        Material::Public(keys) => {
            let message = message.pieces.concat();
            let few = &signatures[..signatures.len().min(MOST_PUBLIC)];
            keys.iter().any(|key| {
                few.iter().any(|signature| {
                    step();
                    key.verifies(digest, &message, signature)
                })
            })
        }
        Material::Token(_) => false,
    }
}

/// Whether a static value is the secret, with or without the scheme's prefix:
/// people store `Bearer …` as often as what follows it.
pub(super) fn is_token(key: &Key, scheme: &Scheme, carried: &Carried) -> bool {
    let Material::Bytes(secret) = &key.material else { return false };
    let prefix = scheme.signature.prefix.as_deref().unwrap_or_default().as_bytes();
    carried.candidates.iter().fold(false, |found, candidate| {
        let bare = candidate.strip_prefix(prefix).unwrap_or(candidate);
        found | equal(secret, bare) | equal(secret, &[prefix, bare].concat())
    })
}

/// Whether the credentials are the secret `user:password`.
pub(super) fn is_basic(key: &Key, carried: &Carried) -> bool {
    let Material::Bytes(secret) = &key.material else { return false };
    carried.candidates.iter().any(|candidate| {
        let (scheme, credentials) = candidate.split_at_checked(6).unwrap_or_default();
        let decoded =
            scheme.eq_ignore_ascii_case(b"basic ").then(|| STANDARD.decode(credentials.trim_ascii()));
        decoded.and_then(Result::ok).is_some_and(|credentials| equal(secret, &credentials))
    })
}

/// Compares without saying how far a candidate was right.
fn any_equal(candidates: &[Vec<u8>], expected: &[u8]) -> bool {
    candidates.iter().fold(false, |found, candidate| found | bool::from(candidate.as_slice().ct_eq(expected)))
}

/// Compares digests, so that not even the secret's length shows in the time.
fn equal(secret: &[u8], given: &[u8]) -> bool {
    Digest::Sha256.of(secret).ct_eq(&Digest::Sha256.of(given)).into()
}
