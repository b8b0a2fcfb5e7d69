//! Secrets: bytes that are never shown. Verification fails closed (INV-10): a
//! secret that is empty or blank does not come into being.

use std::fmt;

/// What a vendor and an endpoint share, as it was configured.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

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
