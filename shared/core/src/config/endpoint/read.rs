//! Reads endpoints.

use super::rules::rules;
use super::vendor::{self, Settings};
use super::{
    DEFAULT_MAX_BODY, DuplicateAnswer, Endpoint, EndpointResource, LARGEST_MAX_BODY, TenantFrom, Unfinished,
    Unusable,
};
use crate::config::destination::{positive_span, secrets};
use crate::config::fetch;
use crate::config::guard::{self, Guard};
use crate::config::list;
use crate::config::resource::Resource;
use crate::config::rule::{Fetched, OfEndpoint, ResourceOf, StatusFrom, source};
use crate::config::secret_ref::SecretRef;
use crate::config::{Declared, value};
use crate::document::{Document, Entry, Table, Text, whole_number};
use crate::ids::ResourceKind;
use crate::key::DedupScope;
use crate::problem::nearest;
use crate::source::Source;
use crate::vendor::{Params, Vendor};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toml::de::DeValue;

pub(in crate::config) const KEYS: &[&str] = &[
    "vendor",
    "secrets",
    "params",
    "public_url",
    "tenant",
    "guard",
    "resource",
    "fetch",
    "list",
    "rule",
    "max_body",
    "content_types",
    "rate",
    "dedup_scope",
    "dedup_window",
    "versions",
    "unknown_version",
    "missing_key",
    "duplicate",
    "unfinished",
    "allow_unconfirmed",
];
const UNUSABLE: &[(&str, Unusable)] = &[("hold", Unusable::Hold), ("refuse", Unusable::Refuse)];
const DUPLICATE: &[(&str, DuplicateAnswer)] =
    &[("status", DuplicateAnswer::Status), ("result", DuplicateAnswer::Result(Unfinished::Conflict))];

/// Reads `[endpoint.NAME]`.
pub(in crate::config) fn read(
    document: &mut Document<'_>,
    declared: &mut Declared,
    name: Text<'_>,
    table: Table<'_>,
) -> Option<Endpoint> {
    let before = document.found();
    document.only(table, "an endpoint", KEYS);
    let vendor = described(document, declared, name, table);
    let fetch = table.get("fetch").map(|entry| fetch::read(document, entry));
    let fetched = if fetch.is_some() { Fetched::Known } else { Fetched::NotAsked };
    let resource = table.get("resource").map(|entry| resource(document, declared, fetched, entry));
    let of_rules = match &resource {
        None => ResourceOf::Nothing,
        Some(None) => ResourceOf::Malformed,
        Some(Some((_, resource))) => ResourceOf::Declared(resource),
    };
    let rules = rules(document, declared, OfEndpoint { resource: of_rules, fetched }, table);
    let dedup_scope = table.get("dedup_scope").and_then(|entry| value::read(document, entry, value::name));
    let tenant = table.get("tenant").map(|entry| tenant(document, entry));
    let resource = resource.map(|found| found.map(|(resource, _)| resource));
    let settings = Settings {
        tenant: tenant.as_ref().and_then(Option::as_ref),
        resource: resource.as_ref().and_then(Option::as_ref),
        fetch: fetch.as_ref().map(Option::as_ref),
        allow_unconfirmed: table
            .get("allow_unconfirmed")
            .is_some_and(|entry| document.truth(entry) == Some(true)),
    };
    if let Some(vendor) = &vendor {
        vendor::check(document, table, name, vendor, &settings);
    }
    let list = table.get("list").map(|entry| list::read(document, vendor.as_deref(), settings.tenant, entry));
    let allow_unconfirmed = settings.allow_unconfirmed;
    let dedup_window_said = table.get("dedup_window").and_then(|entry| positive_span(document, entry));
    let said = table.get("dedup_window").is_some();
    // A malformed setting is a problem already and its default is never used:
    // reading goes on, so that every problem is found at once.
    let mut endpoint = Endpoint {
        name: name.text.into(),
        secrets: own_secrets(document, table, settings.tenant),
        params: params(document, table),
        guards: guards(document, vendor.as_deref(), table),
        rules,
        content_types: content_types(document, vendor.as_deref(), table),
        rate: table.get("rate").and_then(|entry| value::read(document, entry, value::rate)),
        max_body: table
            .get("max_body")
            .and_then(|entry| max_body(document, entry))
            .unwrap_or(DEFAULT_MAX_BODY),
        dedup_scope: DedupScope(dedup_scope.unwrap_or(name.text).to_owned()),
        dedup_window_unread: dedup_window_said.is_none() && (said || document.is_broken()),
        dedup_window_said,
        dedup_window_place: table.get("dedup_window").map(|entry| document.place(entry.value_at)),
        versions: versions(document, table),
        unknown_version: word(document, table, "unknown_version", UNUSABLE, Unusable::Hold),
        missing_key: word(document, table, "missing_key", UNUSABLE, Unusable::Hold),
        duplicate: duplicate(document, table),
        allow_unconfirmed,
        place: document.place(name.at),
        tenant: tenant.flatten(),
        resource: resource.flatten(),
        fetch: fetch.flatten(),
        list: list.flatten(),
        vendor: vendor?,
        sources: Vec::new(),
        whole: false,
    };
    endpoint.whole = document.found() == before && !document.is_broken();
    endpoint.sources = sources(&endpoint);
    Some(endpoint)
}

fn word<T: Copy>(
    document: &mut Document<'_>,
    table: Table<'_>,
    key: &str,
    words: &[(&str, T)],
    default: T,
) -> T {
    table.get(key).and_then(|entry| document.word(entry, words)).unwrap_or(default)
}

/// What a duplicate is answered, also while the first has no result.
fn duplicate(document: &mut Document<'_>, table: Table<'_>) -> DuplicateAnswer {
    let duplicate = word(document, table, "duplicate", DUPLICATE, DuplicateAnswer::Status);
    let Some(entry) = table.get("unfinished") else { return duplicate };
    let unfinished = match entry.value {
        DeValue::Integer(status) => match whole_number(status) {
            Some(409) => Some(Unfinished::Conflict),
            Some(202) => Some(Unfinished::Accepted),
            _ => None,
        },
        _ => None,
    };
    match (duplicate, unfinished) {
        (DuplicateAnswer::Result(_), Some(unfinished)) => return DuplicateAnswer::Result(unfinished),
        (DuplicateAnswer::Result(_), None) => {
            document.problem(entry.value_at, "`unfinished` is 409 or 202", None);
        }
        (DuplicateAnswer::Status, _) => {
            let message = "`unfinished` says what is answered while there is no result, and none is answered";
            document.absent(entry.key_at, message, Some("duplicate = \"result\"".to_owned()));
        }
    }
    duplicate
}

/// The description of the endpoint's vendor.
fn described(
    document: &mut Document<'_>,
    declared: &mut Declared,
    name: Text<'_>,
    table: Table<'_>,
) -> Option<Arc<Vendor>> {
    let Some(entry) = table.get("vendor") else {
        let message = format!("endpoint `{}` does not say who sends", name.text);
        document.absent(name.at, message, Some("vendor = \"a vendor\"".to_owned()));
        return None;
    };
    let text = document.text(entry)?;
    if let Some(vendor) = declared.vendors.get(text.text) {
        return vendor;
    }
    let remedy = match nearest(text.text, declared.vendors.names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "describe it in a file of its own beside the endpoints, vendors/NAME.toml".to_owned(),
    };
    document.problem(text.at, format!("no description of a vendor \"{}\"", text.text), Some(remedy));
    None
}

fn resource<'d>(
    document: &mut Document<'_>,
    declared: &'d Declared,
    fetched: Fetched,
    entry: Entry<'_>,
) -> Option<(EndpointResource, &'d Resource)> {
    let table = document.table(entry)?;
    let mut kinds = table.entries();
    let Some(first) = kinds.next() else {
        document.problem(
            entry.key_at,
            "`resource` names no kind",
            Some("resource.KIND = \"/pointer\"".to_owned()),
        );
        return None;
    };
    for more in kinds {
        let message = format!("an endpoint has at most one kind of resource; `{}` is one more", more.key);
        document.problem(more.key_at, message, Some("an event moves one resource".to_owned()));
    }
    let declared_kind = declared.resources.get(first.key);
    if declared_kind.is_none() {
        let remedy = match nearest(first.key, declared.resources.keys().map(ResourceKind::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("[resource.{}]", first.key),
        };
        document.absent(first.key_at, format!("resource `{}` is not declared", first.key), Some(remedy));
    }
    let text = document.text(first)?;
    let key = source(document, fetched, text)?;
    let resource = declared_kind?.as_ref()?;
    Some((EndpointResource { kind: resource.kind.clone(), key, order: resource.order }, resource))
}

fn guards(document: &mut Document<'_>, vendor: Option<&Vendor>, table: Table<'_>) -> Vec<Guard> {
    let tables = table.get("guard").map(|entry| document.tables(entry)).unwrap_or_default();
    tables.into_iter().filter_map(|table| guard::read(document, vendor, table)).collect()
}

/// The endpoint's secrets. One for each tenant is chosen before anything is
/// verified, so only the URL may name the tenant then.
fn own_secrets(document: &mut Document<'_>, table: Table<'_>, tenant: Option<&TenantFrom>) -> Vec<SecretRef> {
    let found = table.get("secrets").and_then(|entry| secrets(document, entry)).unwrap_or_default();
    // A malformed `tenant` is a problem already.
    let from_url = tenant == Some(&TenantFrom::Path) || (tenant.is_none() && table.get("tenant").is_some());
    for (secret, at) in &found {
        if secret.is_per_tenant() && !from_url {
            let message = "the tenant of a secret comes from the URL: nothing else of a delivery is believed before it is verified";
            document.absent(*at, message, Some("tenant = \"path\"".to_owned()));
        }
    }
    found.into_iter().map(|(secret, _)| secret).collect()
}

/// Of the media types that the vendor sends, those that the endpoint takes.
fn content_types(
    document: &mut Document<'_>,
    vendor: Option<&Vendor>,
    table: Table<'_>,
) -> Option<Vec<String>> {
    let entry = table.get("content_types")?;
    let texts = document.texts(entry)?;
    if texts.is_empty() {
        document.problem(entry.value_at, "`content_types` is empty: nothing could be delivered", None);
    }
    let mut taken = Vec::with_capacity(texts.len());
    for text in texts {
        let Some(media_type) = value::accept(document, text, value::media_type(text.text)) else { continue };
        let sent = vendor.is_none_or(|vendor| {
            vendor.content_types().iter().any(|known| known == "*" || known == media_type)
        });
        if !sent {
            let known = vendor.map(|vendor| vendor.content_types().join(", ")).unwrap_or_default();
            let message = format!("the vendor's description does not know \"{media_type}\"");
            document.problem(text.at, message, Some(format!("it knows {known}")));
        }
        taken.push(media_type.to_owned());
    }
    Some(taken)
}

fn tenant(document: &mut Document<'_>, entry: Entry<'_>) -> Option<TenantFrom> {
    let text = document.text(entry)?;
    match text.text {
        "path" => Some(TenantFrom::Path),
        "vendor" => Some(TenantFrom::Vendor),
        _ => source(document, Fetched::TooEarly, text).map(TenantFrom::Place),
    }
}

fn params(document: &mut Document<'_>, table: Table<'_>) -> Params {
    let public_url = table.get("public_url").and_then(|entry| {
        let url = value::read(document, entry, value::url)?;
        if url.contains('?') {
            document.problem(entry.value_at, "`public_url` has no query: it comes with each delivery", None);
        }
        Some(url.to_owned())
    });
    let mut named = BTreeMap::new();
    let given = table.get("params").and_then(|entry| document.table(entry));
    for param in given.iter().flat_map(Table::entries) {
        if let Some(value) = document.text(param) {
            named.insert(param.key.to_owned(), value.text.to_owned());
        }
    }
    Params { public_url, named }
}

fn max_body(document: &mut Document<'_>, entry: Entry<'_>) -> Option<u64> {
    let size = match entry.value {
        DeValue::Integer(bytes) => whole_number(bytes).and_then(|bytes| u64::try_from(bytes).ok()),
        _ => Some(value::read(document, entry, value::size)?),
    };
    match size {
        Some(size) if (1..=LARGEST_MAX_BODY).contains(&size) => Some(size),
        _ => {
            let message = format!("`max_body` is from 1 byte to {} KiB", LARGEST_MAX_BODY >> 10);
            let remedy = "beyond that the gateway itself refuses a delivery";
            document.problem(entry.value_at, message, Some(remedy.to_owned()));
            None
        }
    }
}

fn versions(document: &mut Document<'_>, table: Table<'_>) -> Option<Vec<String>> {
    let Some(entry) = table.get("versions") else {
        if let Some(policy) = table.get("unknown_version") {
            let remedy = "versions = [\"..\"] lists those that are understood";
            document.absent(
                policy.key_at,
                "without `versions` no version is unknown",
                Some(remedy.to_owned()),
            );
        }
        return None;
    };
    let texts = document.texts(entry)?;
    if texts.is_empty() {
        document.problem(entry.value_at, "`versions` is empty: every event would be unknown", None);
    }
    Some(texts.iter().map(|text| text.text.to_owned()).collect())
}

fn sources(endpoint: &Endpoint) -> Vec<Source> {
    let tenant = match &endpoint.tenant {
        Some(TenantFrom::Place(source)) => Some(source),
        _ => None,
    };
    let of_rules = endpoint.rules.iter().flat_map(|rule| {
        let fields = rule.action.iter().flat_map(|action| action.fields.iter().map(|field| &field.source));
        let status = rule.status.iter().filter_map(|status| match status {
            StatusFrom::Fetched(source) => Some(source),
            StatusFrom::Rule(_) => None,
        });
        rule.when.iter().map(|condition| &condition.source).chain(fields).chain(status)
    });
    let of_guards = endpoint.guards.iter().flat_map(|guard| guard.demands.sources());
    let key = endpoint.resource.iter().map(|resource| &resource.key);
    let asked = endpoint.fetch.iter().flat_map(|fetch| fetch.url.parts());
    let all: BTreeSet<&Source> =
        tenant.into_iter().chain(key).chain(asked).chain(of_guards).chain(of_rules).collect();
    all.into_iter().cloned().collect()
}
