//! Endpoints: one URL that a vendor calls, and what its events mean.

use super::destination::{positive_span, secrets};
use super::guard::{self, Demand, Guard};
use super::resource::{OrderKind, Resource};
use super::rule::{self, ResourceOf, Rule, Types};
use super::secret_ref::SecretRef;
use super::{Declared, value};
use crate::document::{Document, Entry, Table, Text, whole_number};
use crate::ids::{EndpointName, EventType, ResourceKind};
use crate::key::DedupScope;
use crate::problem::{Place, nearest};
use crate::source::Source;
use crate::vendor::{Params, Vendor};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use toml::de::DeValue;

/// Largest body where the endpoint does not say: vendors send kilobytes.
pub const DEFAULT_MAX_BODY: u64 = 1 << 20;

/// A Lambda event holds 6 MB, and a binary body in it is base64: beyond 4 MiB
/// the gateway would refuse what the endpoint promised to take.
pub const LARGEST_MAX_BODY: u64 = 4 << 20;

/// An endpoint as declared.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its name, the last part of its URL.
    pub name: EndpointName,
    /// Who sends.
    pub vendor: Arc<Vendor>,
    /// Where its secrets are kept; every one of them is live.
    pub secrets: Vec<SecretRef>,
    /// What the vendor's description asks for besides: the public URL, and
    /// parameters such as `webhook_id`.
    pub params: Params,
    /// Whose delivery it is, where the endpoint serves many.
    pub tenant: Option<TenantFrom>,
    /// What every delivery must be; all of them must let it pass.
    pub guards: Vec<Guard>,
    /// The one kind of resource that its events move, and where the key is.
    pub resource: Option<EndpointResource>,
    /// Its rules; the first that matches an event is the one that counts.
    pub rules: Vec<Rule>,
    /// Largest body in bytes; beyond it 413.
    pub max_body: u64,
    /// Within which an event id is unique.
    pub dedup_scope: DedupScope,
    /// The vendor's versions that are understood; `None`: all of them.
    pub versions: Option<Vec<String>>,
    /// What becomes of an event of another version.
    pub unknown_version: Unusable,
    /// What becomes of an event without a part of a key.
    pub missing_key: Unusable,
    /// What a duplicate is answered.
    pub duplicate: DuplicateAnswer,
    /// The team knows that the vendor's description is not confirmed.
    pub allow_unconfirmed: bool,
    /// Where it is declared.
    pub place: Place,
    pub(super) dedup_window_said: Option<Duration>,
    pub(super) dedup_window_place: Option<Place>,
    sources: Vec<Source>,
}

/// Where the tenant of a delivery is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TenantFrom {
    /// The last part of the URL: `POST /webhooks/{endpoint}/{tenant}`.
    Path,
    /// Where the vendor's description says.
    Vendor,
    /// A place in the delivery.
    Place(Source),
}

/// The kind of resource of an endpoint, and where the vendor keeps its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointResource {
    /// The kind.
    pub kind: ResourceKind,
    /// Where the key is.
    pub key: Source,
    /// What orders its events.
    pub order: OrderKind,
}

/// What becomes of an event that is well signed but cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unusable {
    /// Kept for a human, and answered 202.
    Hold,
    /// Answered 400: the vendor is to know.
    Refuse,
}

/// What a duplicate is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DuplicateAnswer {
    /// 200 with the event's present status.
    Status,
    /// The stored result, or 409 while it is not there.
    Result,
}

pub(super) const KEYS: &[&str] = &[
    "vendor",
    "secrets",
    "params",
    "public_url",
    "tenant",
    "guard",
    "resource",
    "rule",
    "max_body",
    "dedup_scope",
    "dedup_window",
    "versions",
    "unknown_version",
    "missing_key",
    "duplicate",
    "allow_unconfirmed",
];
const UNUSABLE: [(&str, Unusable); 2] = [("hold", Unusable::Hold), ("refuse", Unusable::Refuse)];
const DUPLICATE: [(&str, DuplicateAnswer); 2] =
    [("status", DuplicateAnswer::Status), ("result", DuplicateAnswer::Result)];

impl Endpoint {
    /// Every place that its rules, guards, resource or tenant read, each once.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}

/// Reads `[endpoint.NAME]`.
pub(super) fn read(
    document: &mut Document<'_>,
    declared: &mut Declared,
    name: Text<'_>,
    table: Table<'_>,
) -> Option<Endpoint> {
    document.only(table, "an endpoint", KEYS);
    let vendor = vendor(document, declared, name, table);
    let resource = table.get("resource").map(|entry| resource(document, declared, entry));
    let of_rules = match &resource {
        None => ResourceOf::Nothing,
        Some(None) => ResourceOf::Malformed,
        Some(Some((_, resource))) => ResourceOf::Declared(resource),
    };
    let rules = rules(document, declared, of_rules, table);
    let dedup_scope = table.get("dedup_scope").and_then(|entry| document.read(entry, value::name));
    let word = |document: &mut Document<'_>, key, default| {
        table.get(key).map_or(Some(default), |entry| document.word(entry, &UNUSABLE))
    };
    let tenant = table.get("tenant").map(|entry| tenant(document, entry));
    let mut endpoint = Endpoint {
        name: name.text.into(),
        secrets: table.get("secrets").and_then(|entry| secrets(document, entry)).unwrap_or_default(),
        params: params(document, table),
        tenant: tenant.map_or(Some(None), |tenant| tenant.map(Some))?,
        guards: guards(document, table),
        rules,
        max_body: table.get("max_body").map_or(Some(DEFAULT_MAX_BODY), |entry| max_body(document, entry))?,
        dedup_scope: DedupScope(dedup_scope.unwrap_or(name.text).to_owned()),
        dedup_window_said: table.get("dedup_window").and_then(|entry| positive_span(document, entry)),
        dedup_window_place: table.get("dedup_window").map(|entry| document.place(entry.value_at)),
        versions: versions(document, table),
        unknown_version: word(document, "unknown_version", Unusable::Hold)?,
        missing_key: word(document, "missing_key", Unusable::Hold)?,
        duplicate: table
            .get("duplicate")
            .map_or(Some(DuplicateAnswer::Status), |entry| document.word(entry, &DUPLICATE))?,
        allow_unconfirmed: table
            .get("allow_unconfirmed")
            .is_some_and(|entry| document.truth(entry) == Some(true)),
        place: document.place(name.at),
        vendor: vendor?,
        resource: resource.map_or(Some(None), |found| found.map(|(resource, _)| Some(resource)))?,
        sources: Vec::new(),
    };
    check_vendor(document, table, name, &endpoint);
    endpoint.sources = sources(&endpoint);
    Some(endpoint)
}

fn vendor(
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
    let key = rule::source(document, text)?;
    let resource = declared_kind?.as_ref()?;
    Some((EndpointResource { kind: resource.kind.clone(), key, order: resource.order }, resource))
}

fn rules(
    document: &mut Document<'_>,
    declared: &Declared,
    resource: ResourceOf<'_>,
    table: Table<'_>,
) -> Vec<Rule> {
    let Some(entry) = table.get("rule") else { return Vec::new() };
    let mut rules = Vec::new();
    let mut taken: HashMap<EventType, Place> = HashMap::new();
    let mut all_taken: Option<Place> = None;
    for table in document.tables(entry) {
        let Some(rule) = rule::read(document, declared, resource, table) else { continue };
        refuse_shadowed(document, table.at, &rule, &taken, all_taken.as_ref());
        if rule.when.is_empty() {
            match &rule.types {
                Types::Every => all_taken = all_taken.or_else(|| Some(rule.place.clone())),
                Types::These(types) => {
                    for event_type in types {
                        taken.entry(event_type.clone()).or_insert_with(|| rule.place.clone());
                    }
                }
            }
        }
        rules.push(rule);
    }
    rules
}

/// The first matching rule counts, so one behind a rule that takes everything
/// it could match never does.
fn refuse_shadowed(
    document: &mut Document<'_>,
    at: usize,
    rule: &Rule,
    taken: &HashMap<EventType, Place>,
    all_taken: Option<&Place>,
) {
    let by = match (all_taken, &rule.types) {
        (Some(place), _) => Some(place),
        (None, Types::Every) => None,
        (None, Types::These(types)) => {
            let earlier: Option<Vec<&Place>> = types.iter().map(|event_type| taken.get(event_type)).collect();
            earlier.and_then(|places| places.first().copied())
        }
    };
    if let Some(by) = by {
        let message = format!("this rule never matches: the one in line {} takes all its events", by.line);
        document.problem(
            at,
            message,
            Some("the first rule that matches counts; put this one before it".to_owned()),
        );
    }
}

fn guards(document: &mut Document<'_>, table: Table<'_>) -> Vec<Guard> {
    let tables = table.get("guard").map(|entry| document.tables(entry)).unwrap_or_default();
    tables.into_iter().filter_map(|table| guard::read(document, table)).collect()
}

fn tenant(document: &mut Document<'_>, entry: Entry<'_>) -> Option<TenantFrom> {
    let text = document.text(entry)?;
    match text.text {
        "path" => Some(TenantFrom::Path),
        "vendor" => Some(TenantFrom::Vendor),
        _ => rule::source(document, text).map(TenantFrom::Place),
    }
}

fn params(document: &mut Document<'_>, table: Table<'_>) -> Params {
    let public_url = table.get("public_url").and_then(|entry| {
        let url = document.read(entry, value::url)?;
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
        _ => Some(document.read(entry, value::size)?),
    };
    match size {
        Some(size) if (1..=LARGEST_MAX_BODY).contains(&size) => Some(size),
        _ => {
            let message = format!("`max_body` is from 1 byte to {} MiB", LARGEST_MAX_BODY >> 20);
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
        rule.when.iter().map(|condition| &condition.source).chain(fields)
    });
    let of_guards = endpoint.guards.iter().flat_map(|guard| match &guard.demands {
        Demand::When(conditions) => conditions.as_slice(),
        Demand::Networks(_) | Demand::Types(_) => &[],
    });
    let of_guards = of_guards.map(|condition| &condition.source);
    let key = endpoint.resource.iter().map(|resource| &resource.key);
    let all: std::collections::BTreeSet<&Source> =
        tenant.into_iter().chain(key).chain(of_guards).chain(of_rules).collect();
    all.into_iter().cloned().collect()
}

/// What the vendor's description asks of an endpoint.
fn check_vendor(document: &mut Document<'_>, table: Table<'_>, name: Text<'_>, endpoint: &Endpoint) {}
