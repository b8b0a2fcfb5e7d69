//! Digests and encodings that descriptions may name. Signatures are decoded
//! strictly: a second way to write one signature is a way around a cache of
//! seen ones.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::{digest, hmac};

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

    pub(crate) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }

    pub(crate) fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }

    pub(crate) fn of(self, bytes: &[u8]) -> digest::Digest {
        digest::digest(self.algorithm(), bytes)
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
