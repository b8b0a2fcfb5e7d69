//! What an endpoint adds to its vendor's own list of events: who asks, and
//! about what. Only people ask it; no function reads this.

use super::secret_ref::SecretRef;
use super::{Auth, TenantFrom};
use crate::document::{Document, Entry, Table};
use crate::problem::{Place, nearest};
use crate::time::UnixMillis;
use crate::url_template::UrlTemplate;
use crate::vendor::Vendor;
use crate::vendor::list::{EventList, ListAuth};
use crate::vendor::moment;
use std::collections::BTreeMap;

/// How the vendor's list is asked for the events of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListAccess {
    /// As whom.
    pub auth: Auth,
    /// Where: the vendor's own URL, or another of the same kind of list.
    pub url: UrlTemplate<String>,
    /// The parts of the URL.
    pub params: BTreeMap<String, String>,
    /// Since when this receiver gets the events, under the endpoint's present
    /// name, dedup scope and tenants: of what is older it has no record.
    pub since: UnixMillis,
    /// Where it is declared.
    pub place: Place,
}

pub(super) const KEYS: &[&str] = &["secret", "since", "params", "url"];

/// Reads `[endpoint.NAME.list]`.
pub(super) fn read(
    document: &mut Document<'_>,
    vendor: Option<&Vendor>,
    tenant: Option<&TenantFrom>,
    entry: Entry<'_>,
) -> Option<ListAccess> {
    let table = document.table(entry)?;
    document.only(table, "an endpoint's list", KEYS);
    let secret = table.get("secret").map(|entry| {
        let secret = document.read(entry, SecretRef::parse)?;
        whose(document, entry.value_at, &secret, tenant);
        Some(secret)
    });
    // A vendor that is not described is a problem already.
    let vendor = vendor?;
    let Some(list) = vendor.list() else {
        let message = format!("the description of {} knows no list of its events", vendor.name());
        let remedy = "describe it with [list] in a vendors/NAME.toml of your own, or leave this out";
        document.problem(entry.key_at, message, Some(remedy.to_owned()));
        return None;
    };
    if secret.is_none() {
        let remedy = format!("secret = \"secretsmanager:..\": {}", list.secret());
        document.absent(table.at, "`list` does not say with which secret it is asked", Some(remedy));
    }
    let since = since(document, table);
    let url = url(document, list, table);
    let params = params(document, vendor, list, table, url.as_ref());
    let secret = secret??;
    let auth = match list.auth() {
        ListAuth::Bearer => Auth::Bearer(secret),
        ListAuth::Basic => Auth::Basic(secret),
        ListAuth::Header(name) => Auth::ApiKey(name.to_ascii_lowercase(), secret),
    };
    Some(ListAccess { auth, url: url?, params, since: since?, place: document.place(table.at) })
}

/// INV-7: what one secret lists is everybody's whom it lists, and whose an event
/// is must stand somewhere.
fn whose(document: &mut Document<'_>, at: usize, secret: &SecretRef, tenant: Option<&TenantFrom>) {
    match (tenant == Some(&TenantFrom::Path), secret.is_per_tenant()) {
        (true, false) => {
            let message =
                "the list is asked with one secret for all tenants, so it does not tell whose an event is";
            document.absent(at, message, Some("name each tenant's own with {tenant} in it".to_owned()));
        }
        (false, true) => {
            let message = "the endpoint has no tenant in its URL, so nobody says whose secret is meant";
            document.absent(at, message, Some("leave {tenant} out, or say tenant = \"path\"".to_owned()));
        }
        (true, true) | (false, false) => {}
    }
}

fn since(document: &mut Document<'_>, table: Table<'_>) -> Option<UnixMillis> {
    let Some(entry) = table.get("since") else {
        let remedy = "since = \"2026-11-30\": the first delivery under the endpoint's present name, dedup_scope and tenants";
        let message = "`list` does not say since when this receiver gets the events";
        document.absent(table.at, message, Some(remedy.to_owned()));
        return None;
    };
    document.read(entry, |text| {
        moment::by_hand(text).ok_or("this is no time such as \"2026-11-30\" or \"2026-11-30T12:00:00Z\"")
    })
}

/// The list's URL, or the endpoint's own in the place of it: that of another
/// account, region or server.
fn url(document: &mut Document<'_>, list: &EventList, table: Table<'_>) -> Option<UrlTemplate<String>> {
    let Some(entry) = table.get("url") else { return Some(list.url().clone()) };
    let known = |name: &str| match list.params().iter().any(|param| param.name == name) {
        true => Ok(name.to_owned()),
        false => Err("the vendor's list has no such parameter; write the text itself".to_owned()),
    };
    document.read(entry, |text| UrlTemplate::parse(text, known))
}

fn params(
    document: &mut Document<'_>,
    vendor: &Vendor,
    list: &EventList,
    table: Table<'_>,
    url: Option<&UrlTemplate<String>>,
) -> BTreeMap<String, String> {
    let mut params = BTreeMap::new();
    let given = table.get("params").and_then(|entry| document.table(entry));
    for entry in given.iter().flat_map(Table::entries) {
        if list.params().iter().all(|known| known.name != entry.key) {
            let near = nearest(entry.key, list.params().iter().map(|known| known.name.as_str()));
            let remedy = near.map(|near| format!("did you mean `{near}`?"));
            let message = format!("the list of {} has no parameter `{}`", vendor.name(), entry.key);
            document.problem(entry.key_at, message, remedy);
        }
        if let Some(text) = document.text(entry) {
            if text.text.is_empty() {
                document.problem(text.at, format!("`{}` is empty", entry.key), None);
            }
            params.insert(entry.key.to_owned(), text.text.to_owned());
        }
    }
    for param in list.params().iter().filter(|param| param.default.is_none()) {
        let used = url.is_some_and(|url| url.parts().any(|part| *part == param.name));
        if used
            && !params.contains_key(&param.name)
            && given.and_then(|given| given.get(&param.name)).is_none()
        {
            let message = format!("the list of {} needs the parameter `{}`", vendor.name(), param.name);
            let remedy = format!("params = {{ {} = \"..\" }}: {}", param.name, param.about);
            document.absent(table.at, message, Some(remedy));
        }
    }
    params
}
