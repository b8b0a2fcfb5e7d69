//! The secrets with which vendors' APIs are asked: read when they are needed,
//! kept for a while, read again when an API does not know them.

use crate::config::SecretName;
use crate::ports::{NoSecret, Secrets};
use crate::secret::{Secret, Stage};
use crate::secrets::{RETRY_KNOWN, TIME_TO_LIVE};
use crate::time::UnixMillis;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Secrets that one instance keeps; tenants may have one each.
const MOST: usize = 1024;

/// The current version of each secret, as last read.
#[derive(Debug, Default)]
pub(super) struct Credentials(Mutex<BTreeMap<SecretName, Kept>>);

#[derive(Debug, Clone)]
struct Kept {
    secret: Secret,
    /// When to read it again. A clock that was set back makes it due.
    from: UnixMillis,
    until: UnixMillis,
}

/// A secret, and whether its keeper said so just now.
pub(super) struct Credential {
    pub secret: Secret,
    pub fresh: bool,
}

impl Credentials {
    /// The secret to ask with. A keeper that does not answer leaves the known
    /// one as it is.
    pub async fn current(
        &self,
        keeper: &impl Secrets,
        name: &SecretName,
        now: UnixMillis,
    ) -> Result<Credential, NoSecret> {
        let known = self.known(name);
        if let Some(kept) = &known
            && (kept.from..kept.until).contains(&now)
        {
            return Ok(Credential { secret: kept.secret.clone(), fresh: false });
        }
        self.read(keeper, name, now, known).await
    }

    /// The secret as its keeper has it now, since the API does not know the
    /// one that was kept.
    pub async fn again(
        &self,
        keeper: &impl Secrets,
        name: &SecretName,
        now: UnixMillis,
    ) -> Result<Credential, NoSecret> {
        self.read(keeper, name, now, None).await
    }

    async fn read(
        &self,
        keeper: &impl Secrets,
        name: &SecretName,
        now: UnixMillis,
        known: Option<Kept>,
    ) -> Result<Credential, NoSecret> {
        let versions = keeper.read(name).await;
        let current = versions.into_iter().find(|(stage, _)| *stage == Stage::Current);
        match current.map_or(Err(NoSecret::Absent), |(_, secret)| secret) {
            Ok(secret) => {
                self.keep(name, Kept { secret: secret.clone(), from: now, until: now.plus(TIME_TO_LIVE) });
                Ok(Credential { secret, fresh: true })
            }
            Err(NoSecret::Denied(_) | NoSecret::Unavailable(_)) if known.is_some() => {
                known.map_or(Err(NoSecret::Absent), |kept| {
                    let secret = kept.secret.clone();
                    self.keep(name, Kept { from: now, until: now.plus(RETRY_KNOWN), ..kept });
                    Ok(Credential { secret, fresh: false })
                })
            }
            Err(error) => {
                tracing::error!(secret.name = %name, secret.problem = %error, "a secret cannot be used");
                Err(error)
            }
        }
    }

    fn known(&self, name: &SecretName) -> Option<Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn keep(&self, name: &SecretName, kept: Kept) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(name) {
            all.clear();
        }
        all.insert(name.clone(), kept);
    }
}
