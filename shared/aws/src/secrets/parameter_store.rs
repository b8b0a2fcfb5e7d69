//! Secrets in parameters of AWS Systems Manager. A parameter has one value; a
//! name may end in `:version` or `:label`, as everywhere in AWS.

use super::call::{Caller, Service};
use super::secret;
use sekali::config::SecretName;
use sekali::ports::NoSecret;
use sekali::secret::Secret;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Parameter")]
    parameter: Parameter,
}

#[derive(Deserialize)]
struct Parameter {
    #[serde(rename = "Value")]
    value: String,
}

/// Reads a parameter, decrypted where it is a `SecureString`.
pub(super) async fn read(caller: &Caller, name: &SecretName) -> Result<Secret, NoSecret> {
    let asked = json!({ "Name": name.name(), "WithDecryption": true });
    let answer = caller.call(Service::SystemsManager, "AmazonSSM.GetParameter", &asked).await?;
    let answer: Answer = serde_json::from_slice(&answer)
        .map_err(|_| NoSecret::Unavailable("an answer that cannot be read".to_owned()))?;
    secret(answer.parameter.value.into_bytes(), name.member())
}
