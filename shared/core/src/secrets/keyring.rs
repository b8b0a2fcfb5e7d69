//! The keyring of a process: what each endpoint verifies with.

use super::TENANT_READINGS;
use super::held::{Answer, Held, Reading, can_change, no_name};
use super::ready::{Matched, NotVerified, Ready, Refresh};
use super::tenants::Tenants;
use crate::config::{Config, Endpoint};
use crate::doctor::{self, Cause};
use crate::http::Request;
use crate::ids::{EndpointName, Tenant};
use crate::ports::{KeyDocuments, Secrets};
use crate::published::Published;
use crate::rate::Bucket;
use crate::time::UnixMillis;
use crate::vendor::{HandshakeAnswer, HandshakeRefusal, Refusal};
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Endpoints whose secrets are read side by side when a function starts.
const SIDE_BY_SIDE: usize = 16;

/// What every endpoint, and every tenant that has secrets of its own, verifies
/// with. One for each process; any number of deliveries at once.
#[derive(Debug)]
pub struct Keyring<K> {
    secrets: K,
    slots: Mutex<Slots>,
    published: Published,
}

#[derive(Debug, Default)]
struct Slots {
    endpoints: HashMap<EndpointName, Arc<Slot>>,
    tenants: Tenants,
    /// How many readings the tenants of an endpoint have caused.
    readings: HashMap<EndpointName, Bucket>,
}

/// The secrets of one endpoint or of one of its tenants.
#[derive(Debug, Default)]
pub(super) struct Slot {
    held: Mutex<Held>,
    /// Whoever reads the secrets has it, so that many deliveries at once cause
    /// one reading. Whoever has something to verify with does not wait for it.
    reading: futures_util::lock::Mutex<()>,
}

impl Slot {
    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }

    pub(super) fn is_live(&self) -> bool {
        self.held().is_live()
    }
}

/// A panic of one delivery must not take the endpoint from the next: nothing
/// that is locked is left half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whose secrets are meant.
#[derive(Clone, Copy)]
struct Whose<'a> {
    endpoint: &'a Endpoint,
    /// There exactly where the endpoint's tenants have secrets of their own.
    tenant: Option<&'a Tenant>,
}

impl<K: Secrets + KeyDocuments> Keyring<K> {
    /// Nothing is read yet.
    pub fn new(secrets: K) -> Self {
        Self { secrets, slots: Mutex::default(), published: Published::default() }
    }

    /// Whoever keeps the secrets and fetches what vendors publish.
    pub fn secrets(&self) -> &K {
        &self.secrets
    }

    /// Reads the secrets of every endpoint, those of tenants excepted. What is
    /// not read, because the caller's patience ended, is read with the first
    /// delivery that needs it.
    pub async fn warm(&self, config: &Config, now: UnixMillis) {
        let shared = config.endpoints.values().filter(|endpoint| !endpoint.has_secrets_per_tenant());
        stream::iter(shared)
            .for_each_concurrent(SIDE_BY_SIDE, |endpoint| async move {
                let whose = Whose { endpoint, tenant: None };
                if let Ok(slot) = self.slot(whose, now) {
                    self.ready(whose, &slot, now).await;
                }
            })
            .await;
    }

    /// Verifies a delivery over its raw bytes with the endpoint's secrets, or
    /// with those of `tenant` where each has its own; or with the key that the
    /// vendor publishes. Reads them where that is due, or where the signature
    /// is bad and it was not just done.
    ///
    /// # Errors
    /// The delivery is not proven to be the vendor's: write nothing (INV-10).
    pub async fn verify(
        &self,
        endpoint: &Endpoint,
        tenant: Option<&Tenant>,
        request: &Request,
        now: UnixMillis,
    ) -> Result<Matched, NotVerified> {
        let tenant = tenant.filter(|_| endpoint.has_secrets_per_tenant());
        let whose = Whose { endpoint, tenant };
        let slot = self.slot(whose, now)?;
        let ready = self.ready(whose, &slot, now).await;
        if let Some(url) = ready.key_url(endpoint, request)? {
            let verified = self.published.verify(&self.secrets, endpoint, &url, request, now).await?;
            let handshake =
                endpoint.vendor.handshake(request, Some(&verified), &endpoint.params, ready.keys());
            return Ok(Matched { verified, secret: None, handshake });
        }
        match ready.verify(endpoint, request, now) {
            Err(refused) if refused.may_be_a_new_secret() && can_change(endpoint) => {
                match self.refreshed(whose, &slot, &ready, now).await {
                    Ok((newer, refresh)) => {
                        newer.verify(endpoint, request, now).map_err(|refused| refused.after(refresh))
                    }
                    Err(refresh) => Err(refused.after(refresh)),
                }
            }
            verified => verified,
        }
    }

    /// Whether the endpoint verifies, but not with every secret that it was
    /// given: one is blank, short or not to be had. Nothing is read for it.
    pub fn lacks(&self, endpoint: &Endpoint, tenant: Option<&Tenant>, now: UnixMillis) -> bool {
        let tenant = tenant.filter(|_| endpoint.has_secrets_per_tenant());
        self.slot(Whose { endpoint, tenant }, now).is_ok_and(|slot| slot.held().lacks())
    }

    /// The likely cause of a refusal, tried with the keys that are held. Nothing
    /// is read for it; how often it may be asked is for the caller to bound.
    pub fn guess(
        &self,
        endpoint: &Endpoint,
        tenant: Option<&Tenant>,
        request: &Request,
        refusal: &Refusal,
        now: UnixMillis,
    ) -> Option<Cause> {
        let tenant = tenant.filter(|_| endpoint.has_secrets_per_tenant());
        let slot = self.slot(Whose { endpoint, tenant }, now).ok()?;
        let ready = slot.held().stale()?;
        doctor::quick(&endpoint.vendor, request, ready.keys()?, &endpoint.params, refusal, now)
    }

    /// The answer to a handshake that needs no signature; `None` where the
    /// request is none. The keys are read only where the answer rests on them.
    ///
    /// A secret is handed over only while every keeper says that there is none
    /// (INV-10): one that does not answer may have it.
    pub async fn handshake(
        &self,
        endpoint: &Endpoint,
        tenant: Option<&Tenant>,
        request: &Request,
        now: UnixMillis,
    ) -> Option<Result<HandshakeAnswer, HandshakeRefusal>> {
        let answer = endpoint.vendor.handshake(request, None, &endpoint.params, None)?;
        match &answer {
            Ok(answer) if answer.capture.is_some() => {}
            Err(HandshakeRefusal::NoKey) => {}
            _ => return Some(answer),
        }
        let tenant = tenant.filter(|_| endpoint.has_secrets_per_tenant());
        let whose = Whose { endpoint, tenant };
        let Ok(slot) = self.slot(whose, now) else { return Some(Err(HandshakeRefusal::NoKey)) };
        let ready = self.ready(whose, &slot, now).await;
        match endpoint.vendor.handshake(request, None, &endpoint.params, ready.keys())? {
            // Anybody can name a tenant: there would be no end of writes.
            Ok(answer) if answer.capture.is_some() && endpoint.has_secrets_per_tenant() => {
                Some(Err(HandshakeRefusal::OtherValue(answer.refuse)))
            }
            Ok(answer) if answer.capture.is_some() && !ready.certainly_has_none() => {
                Some(Err(HandshakeRefusal::NoKey))
            }
            answer => Some(answer),
        }
    }

    /// The slot of an endpoint or tenant.
    fn slot(&self, whose: Whose<'_>, now: UnixMillis) -> Result<Arc<Slot>, NotVerified> {
        let mut slots = lock(&self.slots);
        let name = &whose.endpoint.name;
        let Some(tenant) = whose.tenant else {
            if let Some(slot) = slots.endpoints.get(name) {
                return Ok(Arc::clone(slot));
            }
            let slot = Arc::<Slot>::default();
            slots.endpoints.insert(name.clone(), Arc::clone(&slot));
            return Ok(slot);
        };
        if let Some(slot) = slots.tenants.get(name, tenant) {
            return Ok(slot);
        }
        if slots.may_read_for_tenant(name, now) {
            Ok(slots.tenants.insert(name, tenant))
        } else {
            // Like a tenant that is known not to be: an answer of its own
            // would tell which tenants are known.
            Err(NotVerified::NoSuchTenant(Some(Refresh::Suppressed)))
        }
    }

    /// What to verify with, read first where that is due.
    async fn ready(&self, whose: Whose<'_>, slot: &Slot, now: UnixMillis) -> Arc<Ready> {
        if let Some(ready) = slot.held().fresh(now) {
            return ready;
        }
        let _reading = slot.reading.lock().await;
        let stale = {
            let held = slot.held();
            if let Some(ready) = held.fresh(now) {
                return ready;
            }
            // A tenant that is not known costs a reading each time it is named.
            held.stale().filter(|_| !held.is_live() && whose.tenant.is_some())
        };
        if let Some(stale) = stale
            && !lock(&self.slots).may_read_for_tenant(&whose.endpoint.name, now)
        {
            return stale;
        }
        self.read(whose, slot, now).await.1
    }

    /// What to verify a delivery with whose signature `seen` did not make:
    /// another reading's, or one that is made now.
    async fn refreshed(
        &self,
        whose: Whose<'_>,
        slot: &Slot,
        seen: &Arc<Ready>,
        now: UnixMillis,
    ) -> Result<(Arc<Ready>, Refresh), Refresh> {
        let _reading = slot.reading.lock().await;
        let newer = slot.held().stale().filter(|held| !Arc::ptr_eq(held, seen));
        if let Some(newer) = newer {
            return Ok((newer, Refresh::Refreshed));
        }
        if !slot.held().may_refresh(now) {
            return Err(Refresh::Suppressed);
        }
        if whose.tenant.is_some() && !lock(&self.slots).may_read_for_tenant(&whose.endpoint.name, now) {
            return Err(Refresh::Suppressed);
        }
        let (reading, ready) = self.read(whose, slot, now).await;
        let refresh = if reading.failed() { Refresh::Failed } else { Refresh::Refreshed };
        if reading.changed { Ok((ready, refresh)) } else { Err(refresh) }
    }

    /// Asks every keeper at once and takes in what they say.
    async fn read(&self, whose: Whose<'_>, slot: &Slot, now: UnixMillis) -> (Reading, Arc<Ready>) {
        let asked = whose.endpoint.secrets.iter().enumerate().map(|(position, secret)| async move {
            let kept = match secret.of(whose.tenant) {
                Some(name) => self.secrets.read(&name).await,
                None => no_name(),
            };
            Answer { position, kept }
        });
        let answers = join_all(asked).await;
        let mut held = slot.held();
        let (reading, ready) = held.take_in(whose.endpoint, answers, now);
        drop(held);
        reading.report(whose.endpoint, whose.tenant);
        (reading, ready)
    }
}

impl Slots {
    fn may_read_for_tenant(&mut self, endpoint: &EndpointName, now: UnixMillis) -> bool {
        self.readings.entry(endpoint.clone()).or_default().take(TENANT_READINGS, now).is_ok()
    }
}

#[cfg(test)]
impl<K> Keyring<K> {
    /// What vendors published.
    pub(crate) fn published(&self) -> &Published {
        &self.published
    }

    /// How many tenants are kept.
    pub(super) fn tenants(&self) -> usize {
        lock(&self.slots).tenants.len()
    }
}
