//! Secrets: bytes that are never shown. Verification fails closed (INV-10): a
//! secret that is empty or blank does not come into being.

use std::fmt;

/// What a vendor and an endpoint share, as it was configured.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Which version of a secret, where its keeper has several. Both verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The one that counts now.
    Current,
    /// The one that counted before the last rotation.
    Previous,
}

impl Stage {
    /// The word for it in logs and items.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Previous => "previous",
        }
    }

    /// The stage that a stored word names.
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Current, Self::Previous].into_iter().find(|stage| stage.as_str() == word)
    }
}

/// Which of an endpoint's secrets, and which version of it; never what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretPlace {
    /// Its position in the endpoint's `secrets`, from 0.
    pub position: usize,
    /// Which version.
    pub stage: Stage,
}

/// Shown as people count: `1 (current)` is the first.
impl fmt::Display for SecretPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.position + 1, self.stage.as_str())
    }
}

/// Why bytes are no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASecret {
    /// No bytes at all.
    #[error("the secret is empty")]
    Empty,
    /// Nothing but white space.
    #[error("the secret is blank")]
    Blank,
}

impl Secret {
    /// Takes the bytes as they are; whether they suit a vendor is for
    /// `Vendor::keys` to say.
    ///
    /// # Errors
    /// The bytes are empty or blank: the endpoint must go offline, never HMAC("").
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, NotASecret> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(NotASecret::Empty);
        }
        let blank = match std::str::from_utf8(&bytes) {
            Ok(text) => text.chars().all(|c| c.is_whitespace() || c.is_control() || c == '\u{feff}'),
            Err(_) => false,
        };
        if blank { Err(NotASecret::Blank) } else { Ok(Self(bytes)) }
    }

    /// The bytes, for a computation and nothing else.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // INV-10: an empty or blank secret never verifies anything.
    #[test]
    fn an_empty_or_blank_secret_does_not_come_into_being() {
        assert_eq!(Secret::new(""), Err(NotASecret::Empty));
        for blank in [" ", "\r\n\t", "\u{a0}\u{2003}", "\0", "\u{feff}"] {
            assert_eq!(Secret::new(blank), Err(NotASecret::Blank), "{blank:?}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("whsec_invented").unwrap()), "Secret(..)");
    }
}
