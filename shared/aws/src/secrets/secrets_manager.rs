//! Secrets in AWS Secrets Manager: the current and the previous version of
//! each, since a vendor may sign with either while a secret is rotated.

use super::call::{Caller, Service};
use super::secret;
use sekali::config::SecretName;
use sekali::ports::{Kept, NoSecret};
use sekali::secret::{Secret, Stage};
use serde::Deserialize;
use serde_json::json;
use tokio::join;

/// Reads both versions side by side. There may well be no previous one.
pub(super) async fn read(caller: &Caller, name: &SecretName) -> Vec<Kept> {
    let (current, previous) =
        join!(version(caller, name, "AWSCURRENT"), version(caller, name, "AWSPREVIOUS"));
    let mut kept = vec![(Stage::Current, current)];
    if previous != Err(NoSecret::Absent) {
        kept.push((Stage::Previous, previous));
    }
    kept
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "SecretString")]
    text: Option<String>,
    /// In base64.
    #[serde(rename = "SecretBinary")]
    binary: Option<String>,
}

async fn version(caller: &Caller, name: &SecretName, stage: &str) -> Result<Secret, NoSecret> {
    let asked = json!({ "SecretId": name.name(), "VersionStage": stage });
    let answer = caller.call(Service::SecretsManager, "secretsmanager.GetSecretValue", &asked).await?;
    let unreadable = || NoSecret::Unavailable("an answer that cannot be read".to_owned());
    let answer: Answer = serde_json::from_slice(&answer).map_err(|_| unreadable())?;
    let bytes = match (answer.text, answer.binary) {
        (Some(text), _) => text.into_bytes(),
        (None, Some(binary)) => aws_smithy_types::base64::decode(binary).map_err(|_| unreadable())?,
        (None, None) => return Err(unreadable()),
    };
    secret(bytes, name.member())
}
