//! The signature of our own calls: Standard Webhooks, over exactly the bytes
//! that are sent. It is made by the description with which our own receivers
//! verify it.

use crate::http::{Headers, Request};
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::sign::{NotSignable, sign};
use crate::vendor::{Params, Vendor, builtin};
use thiserror::Error;

/// The header that names a message: the same on every attempt (INV-2).
pub const ID: &str = "webhook-id";
/// The header that says when this attempt was made, in epoch seconds.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header that carries one signature for each live secret.
pub const SIGNATURE: &str = "webhook-signature";

const DESCRIPTION: &str = "standard-webhooks";

/// Signs calls.
#[derive(Debug, Clone)]
pub struct CallSigner {
    scheme: Vendor,
}

/// A secret among those of a destination that signs nothing; never what it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("none of the destination's secrets can sign: {0}")]
pub struct NoUsableSecret(String);

/// The three headers of a signed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHeaders {
    /// [`ID`].
    pub id: String,
    /// [`TIMESTAMP`].
    pub timestamp: String,
    /// [`SIGNATURE`]: one for each secret, separated by spaces.
    pub signature: String,
}

impl CallSigner {
    /// A signer of Standard Webhooks.
    pub fn new() -> Self {
        let text = builtin::text(DESCRIPTION).unwrap_or_default();
        #[expect(
            clippy::expect_used,
            reason = "the description is compiled in, and a test reads all of them"
        )]
        let scheme = Vendor::parse(DESCRIPTION, DESCRIPTION, text).expect("a description of our own");
        Self { scheme }
    }

    /// Signs these bytes under `id` at `at`, once with each secret. A secret
    /// that is no key (`whsec_` and base64, at least 16 bytes) is left out.
    ///
    /// # Errors
    /// No secret is left: send nothing, since an unsigned call is another call.
    pub fn sign(
        &self,
        id: &str,
        at: UnixMillis,
        body: &[u8],
        secrets: &[Secret],
    ) -> Result<SignedHeaders, NoUsableSecret> {
        let request = Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: Headers::new([(ID, id)]),
            body: body.to_vec(),
        };
        let mut signed: Option<SignedHeaders> = None;
        let mut faults = Vec::new();
        for (position, secret) in secrets.iter().enumerate() {
            match self.one(&request, secret, at) {
                Ok((timestamp, signature)) => match &mut signed {
                    Some(signed) => signed.signature = format!("{} {signature}", signed.signature),
                    None => signed = Some(SignedHeaders { id: id.to_owned(), timestamp, signature }),
                },
                Err(fault) => faults.push(format!("secret {}: {fault}", position + 1)),
            }
        }
        if signed.is_some() && !faults.is_empty() {
            tracing::error!(secret.problem = faults.join("; "), "a secret of our own calls cannot sign");
        }
        signed.ok_or_else(|| NoUsableSecret(faults.join("; ")))
    }

    fn one(
        &self,
        request: &Request,
        secret: &Secret,
        at: UnixMillis,
    ) -> Result<(String, String), NotSignable> {
        let headers = sign(&self.scheme, request, secret, &Params::default(), at, String::new)?;
        let header = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Ok((header(TIMESTAMP), header(SIGNATURE)))
    }
}

impl Default for CallSigner {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the specification publishes.
    const PUBLISHED: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

    fn secret(text: &str) -> Secret {
        Secret::new(text).unwrap()
    }

    fn signed(secrets: &[&str]) -> Result<SignedHeaders, NoUsableSecret> {
        let secrets: Vec<Secret> = secrets.iter().map(|text| secret(text)).collect();
        let body = br#"{"test": 2432232314}"#;
        CallSigner::new().sign("msg_p5jXN8AQM9LWM0D4loKWxJek", UnixMillis(1_614_265_330_999), body, &secrets)
    }

    #[test]
    fn the_published_example_comes_out_as_published() {
        let signed = signed(&[PUBLISHED]).unwrap();
        assert_eq!(signed.timestamp, "1614265330");
        assert_eq!(signed.signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn while_secrets_roll_each_of_them_signs() {
        let both = signed(&[PUBLISHED, OTHER]).unwrap().signature;
        let (first, second) = both.split_once(' ').unwrap();
        assert_eq!(first, signed(&[PUBLISHED]).unwrap().signature);
        assert_eq!(second, signed(&[OTHER]).unwrap().signature);
    }

    // INV-10
    #[test]
    fn a_secret_that_is_no_key_is_left_out_and_alone_signs_nothing() {
        assert_eq!(signed(&["whsec_***", PUBLISHED]), signed(&[PUBLISHED]));
        let none = signed(&["whsec_c2hvcnQ="]).unwrap_err();
        assert!(!none.to_string().contains("c2hvcnQ"), "{none}");
        assert!(signed(&[]).is_err());
    }
}
