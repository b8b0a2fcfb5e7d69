//! What an endpoint verifies with. Without a usable secret it is offline: 503,
//! never HMAC("") (INV-10).

use crate::config::Endpoint;
use crate::http::Request;
use crate::published::NotProven;
use crate::secret::{Secret, SecretPlace};
use crate::time::UnixMillis;
use crate::vendor::{HandshakeAnswer, HandshakeRefusal, KeyUrl, Keys, Refusal, Verified};

/// A delivery is the vendor's, and this secret says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// What verification found.
    pub verified: Verified,
    /// Which secret made the signature; `None` where the vendor signs nothing,
    /// or with a key that it publishes.
    pub secret: Option<SecretPlace>,
    /// Where it is a handshake: its answer, made with the key that verified it.
    pub handshake: Option<Result<HandshakeAnswer, HandshakeRefusal>>,
}

/// Why a delivery does not verify. Write nothing (INV-10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotVerified {
    /// No secret is usable: 503, it is our fault. What is wrong with each.
    Offline(Vec<String>),
    /// The tenant has no secret, or it may not be looked for just now: to be
    /// answered like a bad signature, so that nobody learns which tenants are.
    NoSuchTenant(Option<Refresh>),
    /// The vendor publishes the key and it is not to be had: 503, since that
    /// says nothing about the delivery.
    NoKey(String),
    /// The vendor's description refuses it.
    Refused(Refusal, Option<Refresh>),
}

/// What became of reading the secrets again because a signature was bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refresh {
    /// They were read, and the signature is bad all the same.
    Refreshed,
    /// They were read a moment ago for the same reason.
    Suppressed,
    /// A keeper did not answer.
    Failed,
}

impl Refresh {
    /// The word for it in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refreshed => "refreshed",
            Self::Suppressed => "refresh_suppressed",
            Self::Failed => "refresh_failed",
        }
    }
}

/// A usable version of a secret and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub place: SecretPlace,
    pub secret: Secret,
}

/// An endpoint, or one tenant of it, made ready.
#[derive(Debug)]
pub(super) enum Ready {
    /// It verifies.
    Live {
        keys: Keys,
        /// The place of the secret behind each index of the keys.
        places: Vec<SecretPlace>,
    },
    /// It answers 503.
    Offline {
        /// They name places, never a secret.
        reasons: Vec<String>,
        /// Every keeper said what it has, and none has a secret to use.
        certain: bool,
    },
    /// There is no such tenant, as far as its secrets tell.
    NoSuchTenant,
}

impl Ready {
    /// Makes the keys once, for every delivery until the secrets change.
    pub fn with(endpoint: &Endpoint, versions: &[Version]) -> Result<Self, String> {
        let secrets: Vec<Secret> = versions.iter().map(|version| version.secret.clone()).collect();
        let keys = endpoint.vendor.keys(&secrets).map_err(|unusable| unusable.to_string())?;
        Ok(Self::Live { keys, places: versions.iter().map(|version| version.place).collect() })
    }

    /// Whether it verifies anything.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }

    /// The keys, where there are some.
    pub fn keys(&self) -> Option<&Keys> {
        match self {
            Self::Live { keys, .. } => Some(keys),
            Self::Offline { .. } | Self::NoSuchTenant => None,
        }
    }

    /// Whether every keeper said that there is no secret to use.
    pub fn certainly_has_none(&self) -> bool {
        matches!(self, Self::Offline { certain: true, .. })
    }

    /// Where the key of this delivery is published, if none of the secrets
    /// stands for it.
    pub fn key_url(&self, endpoint: &Endpoint, request: &Request) -> Result<Option<KeyUrl>, NotVerified> {
        match self {
            Self::Live { keys, .. } => {
                endpoint.vendor.key_url(request, keys).map_err(|refusal| NotVerified::Refused(refusal, None))
            }
            Self::Offline { .. } | Self::NoSuchTenant => Ok(None),
        }
    }

    /// Verifies a delivery over its raw bytes.
    pub fn verify(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        now: UnixMillis,
    ) -> Result<Matched, NotVerified> {
        match self {
            Self::Live { keys, places } => {
                let verified = endpoint
                    .vendor
                    .verify(request, keys, &endpoint.params, now)
                    .map_err(|refusal| NotVerified::Refused(refusal, None))?;
                let secret = verified.secret_index.and_then(|index| places.get(index)).copied();
                let handshake =
                    endpoint.vendor.handshake(request, Some(&verified), &endpoint.params, Some(keys));
                Ok(Matched { verified, secret, handshake })
            }
            Self::Offline { reasons, .. } => Err(NotVerified::Offline(reasons.clone())),
            Self::NoSuchTenant => Err(NotVerified::NoSuchTenant(None)),
        }
    }
}

impl NotVerified {
    /// Whether a secret that is not known yet could make the signature right.
    pub(super) fn may_be_a_new_secret(&self) -> bool {
        matches!(self, Self::Refused(Refusal::Mismatch | Refusal::UnknownKey, _))
    }

    /// The same, after the secrets were read again for it.
    pub(super) fn after(self, refresh: Refresh) -> Self {
        match self {
            Self::Refused(refusal, _) => Self::Refused(refusal, Some(refresh)),
            Self::NoSuchTenant(_) => Self::NoSuchTenant(Some(refresh)),
            other @ (Self::Offline(_) | Self::NoKey(_)) => other,
        }
    }
}

impl From<NotProven> for NotVerified {
    fn from(not_proven: NotProven) -> Self {
        match not_proven {
            NotProven::Refused(refusal) => Self::Refused(refusal, None),
            NotProven::NoKey(reason) => Self::NoKey(reason),
        }
    }
}
