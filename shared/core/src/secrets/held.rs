//! What is known of the secrets of an endpoint or of one of its tenants, and
//! when to read them again. Pure: time and the keepers' answers are given.

use super::ready::{Ready, Version};
use super::{REFRESH_INTERVAL, RETRY_KNOWN, RETRY_OFFLINE, TIME_TO_LIVE, UNKNOWN_FOR};
use crate::config::{Endpoint, Keeper};
use crate::ids::Tenant;
use crate::ports::{Kept, NoSecret};
use crate::secret::{Secret, SecretPlace, Stage};
use crate::time::UnixMillis;
use std::sync::Arc;

/// What is known, or nothing yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    known: Option<Known>,
    /// When a bad signature last caused a reading.
    refreshed_at: Option<UnixMillis>,
}

#[derive(Debug)]
struct Known {
    versions: Vec<Version>,
    ready: Arc<Ready>,
    read_at: UnixMillis,
    /// When to read again; `None` where no keeper could say anything new.
    due: Option<UnixMillis>,
    /// It verifies, but not with everything that it was given.
    lacks: bool,
}

/// What one secret's keeper answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// The position of the secret in the endpoint's `secrets`.
    pub position: usize,
    pub kept: Vec<Kept>,
}

/// What was wrong with one version of a secret in a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub place: SecretPlace,
    pub reason: NoSecret,
    /// The version of before goes on being used.
    pub kept: bool,
}

impl Trouble {
    /// Where each tenant has secrets of its own: it may belong to one that
    /// somebody made up.
    fn is_nobody_s(&self) -> bool {
        matches!(self.reason, NoSecret::Absent | NoSecret::Denied(_))
    }
}

/// What a reading came to.
#[derive(Debug)]
pub(super) struct Reading {
    pub troubles: Vec<Trouble>,
    /// What is verified with is not what it was before.
    pub changed: bool,
}

impl Reading {
    /// Whether a keeper did not say what it has.
    pub fn failed(&self) -> bool {
        self.troubles.iter().any(|trouble| trouble.reason.says_nothing())
    }

    /// Tells the log what is wrong, by place. A tenant that has no secret is
    /// nobody's mistake: anybody can name one.
    pub fn report(&self, endpoint: &Endpoint, tenant: Option<&Tenant>) {
        for Trouble { place, reason, kept } in &self.troubles {
            let secret = endpoint.secrets.get(place.position).map(ToString::to_string);
            let (endpoint, tenant) = (&endpoint.name, tenant.map(Tenant::as_str));
            let (position, version) = (place.position + 1, place.stage.as_str());
            if tenant.is_some() && matches!(reason, NoSecret::Absent | NoSecret::Denied(_)) {
                tracing::info!(
                    endpoint.name = %endpoint, tenant, secret.position = position, secret.version = version,
                    secret.name = secret, secret.reason = reason.as_str(), secret.problem = %reason, secret.kept = kept,
                    "no secret for the tenant"
                );
            } else {
                tracing::error!(
                    endpoint.name = %endpoint, tenant, secret.position = position, secret.version = version,
                    secret.name = secret, secret.reason = reason.as_str(), secret.problem = %reason, secret.kept = kept,
                    "a secret cannot be used"
                );
            }
        }
    }
}

impl NoSecret {
    /// Whether it says nothing about the secret itself, so that what is known
    /// of it stays.
    fn says_nothing(&self) -> bool {
        matches!(self, Self::Denied(_) | Self::Unavailable(_))
    }
}

/// Whether a keeper of the endpoint could say something new to this process:
/// an environment never changes.
pub(super) fn can_change(endpoint: &Endpoint) -> bool {
    endpoint.secrets.iter().any(|secret| secret.keeper() != Keeper::Environment)
}

impl Held {
    /// What to verify with, if it was read and need not be read again. A clock
    /// that was set back says nothing, so it makes a reading due.
    pub fn fresh(&self, now: UnixMillis) -> Option<Arc<Ready>> {
        let known = self.known.as_ref()?;
        let due = known.due.is_some_and(|due| now >= due || now < known.read_at);
        (!due).then(|| Arc::clone(&known.ready))
    }

    /// What to verify with while it is not read again.
    pub fn stale(&self) -> Option<Arc<Ready>> {
        Some(Arc::clone(&self.known.as_ref()?.ready))
    }

    /// Whether it verifies anything.
    pub fn is_live(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.ready.is_live())
    }

    /// Whether it verifies, but not with every secret that it was given.
    pub fn lacks(&self) -> bool {
        self.known.as_ref().is_some_and(|known| known.lacks)
    }

    /// Whether a bad signature may cause a reading now. It is counted as one.
    pub fn may_refresh(&mut self, now: UnixMillis) -> bool {
        let allowed = self.refreshed_at.is_none_or(|at| now >= at.plus(REFRESH_INTERVAL) || now < at);
        if allowed {
            self.refreshed_at = Some(now);
        }
        allowed
    }

    /// Takes in what the keepers answered; what to verify with from now on.
    pub fn take_in(
        &mut self,
        endpoint: &Endpoint,
        answers: Vec<Answer>,
        now: UnixMillis,
    ) -> (Reading, Arc<Ready>) {
        let before = self.known.take();
        let known = before.as_ref().map(|known| known.versions.as_slice()).unwrap_or_default();
        let (versions, troubles) = merged(endpoint, known, answers);
        let same = before.filter(|known| known.versions == versions && known.ready.is_live());
        let changed = same.is_none();
        let ready = match same {
            Some(known) => known.ready,
            None => Arc::new(made_ready(endpoint, &versions, &troubles)),
        };
        let reading = Reading { troubles, changed };
        let wait = match *ready {
            Ready::Live { .. } if reading.failed() => RETRY_KNOWN,
            Ready::Live { .. } => TIME_TO_LIVE,
            Ready::Offline { .. } => RETRY_OFFLINE,
            Ready::NoSuchTenant => UNKNOWN_FOR,
        };
        let due = can_change(endpoint).then(|| now.plus(wait));
        let lost =
            |trouble: &Trouble| !(trouble.kept || trouble.is_nobody_s() && endpoint.has_secrets_per_tenant());
        let lacks = ready.is_live() && reading.troubles.iter().any(lost);
        self.known = Some(Known { versions, ready: Arc::clone(&ready), read_at: now, due, lacks });
        (reading, ready)
    }
}

/// The usable versions after a reading. What a keeper said counts; where it
/// said nothing, what was known does.
fn merged(endpoint: &Endpoint, known: &[Version], answers: Vec<Answer>) -> (Vec<Version>, Vec<Trouble>) {
    let mut versions = Vec::new();
    let mut troubles = Vec::new();
    for Answer { position, kept } in answers {
        for (stage, secret) in kept {
            let place = SecretPlace { position, stage };
            let before = known.iter().find(|version| version.place == place);
            match secret.and_then(|secret| suits(endpoint, secret)) {
                // Nobody verifies twice with the same secret: after a rotation
                // to the same value the current version is the one that counts.
                Ok(secret) if versions.iter().any(|version: &Version| version.secret == secret) => {}
                Ok(secret) => versions.push(Version { place, secret }),
                Err(reason) => {
                    let kept = before.filter(|_| reason.says_nothing());
                    troubles.push(Trouble { place, reason, kept: kept.is_some() });
                    versions.extend(kept.cloned());
                }
            }
        }
    }
    (versions, troubles)
}

/// INV-10: a secret that the vendor's form rules out verifies nothing.
fn suits(endpoint: &Endpoint, secret: Secret) -> Result<Secret, NoSecret> {
    match endpoint.vendor.keys(std::slice::from_ref(&secret)) {
        Ok(_) => Ok(secret),
        Err(unusable) => Err(NoSecret::Unusable(unusable.to_string())),
    }
}

fn made_ready(endpoint: &Endpoint, versions: &[Version], troubles: &[Trouble]) -> Ready {
    let lacking = match Ready::with(endpoint, versions) {
        Ok(ready) => return ready,
        Err(lacking) => lacking,
    };
    // A secret that is not there, or that no policy lets us read, may as well
    // belong to a tenant that somebody made up.
    if endpoint.has_secrets_per_tenant() && troubles.iter().all(Trouble::is_nobody_s) {
        return Ready::NoSuchTenant;
    }
    let reasons = troubles.iter().map(|trouble| format!("secret {}: {}", trouble.place, trouble.reason));
    let certain = !troubles.iter().any(|trouble| trouble.reason.says_nothing());
    Ready::Offline { reasons: reasons.chain([lacking]).collect(), certain }
}

/// The answer for a secret whose name cannot be made.
pub(super) fn no_name() -> Vec<Kept> {
    vec![(Stage::Current, Err(NoSecret::Absent))]
}
