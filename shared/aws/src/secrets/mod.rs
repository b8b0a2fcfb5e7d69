//! The keepers of secrets: the environment, files, Secrets Manager and the
//! Parameter Store; and beside them the servers of vendors that publish their
//! keys. Each says what it has and nothing else; how long that is believed is
//! for the keyring of the core.

mod call;
mod environment;
mod file;
mod parameter_store;
mod secrets_manager;

pub(crate) use call::Addresses;
pub use call::Caller;

use crate::key_documents::KeyServers;
use sekali::config::{Keeper, SecretName};
use sekali::ports::{Kept, KeyDocuments, NoKeyDocument, NoSecret, Secrets};
use sekali::secret::{Secret, Stage};
use sekali::vendor::KeyUrl;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Every keeper that a configuration can name, and every server that a
/// vendor's description can.
#[derive(Debug)]
pub struct Keepers {
    folder: PathBuf,
    caller: Caller,
    servers: KeyServers,
}

impl Keepers {
    /// Keepers whose files lie in `folder` and whose AWS `caller` asks. Neither
    /// is touched before a secret there is read.
    pub fn new(folder: PathBuf, caller: Caller) -> Self {
        Self { folder, caller, servers: KeyServers::default() }
    }
}

impl Secrets for Keepers {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        let current = |secret| vec![(Stage::Current, secret)];
        match name.keeper() {
            Keeper::Environment => current(environment::read(name.name())),
            Keeper::File => current(file::read(&self.folder, name.name())),
            Keeper::ParameterStore => current(parameter_store::read(&self.caller, name).await),
            Keeper::SecretsManager => secrets_manager::read(&self.caller, name).await,
        }
    }
}

impl KeyDocuments for Keepers {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        self.servers.fetch(url).await
    }
}

/// Reads a secret that is kept on this machine: in the environment, or in a
/// file below `folder`. `None`: it is kept elsewhere.
pub fn on_this_machine(folder: &Path, name: &SecretName) -> Option<Result<Secret, NoSecret>> {
    match name.keeper() {
        Keeper::Environment => Some(environment::read(name.name())),
        Keeper::File => Some(file::read(folder, name.name())),
        Keeper::ParameterStore | Keeper::SecretsManager => None,
    }
}

/// What is kept under a name, or that member of it, as a secret (INV-10: a
/// blank one does not come into being).
fn secret(kept: Vec<u8>, member: Option<&str>) -> Result<Secret, NoSecret> {
    let bytes = match member {
        None => kept,
        Some(member) => match serde_json::from_slice::<Value>(&kept) {
            Ok(Value::Object(mut members)) => match members.remove(member) {
                Some(Value::String(text)) => text.into_bytes(),
                Some(_) => return Err(NoSecret::Unusable(format!("its member `{member}` is no text"))),
                None => return Err(NoSecret::Unusable(format!("it has no member `{member}`"))),
            },
            _ => return Err(NoSecret::Unusable("it is no JSON object".to_owned())),
        },
    };
    Secret::new(bytes).map_err(|reason| NoSecret::Unusable(reason.to_string()))
}

#[cfg(test)]
mod tests;
