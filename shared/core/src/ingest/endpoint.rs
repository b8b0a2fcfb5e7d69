//! What an endpoint verifies with. It is made ready once per process, and an
//! endpoint without a usable secret is offline: 503, never HMAC("") (INV-10).

use super::Addressed;
use super::answer::Refused;
use crate::config::Endpoint;
use crate::http::Request;
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Keys, Params, Refusal, Verified};

/// An endpoint made ready, or the reason why it is offline.
#[derive(Debug)]
pub enum Ready {
    /// It verifies.
    Live(Live),
    /// It answers 503.
    Offline(Offline),
}

/// Keys and parameters of a live endpoint.
#[derive(Debug)]
pub struct Live {
    keys: Keys,
    params: Params,
}

/// Why an endpoint is offline; the text names places, never a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offline {
    /// What is wrong with each secret.
    pub reasons: Vec<String>,
}

/// Why a delivery does not verify.
pub(super) enum NotVerified<'r> {
    Offline(&'r Offline),
    Refused(Refusal),
}

impl Ready {
    /// Makes an endpoint ready with its secrets as they were found. One bad
    /// secret among good ones is left out and reported; none left takes the
    /// endpoint offline.
    pub fn with(endpoint: &Endpoint, secrets: Vec<Result<Secret, String>>) -> (Self, Vec<String>) {
        let mut reasons = Vec::new();
        let mut usable = Vec::new();
        for secret in secrets {
            match secret {
                // INV-10: a secret that the vendor's form rules out verifies nothing.
                Ok(secret) => match endpoint.vendor.keys(std::slice::from_ref(&secret)) {
                    Ok(_) => usable.push(secret),
                    Err(unusable) => reasons.push(unusable.to_string()),
                },
                Err(reason) => reasons.push(reason),
            }
        }
        let params = endpoint.params.clone();
        match endpoint.vendor.keys(&usable) {
            Ok(keys) => (Self::Live(Live { keys, params }), reasons),
            Err(unusable) => {
                reasons.push(unusable.to_string());
                (Self::Offline(Offline { reasons: reasons.clone() }), reasons)
            }
        }
    }

    /// Verifies a delivery over its raw bytes.
    pub(super) fn verify(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        now: UnixMillis,
    ) -> Result<Verified, NotVerified<'_>> {
        match self {
            Self::Live(live) => {
                endpoint.vendor.verify(request, &live.keys, &live.params, now).map_err(NotVerified::Refused)
            }
            Self::Offline(offline) => Err(NotVerified::Offline(offline)),
        }
    }
}

impl NotVerified<'_> {
    /// The reason goes to the log; the caller hears one generic answer.
    pub fn log(&self, addressed: &Addressed) {
        let (endpoint, correlation) = (&addressed.endpoint, &addressed.correlation);
        match self {
            Self::Offline(offline) => tracing::error!(
                endpoint.name = %endpoint,
                correlation.id = %correlation,
                offline.reasons = %offline.reasons.join("; "),
                "endpoint offline"
            ),
            Self::Refused(refusal) => tracing::warn!(
                endpoint.name = %endpoint,
                correlation.id = %correlation,
                signature.reason = refusal.slug(),
                signature.clock_skew_ms = refusal.clock_skew_ms(),
                "signature refused"
            ),
        }
    }

    /// What the sender is told.
    pub fn refused(&self, endpoint: &Endpoint) -> Refused {
        match self {
            Self::Offline(_) => Refused::Unavailable,
            Self::Refused(_) => Refused::Signature(endpoint.vendor.reply().reject_status),
        }
    }
}
