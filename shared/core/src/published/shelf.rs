//! The documents of a process, and verification with what they hold.

use super::held::{Have, Held};
use super::{MOST_DOCUMENTS, STRANGERS};
use crate::config::Endpoint;
use crate::http::Request;
use crate::ids::{EndpointName, VendorName};
use crate::ports::{KeyDocuments, NoKeyDocument};
use crate::rate::Bucket;
use crate::time::UnixMillis;
use crate::vendor::{KeyUrl, Keys, Refusal, StatedBy, Verified};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What every vendor published that a delivery asked for. One for each
/// process; any number of deliveries at once.
#[derive(Debug, Default)]
pub(crate) struct Published(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    /// By vendor: two descriptions may make different keys of one document.
    slots: HashMap<(VendorName, KeyUrl), (Arc<Slot>, u64)>,
    /// Counts the uses; the slot that was used longest ago has the least.
    uses: u64,
    /// What the deliveries of an endpoint named for the first time.
    strangers: HashMap<EndpointName, Bucket>,
}

#[derive(Debug, Default)]
struct Slot {
    held: Mutex<Held>,
    /// Whoever asks for the document has it: many deliveries at once ask once.
    asking: futures_util::lock::Mutex<()>,
}

/// Why a delivery is not proven. Write nothing (INV-10).
#[derive(Debug)]
pub(crate) enum NotProven {
    /// It is refused.
    Refused(Refusal),
    /// Its key is not to be had, which says nothing about it: 503.
    NoKey(String),
}

impl Published {
    /// Verifies a delivery with the document at `url`.
    pub(crate) async fn verify(
        &self,
        documents: &impl KeyDocuments,
        endpoint: &Endpoint,
        url: &KeyUrl,
        request: &Request,
        now: UnixMillis,
    ) -> Result<Verified, NotProven> {
        let slot = self.slot(endpoint, url);
        let keys = self.keys(documents, endpoint, url, &slot, now).await?;
        let verify = |keys: &Keys| endpoint.vendor.verify(request, keys, &endpoint.params, now);
        match verify(&keys) {
            Err(Refusal::Mismatch | Refusal::UnknownKey | Refusal::KeyNotValid)
                if slot.held().may_refresh(now) =>
            {
                let asking = slot.asking.lock().await;
                if slot.held().may_refresh(now) {
                    slot.ask(documents, endpoint, url, now).await;
                }
                drop(asking);
                let keys = self.keys(documents, endpoint, url, &slot, now).await?;
                verify(&keys).map_err(NotProven::Refused)
            }
            verified => verified.map_err(NotProven::Refused),
        }
    }

    /// The keys of the document, asked for first where that is due.
    async fn keys(
        &self,
        documents: &impl KeyDocuments,
        endpoint: &Endpoint,
        url: &KeyUrl,
        slot: &Slot,
        now: UnixMillis,
    ) -> Result<Arc<Keys>, NotProven> {
        let mut have = slot.held().have(now);
        if let Have::Ask = have {
            let _asking = slot.asking.lock().await;
            have = slot.held().have(now);
            if let Have::Ask = have {
                if !slot.held().is_known() && !self.may_ask(endpoint, url, now) {
                    return Err(NotProven::NoKey(format!("{url}: too many documents that nobody knows")));
                }
                slot.ask(documents, endpoint, url, now).await;
                have = slot.held().have(now);
            }
        }
        match have {
            Have::Keys(keys) => Ok(keys),
            // The vendor itself says that the delivery names what is not there.
            Have::Nothing(NoKeyDocument::Absent(_) | NoKeyDocument::Unusable(_))
                if url.stated_by() == StatedBy::Delivery =>
            {
                Err(NotProven::Refused(Refusal::UnknownKey))
            }
            Have::Nothing(failure) => Err(NotProven::NoKey(format!("{url}: {failure}"))),
            Have::Ask => Err(NotProven::NoKey(format!("{url}: the clock was set back meanwhile"))),
        }
    }

    /// Whether a document that is not known may be asked for. Where the
    /// description states its URL, nobody can make up another.
    fn may_ask(&self, endpoint: &Endpoint, url: &KeyUrl, now: UnixMillis) -> bool {
        let mut shelf = lock(&self.0);
        url.stated_by() == StatedBy::Description
            || shelf.strangers.entry(endpoint.name.clone()).or_default().take(STRANGERS, now).is_ok()
    }

    /// The slot of a document. Where there are too many, one that verifies
    /// nothing makes room, else the one that was used longest ago: whoever
    /// makes up names pushes out made-up names.
    fn slot(&self, endpoint: &Endpoint, url: &KeyUrl) -> Arc<Slot> {
        let mut shelf = lock(&self.0);
        shelf.uses += 1;
        let uses = shelf.uses;
        let of = (endpoint.vendor.name().clone(), url.clone());
        if let Some((slot, used)) = shelf.slots.get_mut(&of) {
            *used = uses;
            return Arc::clone(slot);
        }
        if shelf.slots.len() >= MOST_DOCUMENTS {
            let least = shelf.slots.iter().min_by_key(|(_, (slot, used))| (slot.held().is_known(), *used));
            if let Some(least) = least.map(|(of, _)| of.clone()) {
                shelf.slots.remove(&least);
            }
        }
        let slot = Arc::<Slot>::default();
        shelf.slots.insert(of, (Arc::clone(&slot), uses));
        slot
    }

    /// How many documents are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.0).slots.len()
    }
}

impl Slot {
    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }

    /// Asks for the document and takes in the answer.
    async fn ask(&self, documents: &impl KeyDocuments, endpoint: &Endpoint, url: &KeyUrl, now: UnixMillis) {
        let answer = documents.fetch(url).await.and_then(|document| {
            endpoint
                .vendor
                .published_keys(&document)
                .map_err(|fault| NoKeyDocument::Unusable(fault.to_string()))
        });
        match &answer {
            Ok(_) => {
                tracing::info!(endpoint.name = %endpoint.name, key.url = %url, "keys of the vendor read");
            }
            Err(failure) => tracing::warn!(
                endpoint.name = %endpoint.name, key.url = %url, key.problem = %failure,
                key.kept = self.held().is_known(), "keys of the vendor not read"
            ),
        }
        self.held().take_in(answer, now);
    }
}

/// A panic of one delivery must not take the keys from the next: nothing that
/// is locked is left half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
