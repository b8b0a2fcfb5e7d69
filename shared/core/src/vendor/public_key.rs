//! Public keys in the forms that vendors publish, and their signatures.

use super::algorithm::Digest;
use super::moment;
use super::scheme::JwtAlgorithm;
use crate::time::UnixMillis;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// A public key, and its name within a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    pub(crate) id: Option<String>,
    form: Form,
    /// From when to when, where a certificate says so.
    valid: Option<(UnixMillis, UnixMillis)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Ed25519(Vec<u8>),
    /// An uncompressed point.
    P256(Vec<u8>),
    /// Modulus and exponent, without leading zeros.
    Rsa(Vec<u8>, Vec<u8>),
}

impl PublicKey {
    /// The 32 bytes of an Ed25519 key, bare or in their frame.
    pub(crate) fn ed25519(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            32 => Some(Self { id: None, form: Form::Ed25519(bytes.to_vec()), valid: None }),
            _ => Self::spki(bytes).filter(|key| matches!(key.form, Form::Ed25519(_))),
        }
    }

    /// A `SubjectPublicKeyInfo` in DER.
    pub(crate) fn spki(der: &[u8]) -> Option<Self> {
        const ED25519_OID: &[u8] = &[0x2b, 0x65, 0x70];
        const EC_OID: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
        const P256_OID: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
        const RSA_OID: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
        let mut info = Der(der).enter(SEQUENCE)?;
        let mut algorithm = info.enter(SEQUENCE)?;
        let oid = algorithm.take(OBJECT_ID)?;
        // A bit string begins with the count of its unused bits.
        let bits = info.take(BIT_STRING)?.strip_prefix(&[0])?;
        let form = match oid {
            ED25519_OID if bits.len() == 32 => Form::Ed25519(bits.to_vec()),
            EC_OID if algorithm.take(OBJECT_ID)? == P256_OID => Form::P256(bits.to_vec()),
            RSA_OID => {
                let mut key = Der(bits).enter(SEQUENCE)?;
                Form::Rsa(unsigned(key.take(INTEGER)?), unsigned(key.take(INTEGER)?))
            }
            _ => return None,
        };
        Some(Self { id: None, form, valid: None })
    }

    /// `-----BEGIN PUBLIC KEY-----`.
    pub(crate) fn pem(text: &[u8]) -> Option<Self> {
        Self::spki(&framed(text, "PUBLIC KEY")?)
    }

    /// The key of an X.509 certificate in PEM, or of the first of a chain.
    /// That it is the vendor's rests on the pinned host it was fetched from, or
    /// on whoever configured it; its chain is not looked at.
    pub(crate) fn certificate(text: &[u8]) -> Option<Self> {
        let der = framed(text, "CERTIFICATE")?;
        let mut signed = Der(&der).enter(SEQUENCE)?.enter(SEQUENCE)?;
        // Version, serial, algorithm, issuer, validity, subject, then the key.
        if signed.peek() == Some(VERSION) {
            signed.skip()?;
        }
        for _ in 0..3 {
            signed.skip()?;
        }
        let mut validity = signed.enter(SEQUENCE)?;
        let valid = Some((validity.time()?, validity.time()?));
        signed.skip()?;
        Some(Self { valid, ..Self::spki(signed.whole()?)? })
    }

    /// Whether its certificate, if there is one, is valid at this time.
    pub(crate) fn is_valid_at(&self, now: UnixMillis) -> bool {
        self.valid.is_none_or(|(from, until)| from <= now && now <= until)
    }

    /// The usable keys of a JSON key set, or of a single key.
    pub(crate) fn set(json: &[u8]) -> Vec<Self> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Document {
            Set { keys: Vec<serde_json::Value> },
            Wrapped { key: serde_json::Value },
            One(serde_json::Value),
        }
        let keys = match serde_json::from_slice(json) {
            Ok(Document::Set { keys }) => keys,
            Ok(Document::Wrapped { key } | Document::One(key)) => vec![key],
            Err(_) => Vec::new(),
        };
        // A set may hold kinds of keys that nobody here knows; they are skipped.
        keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok()?.public()).collect()
    }

    /// Whether the signature is this key's over the message.
    pub(crate) fn verifies(&self, digest: Digest, message: &[u8], signature: &[u8]) -> bool {
        match &self.form {
            Form::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok(),
            Form::P256(key) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, key).verify(message, signature).is_ok()
            }
            Form::Rsa(n, e) => {
                let parameters = match digest {
                    Digest::Sha1 => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
                    Digest::Sha256 => &RSA_PKCS1_2048_8192_SHA256,
                    Digest::Sha384 => &RSA_PKCS1_2048_8192_SHA384,
                    Digest::Sha512 => &RSA_PKCS1_2048_8192_SHA512,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
            }
        }
    }

    /// The same for a token, whose elliptic signatures are two plain numbers.
    /// The key's kind must be the one that the algorithm names.
    pub(crate) fn verifies_token(&self, algorithm: JwtAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        match (algorithm, &self.form) {
            (JwtAlgorithm::Es256, Form::P256(key)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(message, signature).is_ok()
            }
            (JwtAlgorithm::Rs256, Form::Rsa(..)) | (JwtAlgorithm::EdDsa, Form::Ed25519(_)) => {
                self.verifies(Digest::Sha256, message, signature)
            }
            _ => false,
        }
    }

    pub(crate) fn is_ed25519(&self) -> bool {
        matches!(self.form, Form::Ed25519(_))
    }

    pub(crate) fn is_p256(&self) -> bool {
        matches!(self.form, Form::P256(_))
    }

    pub(crate) fn is_rsa(&self) -> bool {
        matches!(self.form, Form::Rsa(..))
    }
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl Jwk {
    fn public(self) -> Option<PublicKey> {
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let form = match (self.kty.as_str(), self.crv.as_deref()) {
            ("OKP", Some("Ed25519")) => Form::Ed25519(bytes(&self.x).filter(|x| x.len() == 32)?),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&self.x)?, bytes(&self.y)?);
                let point = [&[4][..], &x, &y].concat();
                (point.len() == 65).then_some(Form::P256(point))?
            }
            ("RSA", _) => Form::Rsa(unsigned(&bytes(&self.n)?), unsigned(&bytes(&self.e)?)),
            _ => return None,
        };
        Some(PublicKey { id: self.kid, form, valid: None })
    }
}

/// The bytes between `-----BEGIN label-----` and its end.
fn framed(text: &[u8], label: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (base64, _) = rest.split_once(&format!("-----END {label}-----"))?;
    STANDARD.decode(base64.split_ascii_whitespace().collect::<String>()).ok()
}

fn unsigned(integer: &[u8]) -> Vec<u8> {
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    integer[zeros..].to_vec()
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT_ID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Just enough DER to find a key: one element after another.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next element as a whole and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8], &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            // Longer than 4 bytes of length is no key.
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some((tag, whole, content))
    }

    fn take(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let (tag, _, content) = self.next()?;
        (tag == wanted).then_some(content)
    }

    fn enter(&mut self, wanted: u8) -> Option<Self> {
        self.take(wanted).map(Self)
    }

    fn skip(&mut self) -> Option<()> {
        self.next().map(|_| ())
    }

    /// `YYMMDDHHMMSSZ`, or with four digits of the year.
    fn time(&mut self) -> Option<UnixMillis> {
        let (tag, _, content) = self.next()?;
        let text = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
        match (tag, text.len()) {
            // X.509: two digits from 50 on are of the last century.
            (UTC_TIME, 12) => moment::compact(&format!("{}{text}", if text < "50" { "20" } else { "19" })),
            (GENERALIZED_TIME, 14) => moment::compact(text),
            _ => None,
        }
    }

    fn whole(&mut self) -> Option<&'a [u8]> {
        self.next().map(|(_, whole, _)| whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::signature::{Ed25519KeyPair, KeyPair};

    fn pair() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
    }

    #[test]
    fn a_key_is_the_same_bare_framed_and_in_a_set() {
        let public = pair().public_key().as_ref().to_vec();
        let framed_key =
            [&[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00][..], &public].concat();
        let pem = format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            STANDARD.encode(&framed_key)
        );
        let set = format!(
            r#"{{"keys":[{{"kty":"oct","k":"AA"}},{{"kty":"OKP","crv":"Ed25519","x":"{}","kid":"k1"}}]}}"#,
            URL_SAFE_NO_PAD.encode(&public)
        );
        let bare = PublicKey::ed25519(&public).unwrap();
        assert_eq!(PublicKey::ed25519(&framed_key), Some(bare.clone()));
        assert_eq!(PublicKey::pem(pem.as_bytes()), Some(bare.clone()));
        let named = PublicKey { id: Some("k1".into()), ..bare.clone() };
        assert_eq!(PublicKey::set(set.as_bytes()), [named]);
        let signature = pair().sign(b"message");
        assert!(bare.verifies(Digest::Sha256, b"message", signature.as_ref()));
        assert!(!bare.verifies(Digest::Sha256, b"massage", signature.as_ref()));
    }

    /// Made for tests; nobody has its private key.
    const CERTIFICATE: &[u8] = include_bytes!("tests/certificate.pem");

    #[test]
    fn a_certificate_says_from_when_to_when_it_is_valid() {
        let key = PublicKey::certificate(CERTIFICATE).unwrap();
        assert!(key.is_p256());
        let (from, until) = (1_795_992_163_000, 4_949_592_163_000);
        for (at, valid) in [(from - 1, false), (from, true), (until, true), (until + 1, false)] {
            assert_eq!(key.is_valid_at(UnixMillis(at)), valid, "{at}");
        }
    }

    #[test]
    fn a_key_of_another_kind_verifies_no_token() {
        let key = PublicKey::ed25519(pair().public_key().as_ref()).unwrap();
        let signature = pair().sign(b"m");
        assert!(key.verifies_token(JwtAlgorithm::EdDsa, b"m", signature.as_ref()));
        assert!(!key.verifies_token(JwtAlgorithm::Es256, b"m", signature.as_ref()));
        assert!(!key.verifies_token(JwtAlgorithm::Hs256, b"m", signature.as_ref()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (PublicKey::spki(&bytes), PublicKey::set(&bytes), PublicKey::certificate(&bytes));
            let pem = format!("-----BEGIN CERTIFICATE-----{}-----END CERTIFICATE-----", STANDARD.encode(&bytes));
            let _ = PublicKey::certificate(pem.as_bytes());
        }
    }
}
