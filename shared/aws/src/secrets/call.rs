//! One signed call to Secrets Manager or Systems Manager. Two operations do
//! not need two SDKs, which would be most of the function's code: the SDK's own
//! signer and HTTP client make the call, and what is left is here.

use crate::aws_signature::AwsSigner;
use crate::client::Patience;
use crate::describe;
use crate::refusal::told;
use aws_credential_types::provider::ProvideCredentials;
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorSettings};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use aws_types::SdkConfig;
use sekali::ports::NoSecret;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// A vendor waits for the secret, and some wait for three seconds only: a
/// second try has a new connection, a third would come too late.
const TRIES: usize = 2;
/// Between the two.
const PAUSE: Duration = Duration::from_millis(50);

/// What a keeper answered when it asks for patience.
const THROTTLING: [&str; 5] =
    ["ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "SlowDown"];

/// Which service is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    SecretsManager,
    SystemsManager,
}

impl Service {
    /// Its name in addresses and signatures.
    fn name(self) -> &'static str {
        match self {
            Self::SecretsManager => "secretsmanager",
            Self::SystemsManager => "ssm",
        }
    }
}

/// Where the services are, instead of AWS's own addresses: for emulators,
/// private endpoints and partitions with other domain names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    pub secrets_manager: Option<String>,
    pub systems_manager: Option<String>,
}

/// Makes the calls of one process, each over a connection of its own.
pub struct Caller {
    signer: AwsSigner,
    addresses: Addresses,
    patience: Patience,
    connector: OnceLock<Connector>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("signer", &self.signer).finish_non_exhaustive()
    }
}

/// How a try ended that brought no secret.
enum Failed {
    /// Another try may do better.
    Again(String),
    /// The service has spoken.
    Certain(NoSecret),
}

impl Caller {
    pub(crate) fn new(signer: AwsSigner, addresses: Addresses, patience: Patience) -> Self {
        Self { signer, addresses, patience, connector: OnceLock::new() }
    }

    /// Calls as a person whose settings the SDK has found: profile, SSO or role.
    ///
    /// # Errors
    /// There is no region, or nobody to call as; in words.
    pub async fn of(settings: &SdkConfig, patience: Patience) -> Result<Self, String> {
        let region = settings.region().ok_or("no region is set")?.to_string();
        let provider = settings.credentials_provider().ok_or("there are no credentials")?;
        let credentials = provider.provide_credentials().await.map_err(|error| describe(&error))?;
        let all = settings.endpoint_url().map(str::to_owned);
        let addresses = Addresses { secrets_manager: all.clone(), systems_manager: all };
        Ok(Self::new(AwsSigner::new(region, credentials), addresses, patience))
    }

    /// Calls an operation and gives back its answer's body.
    pub(super) async fn call(
        &self,
        service: Service,
        operation: &'static str,
        asked: &Value,
    ) -> Result<Vec<u8>, NoSecret> {
        let body = asked.to_string();
        let mut last = String::new();
        for number in 0..TRIES {
            if number > 0 {
                sleep(PAUSE).await;
            }
            match timeout(self.patience.attempt, self.attempt(service, operation, &body)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(Failed::Certain(no_secret))) => return Err(no_secret),
                Ok(Err(Failed::Again(why))) => last = why,
                Err(_) => last = format!("no answer within {:?}", self.patience.attempt),
            }
        }
        Err(NoSecret::Unavailable(last))
    }

    async fn attempt(
        &self,
        service: Service,
        operation: &'static str,
        body: &str,
    ) -> Result<Vec<u8>, Failed> {
        let request =
            self.request(service, operation, body).map_err(|error| Failed::Again(error.to_string()))?;
        let response =
            self.connector().call(request).await.map_err(|error| Failed::Again(describe(&error)))?;
        let status = response.status().as_u16();
        let answer = ByteStream::new(response.into_body()).collect().await;
        let answer = answer.map_err(|error| Failed::Again(describe(&error)))?.to_vec();
        if status == 200 { Ok(answer) } else { Err(refused(status, &answer)) }
    }

    fn request(
        &self,
        service: Service,
        operation: &'static str,
        body: &str,
    ) -> Result<HttpRequest, Box<dyn std::error::Error + Send + Sync>> {
        let url = self.address(service);
        let headers = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", operation)];
        let signed = self.signer.sign(service.name(), &url, &headers, body.as_bytes())?;
        let mut request = HttpRequest::new(SdkBody::from(body));
        request.set_method("POST")?;
        request.set_uri(url)?;
        for (name, value) in headers {
            request.headers_mut().insert(name, value);
        }
        for (name, value) in signed {
            request.headers_mut().insert(name, value);
        }
        Ok(request)
    }

    fn address(&self, service: Service) -> String {
        let known = match service {
            Service::SecretsManager => &self.addresses.secrets_manager,
            Service::SystemsManager => &self.addresses.systems_manager,
        };
        let own = || format!("{}/", self.signer.address(service.name()));
        known.clone().map_or_else(own, |url| if url.ends_with('/') { url } else { format!("{url}/") })
    }

    fn connector(&self) -> &Connector {
        self.connector.get_or_init(|| {
            let settings = HttpConnectorSettings::builder()
                .connect_timeout(self.patience.connect)
                .read_timeout(self.patience.read)
                .build();
            // Minutes lie between two readings: a socket that was kept would be
            // dead, and the try that finds out would be lost.
            Connector::builder()
                .pool_max_idle_per_host(0)
                .connector_settings(settings)
                .tls_provider(Provider::Rustls(CryptoMode::Ring))
                .build()
        })
    }
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(rename = "__type", default)]
    kind: String,
    #[serde(alias = "Message", default)]
    message: String,
}

/// What a refusal means for the secret.
fn refused(status: u16, answer: &[u8]) -> Failed {
    let Ok(Refusal { kind, message }) = serde_json::from_slice(answer) else {
        return Failed::Again(format!("HTTP status {status}"));
    };
    let text = || told(&kind, &message);
    let kind = kind.rsplit('#').next().unwrap_or_default();
    match kind {
        // A secret that is to be deleted is an invalid request, and it is gone.
        "ResourceNotFoundException"
        | "InvalidRequestException"
        | "ParameterNotFound"
        | "ParameterVersionNotFound" => Failed::Certain(NoSecret::Absent),
        "ValidationException" | "InvalidParameterException" => Failed::Certain(NoSecret::Unusable(text())),
        _ if status >= 500 || status == 429 || THROTTLING.contains(&kind) => Failed::Again(text()),
        _ => Failed::Certain(NoSecret::Denied(text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_credential_types::Credentials;

    fn caller(region: &str, addresses: Addresses) -> Caller {
        let credentials = Credentials::new("key-id", "invented", Some("token".to_owned()), None, "test");
        Caller::new(AwsSigner::new(region.to_owned(), credentials), addresses, Patience::FUNCTION)
    }

    #[test]
    fn a_call_is_signed_for_its_service_and_carries_the_session() {
        let caller = caller("eu-west-1", Addresses::default());
        let request = caller.request(Service::SystemsManager, "AmazonSSM.GetParameter", "{}").unwrap();
        let header = |name: &str| request.headers().get(name).unwrap_or_default();
        assert_eq!((request.method(), request.uri()), ("POST", "https://ssm.eu-west-1.amazonaws.com/"));
        assert!(header("authorization").starts_with("AWS4-HMAC-SHA256 Credential=key-id/"));
        assert!(header("authorization").contains("/eu-west-1/ssm/aws4_request"));
        assert!(header("authorization").contains("x-amz-target"), "what is asked is signed too");
        assert_eq!(header("x-amz-security-token"), "token");
        assert!(!format!("{caller:?}").contains("invented"));
    }

    #[test]
    fn a_service_lies_where_the_region_or_the_environment_says() {
        let at =
            |region: &str, addresses: Addresses| caller(region, addresses).address(Service::SecretsManager);
        assert_eq!(
            at("cn-north-1", Addresses::default()),
            "https://secretsmanager.cn-north-1.amazonaws.com.cn/"
        );
        let given = Addresses { secrets_manager: Some("http://127.0.0.1:1".into()), systems_manager: None };
        assert_eq!(at("eu-west-1", given), "http://127.0.0.1:1/");
    }
}
