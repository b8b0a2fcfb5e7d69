//! What endpoints must agree on where they share something.

use super::{Endpoint, OrderKind};
use crate::document::Document;
use crate::ids::{EndpointName, ResourceKind};
use crate::key::DedupScope;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Checks what endpoints share: dedup scopes and kinds of resource.
pub(super) fn check(document: &mut Document<'_>, endpoints: &BTreeMap<EndpointName, Endpoint>) {
    let mut in_file: Vec<&Endpoint> = endpoints.values().collect();
    in_file.sort_by_key(|endpoint| &endpoint.place);
    let mut scopes: HashMap<&DedupScope, &Endpoint> = HashMap::new();
    let mut clocks: HashMap<&ResourceKind, &Endpoint> = HashMap::new();
    for endpoint in in_file {
        let first = *scopes.entry(&endpoint.dedup_scope).or_insert(endpoint);
        if !same_vendor(first, endpoint) {
            // Two vendors' ids may be the same text (INV-7).
            let message = format!(
                "endpoints `{}` and `{}` share the dedup scope \"{}\", but not the vendor",
                first.name, endpoint.name, endpoint.dedup_scope.0
            );
            let remedy = "event ids are unique only within one vendor";
            document.problem_in(endpoint.place.clone(), message, Some(remedy.to_owned()));
        }
        let Some(resource) = &endpoint.resource else { continue };
        if !matches!(resource.order, OrderKind::Time | OrderKind::Sequence) {
            continue;
        }
        let first = *clocks.entry(&resource.kind).or_insert(endpoint);
        if !same_vendor(first, endpoint) {
            let message = format!(
                "endpoints `{}` and `{}` order resource `{}` by the clocks or counters of two vendors, which do not compare",
                first.name, endpoint.name, resource.kind
            );
            let remedy = "order = \"rank\", or a kind of resource for each vendor";
            document.problem_in(endpoint.place.clone(), message, Some(remedy.to_owned()));
        }
    }
}

/// Descriptions are parsed once, so the same one is the same vendor.
fn same_vendor(a: &Endpoint, b: &Endpoint) -> bool {
    Arc::ptr_eq(&a.vendor, &b.vendor)
}
