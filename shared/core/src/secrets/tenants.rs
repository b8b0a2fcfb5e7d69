//! The tenants whose secrets are kept, as many as there may be.

use super::MOST_TENANTS;
use super::keyring::Slot;
use crate::ids::{EndpointName, Tenant};
use std::collections::HashMap;
use std::sync::Arc;

/// Slots by endpoint and tenant (INV-7: never by either alone).
#[derive(Debug, Default)]
pub(super) struct Tenants {
    slots: HashMap<(EndpointName, Tenant), (Arc<Slot>, u64)>,
    /// Counts the uses; the slot that was used longest ago has the least.
    uses: u64,
}

impl Tenants {
    /// The slot of a tenant, if there is one.
    pub fn get(&mut self, endpoint: &EndpointName, tenant: &Tenant) -> Option<Arc<Slot>> {
        self.uses += 1;
        let (slot, used) = self.slots.get_mut(&(endpoint.clone(), tenant.clone()))?;
        *used = self.uses;
        Some(Arc::clone(slot))
    }

    /// A new slot. Where there are too many, one that verifies nothing makes
    /// room, else the one that was used longest ago: whoever makes up names
    /// pushes out made-up names.
    pub fn insert(&mut self, endpoint: &EndpointName, tenant: &Tenant) -> Arc<Slot> {
        if self.slots.len() >= MOST_TENANTS {
            let least = self.slots.iter().min_by_key(|(_, (slot, used))| (slot.is_live(), *used));
            if let Some(least) = least.map(|(of, _)| of.clone()) {
                self.slots.remove(&least);
            }
        }
        self.uses += 1;
        let slot = Arc::new(Slot::default());
        self.slots.insert((endpoint.clone(), tenant.clone()), (Arc::clone(&slot), self.uses));
        slot
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.slots.len()
    }
}
