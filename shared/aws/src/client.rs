//! The AWS clients' settings, by hand: the default chain would look for
//! profiles and an instance's metadata before it reads the environment, and
//! would set no timeouts.

use crate::aws_destination::{AwsEffects, EffectAddresses};
use crate::aws_signature::AwsSigner;
use crate::roots;
use crate::secrets::{Addresses, Caller};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::{BehaviorVersion, IdentityCache, Region, SharedHttpClient};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use std::time::Duration;
use thiserror::Error;

/// How long a call may take. A thawed function finds its sockets dead and
/// hears nothing, so one try is given up early and the next opens a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection to stand.
    pub connect: Duration,
    /// For the first byte of an answer.
    pub read: Duration,
    /// For one try.
    pub attempt: Duration,
    /// For all tries and the waits between them.
    pub operation: Duration,
    /// How many tries.
    pub attempts: u32,
}

impl Patience {
    /// In a function. DynamoDB and SQS answer in tens of milliseconds, so a
    /// second without an answer means a dead socket; the second try opens a
    /// new one and still answers within the three seconds that the most
    /// impatient vendors allow. If every try hangs, the vendor's own retry
    /// repairs it (INV-1).
    pub const FUNCTION: Self = Self {
        connect: Duration::from_millis(900),
        read: Duration::from_millis(900),
        attempt: Duration::from_secs(1),
        operation: Duration::from_millis(4_500),
        attempts: 4,
    };

    /// For people and emulators, on slow links and busy machines.
    pub const PERSON: Self = Self {
        connect: Duration::from_secs(5),
        read: Duration::from_secs(15),
        attempt: Duration::from_secs(20),
        operation: Duration::from_secs(60),
        attempts: 3,
    };

    /// As the SDK's timeouts: none is left to its defaults.
    pub fn timeouts(self) -> TimeoutConfig {
        TimeoutConfig::builder()
            .connect_timeout(self.connect)
            .read_timeout(self.read)
            .operation_attempt_timeout(self.attempt)
            .operation_timeout(self.operation)
            .build()
    }

    /// As the SDK's retries.
    pub fn retries(self) -> RetryConfig {
        RetryConfig::standard()
            .with_max_attempts(self.attempts)
            .with_initial_backoff(FIRST_BACKOFF)
            .with_max_backoff(LONGEST_BACKOFF)
    }
}

/// The first wait between two tries; doubled each time, with full jitter.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
/// No wait between tries is longer: the whole call has seconds.
const LONGEST_BACKOFF: Duration = Duration::from_millis(500);

/// What the environment lacks. The function cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the environment variable {0} is not set")]
pub struct Unset(&'static str);

/// One set of settings, and one HTTP client, for all AWS clients of a process.
#[derive(Debug, Clone)]
pub struct Aws {
    shared: SdkConfig,
    dynamodb_url: Option<String>,
    sqs_url: Option<String>,
    region: String,
    credentials: Credentials,
    patience: Patience,
    keepers: Addresses,
    effects: EffectAddresses,
}

impl Aws {
    /// Reads region, credentials and the addresses of emulators from the
    /// environment: `AWS_REGION` (or `AWS_DEFAULT_REGION`),
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
    /// `AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL_SQS`,
    /// `AWS_ENDPOINT_URL_SECRETS_MANAGER`, `AWS_ENDPOINT_URL_SSM`,
    /// `AWS_ENDPOINT_URL_LAMBDA`, `AWS_ENDPOINT_URL_EVENTBRIDGE`.
    /// The credentials of a function's environment outlive its process, so
    /// they are read once.
    ///
    /// # Errors
    /// A variable without which nothing works is not set.
    pub fn from_env(patience: Patience) -> Result<Self, Unset> {
        Self::from_variables(patience, |name| std::env::var(name).ok())
    }

    /// The same, from `variable` instead of the environment: for a process
    /// that talks to more than one AWS.
    ///
    /// # Errors
    /// A variable without which nothing works is not set.
    pub fn from_variables(
        patience: Patience,
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, Unset> {
        let variable = |name| variable(name).filter(|value| !value.trim().is_empty());
        let wanted = |name| variable(name).ok_or(Unset(name));
        let region = variable("AWS_REGION").map_or_else(|| wanted("AWS_DEFAULT_REGION"), Ok);
        let region = region.map_err(|_| Unset("AWS_REGION"))?;
        let credentials = Credentials::new(
            wanted("AWS_ACCESS_KEY_ID")?,
            wanted("AWS_SECRET_ACCESS_KEY")?,
            variable("AWS_SESSION_TOKEN"),
            None,
            "environment",
        );
        let mut shared = settings(patience).region(Region::new(region.clone()));
        shared.set_credentials_provider(Some(SharedCredentialsProvider::new(credentials.clone())));
        let all = variable("AWS_ENDPOINT_URL");
        shared.set_endpoint_url(all.clone());
        let keepers = Addresses {
            secrets_manager: variable("AWS_ENDPOINT_URL_SECRETS_MANAGER").or_else(|| all.clone()),
            systems_manager: variable("AWS_ENDPOINT_URL_SSM").or_else(|| all.clone()),
        };
        let effects = EffectAddresses {
            sqs: variable("AWS_ENDPOINT_URL_SQS").or_else(|| all.clone()),
            lambda: variable("AWS_ENDPOINT_URL_LAMBDA").or_else(|| all.clone()),
            events: variable("AWS_ENDPOINT_URL_EVENTBRIDGE").or(all),
        };
        Ok(Self {
            shared: shared.build(),
            dynamodb_url: variable("AWS_ENDPOINT_URL_DYNAMODB"),
            sqs_url: variable("AWS_ENDPOINT_URL_SQS"),
            region,
            credentials,
            patience,
            keepers,
            effects,
        })
    }

    /// Invented credentials, and every service at one address.
    #[cfg(test)]
    pub(crate) fn at(url: &str, patience: Patience) -> Self {
        let variable = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(url.to_owned()),
            other if other.starts_with("AWS_ENDPOINT_URL_") => None,
            _ => Some("invented".to_owned()),
        };
        Self::from_variables(patience, variable).unwrap()
    }

    /// A client of DynamoDB.
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let mut config = aws_sdk_dynamodb::config::Builder::from(&self.shared);
        if let Some(url) = &self.dynamodb_url {
            config = config.endpoint_url(url);
        }
        aws_sdk_dynamodb::Client::from_conf(config.build())
    }

    /// A client of SQS.
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let mut config = aws_sdk_sqs::config::Builder::from(&self.shared);
        if let Some(url) = &self.sqs_url {
            config = config.endpoint_url(url);
        }
        aws_sdk_sqs::Client::from_conf(config.build())
    }

    /// What asks the keepers of secrets in AWS.
    pub fn caller(&self) -> Caller {
        Caller::new(self.signer(), self.keepers.clone(), self.patience)
    }

    /// What calls destinations in AWS.
    pub fn effects(&self) -> AwsEffects {
        AwsEffects::new(self.signer(), self.effects.clone())
    }

    fn signer(&self) -> AwsSigner {
        AwsSigner::new(self.region.clone(), self.credentials.clone())
    }

    /// The settings, for a client of another service.
    pub fn settings(&self) -> &SdkConfig {
        &self.shared
    }
}

/// How the SDK behaves where we say nothing.
pub fn behavior() -> BehaviorVersion {
    BehaviorVersion::v2026_01_12()
}

fn settings(patience: Patience) -> aws_types::sdk_config::Builder {
    SdkConfig::builder()
        .behavior_version(behavior())
        .http_client(http_client())
        .identity_cache(IdentityCache::no_cache())
        .timeout_config(patience.timeouts())
        .retry_config(patience.retries())
}

/// One TLS stack: rustls on ring, whose first use costs nothing (aws-lc
/// gathers entropy for most of a small function's second).
pub(crate) const TLS: Provider = Provider::Rustls(CryptoMode::Ring);

/// The HTTP client of all AWS clients of a process.
pub fn http_client() -> SharedHttpClient {
    let client = aws_smithy_http_client::Builder::new().tls_provider(TLS);
    match roots::context() {
        Some(context) => client.tls_context(context).build_https(),
        None => client.build_https(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aws(variables: &[(&'static str, &str)]) -> Result<Aws, Unset> {
        Aws::from_variables(Patience::FUNCTION, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    const KEYS: [(&str, &str); 3] = [
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "invented"),
        ("AWS_SECRET_ACCESS_KEY", "invented"),
    ];

    #[test]
    fn a_missing_or_blank_variable_is_named() {
        assert_eq!(aws(&KEYS[1..]).unwrap_err(), Unset("AWS_REGION"));
        assert_eq!(aws(&KEYS[..2]).unwrap_err(), Unset("AWS_SECRET_ACCESS_KEY"));
        let blank = [KEYS[0], ("AWS_ACCESS_KEY_ID", " "), KEYS[2]];
        assert_eq!(aws(&blank).unwrap_err(), Unset("AWS_ACCESS_KEY_ID"));
    }

    #[test]
    fn an_address_for_one_service_goes_before_the_address_for_all() {
        let mut variables = KEYS.to_vec();
        variables.push(("AWS_ENDPOINT_URL", "http://localhost:1"));
        variables.push(("AWS_ENDPOINT_URL_SQS", "http://localhost:2"));
        let aws = aws(&variables).unwrap();
        assert_eq!(aws.settings().endpoint_url(), Some("http://localhost:1"));
        assert_eq!(aws.sqs_url.as_deref(), Some("http://localhost:2"));
        assert_eq!(aws.dynamodb_url, None);
    }

    #[test]
    fn every_timeout_is_set_and_a_try_ends_before_the_whole_call() {
        let aws = aws(&KEYS).unwrap();
        let timeouts = aws.settings().timeout_config().unwrap();
        assert!(timeouts.connect_timeout().is_some() && timeouts.read_timeout().is_some());
        assert!(timeouts.operation_attempt_timeout() < timeouts.operation_timeout());
        assert_eq!(aws.settings().retry_config().unwrap().max_attempts(), Patience::FUNCTION.attempts);
    }

    #[test]
    fn a_call_to_a_port_where_nothing_listens_ends_in_an_error_not_a_hang() {
        let mut variables = KEYS.to_vec();
        variables.push(("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1"));
        let client = aws(&variables).unwrap().dynamodb();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(client.list_tables().send()).unwrap_err();
        assert!(error.as_service_error().is_none(), "{error:?}");
    }
}
