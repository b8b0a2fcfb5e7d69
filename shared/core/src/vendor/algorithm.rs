//! Digests and encodings that descriptions may name. Signatures are decoded
//! strictly: a second way to write one signature is a way around a cache of
//! seen ones.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Sha256, Sha384, Sha512};

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digest {
    /// Only where a vendor has nothing better.
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// The names of the digests, as descriptions write them.
pub(crate) const DIGESTS: &[(&str, Digest)] = &[
    ("sha1", Digest::Sha1),
    ("sha256", Digest::Sha256),
    ("sha384", Digest::Sha384),
    ("sha512", Digest::Sha512),
];

impl Digest {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        DIGESTS.iter().find(|(known, _)| *known == name).map(|(_, digest)| *digest)
    }

    /// The digest of one piece.
    pub(crate) fn of(self, bytes: &[u8]) -> Vec<u8> {
        self.over([bytes])
    }

    /// The digest of a message in pieces: a body is not copied to be hashed.
    pub(crate) fn over<'p>(self, pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
        let mut hasher: Box<dyn DynDigest> = match self {
            Self::Sha1 => Box::<Sha1>::default(),
            Self::Sha256 => Box::<Sha256>::default(),
            Self::Sha384 => Box::<Sha384>::default(),
            Self::Sha512 => Box::<Sha512>::default(),
        };
        pieces.into_iter().for_each(|piece| hasher.update(piece));
        hasher.finalize().into_vec()
    }
}

/// The key of an HMAC, prepared once: a delivery costs no more than its own
/// bytes.
#[derive(Clone)]
pub(crate) enum MacKey {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha384(Hmac<Sha384>),
    Sha512(Hmac<Sha512>),
}

impl MacKey {
    pub(crate) fn new(digest: Digest, key: &[u8]) -> Self {
        fn prepared<M: Mac + KeyInit>(key: &[u8]) -> M {
            #[expect(clippy::expect_used, reason = "an HMAC takes a key of any length")]
            <M as KeyInit>::new_from_slice(key).expect("any length")
        }
        match digest {
            Digest::Sha1 => Self::Sha1(prepared(key)),
            Digest::Sha256 => Self::Sha256(prepared(key)),
            Digest::Sha384 => Self::Sha384(prepared(key)),
            Digest::Sha512 => Self::Sha512(prepared(key)),
        }
    }

    /// The tag of a message in pieces. Whoever compares it does so in constant
    /// time.
    pub(crate) fn over<'p>(&self, pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
        fn tag<'p, M: Mac + Clone>(key: &M, pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
            let mut mac = key.clone();
            pieces.into_iter().for_each(|piece| mac.update(piece));
            mac.finalize().into_bytes().to_vec()
        }
        match self {
            Self::Sha1(key) => tag(key, pieces),
            Self::Sha256(key) => tag(key, pieces),
            Self::Sha384(key) => tag(key, pieces),
            Self::Sha512(key) => tag(key, pieces),
        }
    }
}

/// How bytes are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Lower case.
    Hex,
    /// Canonical, with padding.
    Base64,
    /// URL-safe, without padding.
    Base64Url,
}

/// The names of the encodings, as descriptions write them.
pub(crate) const ENCODINGS: &[(&str, Encoding)] =
    &[("hex", Encoding::Hex), ("base64", Encoding::Base64), ("base64url", Encoding::Base64Url)];

impl Encoding {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        ENCODINGS.iter().find(|(known, _)| *known == name).map(|(_, encoding)| *encoding)
    }

    /// The bytes of a text in exactly this form; `None` for any other.
    pub(crate) fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Hex => hex_bytes(text, false),
            Self::Base64 => STANDARD.decode(text).ok(),
            Self::Base64Url => URL_SAFE_NO_PAD.decode(text).ok(),
        }
    }

    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => crate::key::hex(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}

/// Hex digits; upper case only for keys, which people copy.
pub(crate) fn hex_bytes(text: &[u8], any_case: bool) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' if any_case => Some(byte - b'A' + 10),
        _ => None,
    };
    text.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_one_way_to_write_a_signature_is_accepted() {
        assert_eq!(Encoding::Hex.decode(b"0aff"), Some(vec![10, 255]));
        for text in ["0AFF", "0af", "0x", " 0a", "g0"] {
            assert_eq!(Encoding::Hex.decode(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Encoding::Base64.decode(b"AAE="), Some(vec![0, 1]));
        // Without padding, with bits left over, URL-safe, with white space.
        for text in ["AAE", "AAF=", "AA-_", "AAE= ", "AAE=="] {
            assert_eq!(Encoding::Base64.decode(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Encoding::Base64Url.decode(b"AAE"), Some(vec![0, 1]));
        assert_eq!(Encoding::Base64Url.decode(b"AAE="), None);
    }

    /// The published examples of FIPS 180 (`abc`) and of RFC 2202 and RFC 4231
    /// (test case 2), in two pieces each.
    #[test]
    fn digests_and_tags_are_those_of_the_standards() {
        let known = [
            ("a9993e364706816aba3e25717850c26c9cd0d89d", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
            ),
            (
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            ),
        ];
        for ((_, digest), (of_abc, tag)) in DIGESTS.iter().zip(known) {
            assert_eq!(Encoding::Hex.encode(&digest.over([&b"a"[..], b"bc"])), of_abc);
            let pieces = [&b"what do ya want "[..], b"for nothing?"];
            assert_eq!(Encoding::Hex.encode(&MacKey::new(*digest, b"Jefe").over(pieces)), tag);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for (_, encoding) in ENCODINGS {
                let text = encoding.encode(&bytes);
                prop_assert_eq!(encoding.decode(text.as_bytes()), Some(bytes.clone()));
            }
        }

        #[test]
        fn a_text_that_decodes_is_the_one_that_is_written(text in "[a-zA-Z0-9+/=_-]{0,12}") {
            for (_, encoding) in ENCODINGS {
                if let Some(bytes) = encoding.decode(text.as_bytes()) {
                    prop_assert_eq!(encoding.encode(&bytes), text.clone());
                }
            }
        }
    }
}
