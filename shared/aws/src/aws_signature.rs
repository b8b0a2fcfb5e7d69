//! AWS's signature of one request, by the SDK's own signer: for the few
//! operations that do not need an SDK each.

use crate::SystemClock;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use sekali::time::Clock;
use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

/// Why a request cannot be made or signed; says nothing secret.
pub(crate) type NotSigned = Box<dyn std::error::Error + Send + Sync>;

/// Who we are, and in which region.
#[derive(Clone)]
pub(crate) struct AwsSigner {
    region: String,
    credentials: Credentials,
}

impl fmt::Debug for AwsSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsSigner").field("region", &self.region).finish_non_exhaustive()
    }
}

impl AwsSigner {
    pub(crate) fn new(region: String, credentials: Credentials) -> Self {
        Self { region, credentials }
    }

    /// The address of a service in this region, without a slash at its end.
    pub(crate) fn address(&self, service: &str) -> String {
        let domain = if self.region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        format!("https://{service}.{}.{domain}", self.region)
    }

    /// The headers that make a POST of these bytes ours.
    pub(crate) fn sign(
        &self,
        service: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Vec<(String, String)>, NotSigned> {
        let identity = self.credentials.clone().into();
        let now = u64::try_from(SystemClock.now().0).unwrap_or_default();
        let signing = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(UNIX_EPOCH + Duration::from_millis(now))
            .settings(SigningSettings::default())
            .build()?
            .into();
        let signable = SignableRequest::new("POST", url, headers.iter().copied(), SignableBody::Bytes(body))?;
        let (signed, _) = sign(signable, &signing)?.into_parts();
        Ok(signed.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}
