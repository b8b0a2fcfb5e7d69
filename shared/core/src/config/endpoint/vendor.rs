//! What a vendor's description asks of an endpoint.

use super::{EndpointResource, TenantFrom};
use crate::config::{Fetch, OrderKind};
use crate::document::{Document, Table, Text};
use crate::problem::nearest;
use crate::vendor::Vendor;

/// Those settings of an endpoint that a description has a say in; `None`
/// where there is none, or where it is malformed and a problem already.
pub(super) struct Settings<'a> {
    pub(super) tenant: Option<&'a TenantFrom>,
    pub(super) resource: Option<&'a EndpointResource>,
    /// `Some(None)`: it is malformed, which is a problem already.
    pub(super) fetch: Option<Option<&'a Fetch>>,
    pub(super) allow_unconfirmed: bool,
}

/// Checks an endpoint against the description of its vendor.
pub(super) fn check(
    document: &mut Document<'_>,
    table: Table<'_>,
    name: Text<'_>,
    vendor: &Vendor,
    settings: &Settings<'_>,
) {
    let who = vendor.name();
    // An empty list is a problem already.
    if table.get("secrets").is_none() && vendor.keys(&[]).is_err() {
        let message = format!("endpoint `{}` has no secret, and {who} signs its deliveries", name.text);
        document.absent(name.at, message, Some("secrets = [\"env:NAME\"]".to_owned()));
    }
    if !vendor.confirmed() && !settings.allow_unconfirmed {
        let message = format!("how {who} signs is not proven by an SDK or a published example");
        let remedy = "try it against a real delivery, then say allow_unconfirmed = true";
        let at = table.get("vendor").map_or(name.at, |entry| entry.value_at);
        document.absent(at, message, Some(remedy.to_owned()));
    }
    if vendor.needs_public_url() && table.get("public_url").is_none() {
        let message = format!("{who} signs the URL that it calls; endpoint `{}` does not say it", name.text);
        let remedy = "public_url = \"https://..\", as it is entered at the vendor's";
        document.absent(name.at, message, Some(remedy.to_owned()));
    }
    if let (Some(TenantFrom::Vendor), Some(entry)) = (settings.tenant, table.get("tenant"))
        && !vendor.states_tenant()
    {
        let message = format!("the description of {who} does not say where the tenant is");
        document.problem(entry.value_at, message, Some("tenant = \"path\" or \"/pointer\"".to_owned()));
    }
    check_params(document, table, name, vendor);
    check_order(document, table, vendor, settings);
}

fn check_params(document: &mut Document<'_>, table: Table<'_>, name: Text<'_>, vendor: &Vendor) {
    let declared = vendor.params();
    let who = vendor.name();
    let given = table.get("params").and_then(|entry| document.table(entry));
    for param in given.iter().flat_map(Table::entries) {
        if declared.iter().all(|known| known.name != param.key) {
            let near = nearest(param.key, declared.iter().map(|known| known.name.as_str()));
            let remedy = near.map(|near| format!("did you mean `{near}`?"));
            document.problem(param.key_at, format!("{who} has no parameter `{}`", param.key), remedy);
        }
    }
    for param in declared.iter().filter(|param| param.default.is_none()) {
        if given.and_then(|given| given.get(&param.name)).is_none() {
            let message = format!("endpoint `{}` needs the parameter `{}` of {who}", name.text, param.name);
            let remedy = format!("params = {{ {} = \"..\" }}: {}", param.name, param.about);
            document.absent(name.at, message, Some(remedy));
        }
    }
}

/// A resource is ordered by something that the vendor states.
fn check_order(document: &mut Document<'_>, table: Table<'_>, vendor: &Vendor, settings: &Settings<'_>) {
    let (Some(resource), Some(entry)) = (settings.resource, table.get("resource")) else { return };
    let answered = |says: fn(&Fetch) -> bool| settings.fetch.is_some_and(|fetch| fetch.is_none_or(says));
    let missing = match resource.order {
        OrderKind::Time if !vendor.states_time() && !answered(|fetch| fetch.time.is_some()) => "time",
        OrderKind::Sequence if !vendor.states_sequence() && !answered(|fetch| fetch.version.is_some()) => {
            "sequence"
        }
        OrderKind::Fetch if settings.fetch.is_none() => {
            let message = format!(
                "resource `{}` is as its vendor's API says, and the endpoint does not ask it",
                resource.kind
            );
            let remedy = "fetch.url = \"https://api.example.com/v1/jobs/{/id}\"";
            document.absent(entry.key_at, message, Some(remedy.to_owned()));
            return;
        }
        _ => return,
    };
    let message =
        format!("resource `{}` is ordered by {missing}, but {} states none", resource.kind, vendor.name());
    document.problem(
        entry.key_at,
        message,
        Some("order = \"rank\", or a kind of resource of its own".to_owned()),
    );
}
