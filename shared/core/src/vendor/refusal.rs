//! Why a delivery did not verify, for log and metric. The vendor hears one
//! generic answer; nothing here holds the expected signature, a secret or the
//! body.

use std::time::Duration;

/// Why a delivery was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// None of the vendor's schemes is for this delivery.
    #[error("no scheme of the vendor is for this delivery")]
    NoScheme,
    /// Something that the scheme needs is not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A header or element that may stand once stands several times.
    #[error("`{0}` is repeated")]
    Repeated(String),
    /// The signature or its time is not in the form that the vendor documents.
    #[error("`{0}` is not in the documented form")]
    Malformed(String),
    /// The signature is right; it was made too long ago.
    #[error("signed {} s ago", skew.as_secs())]
    TooOld {
        /// How long ago by our clock.
        skew: Duration,
    },
    /// The signature is right; its time is too far ahead of our clock.
    #[error("signed {} s in the future", skew.as_secs())]
    TooNew {
        /// How far ahead.
        skew: Duration,
    },
    /// No live secret makes any of the signatures.
    #[error("no secret of the endpoint makes this signature")]
    Mismatch,
    /// A value that the scheme demands is another one.
    #[error("`{0}` has another value than the scheme demands")]
    OtherValue(String),
    /// The delivery names an algorithm outside the closed list.
    #[error("the algorithm is not one that the vendor documents")]
    Algorithm,
    /// The signature is right, but over another body.
    #[error("the signed digest is of another body")]
    OtherBody,
    /// The delivery names a key that is not in the key set.
    #[error("the key that the delivery names is not known")]
    UnknownKey,
    /// The delivery names a key at a place that is not the vendor's.
    #[error("the URL of the key is not one of the vendor's")]
    KeyUrl,
    /// The certificate is not valid at this time.
    #[error("the certificate of the key is not valid at this time")]
    KeyNotValid,
    /// Every item must verify and there is none.
    #[error("there is no item that could prove anything")]
    NoItems,
    /// The endpoint lacks a parameter that the scheme needs: a fault of ours.
    #[error("the endpoint has no parameter `{0}`")]
    NoParam(String),
}

impl Refusal {
    /// The reason in one word, for metrics.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::NoScheme => "no-scheme",
            Self::Missing(_) => "missing",
            Self::Repeated(_) => "repeated",
            Self::Malformed(_) => "malformed",
            Self::TooOld { .. } => "too-old",
            Self::TooNew { .. } => "too-new",
            Self::Mismatch => "mismatch",
            Self::OtherValue(_) => "other-value",
            Self::Algorithm => "algorithm",
            Self::OtherBody => "other-body",
            Self::UnknownKey => "unknown-key",
            Self::KeyUrl => "key-url",
            Self::KeyNotValid => "key-not-valid",
            Self::NoItems => "no-items",
            Self::NoParam(_) => "no-param",
        }
    }

    /// How far the vendor's clock is from ours, in milliseconds, where the
    /// signature is right and only its time is not: negative is behind.
    pub fn clock_skew_ms(&self) -> Option<i64> {
        let millis = |skew: &Duration| i64::try_from(skew.as_millis()).unwrap_or(i64::MAX);
        match self {
            Self::TooOld { skew } => Some(-millis(skew)),
            Self::TooNew { skew } => Some(millis(skew)),
            _ => None,
        }
    }
}
