//! From an event to what its endpoint's rules ask for.

use super::hold::{Hold, KeyOf};
use super::order::OrderValue;
use super::truth::{Age, Truth};
use super::values::{Holds, Values, is_fetched};
use crate::config::{
    Endpoint, EndpointResource, Fetch, Late, OrderKind, Rule, RuleAction, StatusFrom, Types,
};
use crate::ids::{ActionName, DestinationName, EventType, FieldName, ResourceKind, Status, Tenant};
use crate::json::{JsonText, NotJson};
use crate::key::{ActionKey, EventKey, ResourceKey, hex};
use crate::payload::Payload;
use crate::protocol::event::Event;
use crate::protocol::order::ToldBy;
use crate::sequence::Sequence;
use crate::source::Source;
use crate::time::UnixMillis;
use crate::url_template::OutboundUrl;
use sha2::{Digest, Sha256};

/// What a plan needs to know of an event besides its payload.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its key.
    pub key: &'a EventKey,
    /// The vendor's type.
    pub event_type: Option<&'a EventType>,
    /// Whose it is.
    pub tenant: Option<&'a Tenant>,
    /// When the vendor says it happened.
    pub occurred_at: Option<UnixMillis>,
    /// The vendor's own order number.
    pub sequence: Option<&'a str>,
    /// When it was received.
    pub received_at: UnixMillis,
}

impl<'a> From<&'a Event> for Subject<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            key: &event.key,
            event_type: event.event_type.as_ref(),
            tenant: event.tenant.as_ref(),
            occurred_at: event.occurred_at,
            sequence: event.sequence.as_deref(),
            received_at: event.received_at,
        }
    }
}

/// What the rules ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// No rule matches: the event is ignored.
    NoRule,
    /// A rule matches.
    Planned(Planned),
    /// A rule matches, or might, but a human has to look first.
    Hold(Hold),
    /// A rule matches, or might: what the vendor's API says decides.
    Ask(Question),
    /// The API's answer is older than the signal, or may be: ask again later.
    /// Why, in one line.
    Older(&'static str),
}

/// What has to be known before a rule can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Whom to ask for what.
    pub url: OutboundUrl,
    /// The resource that follows the answer, where the delivery names it: to
    /// be read *before* the question is asked, so that the answer is newer.
    pub resource: Option<ResourceKey>,
}

/// What the matching rule asks for; at least one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Which of the endpoint's rules, from 0.
    pub rule: usize,
    /// What the event says about its resource.
    pub resource_move: Option<PlannedMove>,
    /// The effect asked for.
    pub action: Option<PlannedAction>,
}

/// What an event says about a resource. Whether that is a move, or late, is
/// for the protocol to decide against the resource as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedMove {
    /// The resource.
    pub resource: ResourceKey,
    /// Its kind, by which the configuration has the graph.
    pub kind: ResourceKind,
    /// The status that it has now, according to the event.
    pub to: Status,
    /// How late that fact is.
    pub order: OrderValue,
    /// Who says so.
    pub told_by: ToldBy,
}

/// An effect that a rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedAction {
    /// Which action.
    pub name: ActionName,
    /// What makes it the same as another.
    pub key: ActionKey,
    /// Its fields in the order of the file, as the JSON that they were.
    pub fields: Vec<(FieldName, Option<JsonText>)>,
    /// Where it happens.
    pub destination: DestinationName,
    /// What becomes of it when the event is late. `Act` where the endpoint has
    /// no resource: such an event is never late.
    pub late: Late,
}

/// Digest of what an action was asked for with; lower-case hex. Two events
/// that name one action with other values are counted and shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputDigest(String);

impl InputDigest {
    /// A digest read back from a store.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The digest of the one thing that was asked with.
    pub(crate) fn of_text(text: &str) -> Self {
        Self(hex(&Sha256::digest(text)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PlannedAction {
    /// The digest of the fields. The event that brought them is no part of it.
    pub fn input_digest(&self) -> InputDigest {
        let mut hasher = Sha256::new();
        for (name, value) in &self.fields {
            // Lengths keep the borders: names and values never run together.
            let value = value.as_ref().map_or("", JsonText::as_json);
            hasher.update(format!("{}:{name}{}:{value}", name.as_str().len(), value.len()));
        }
        InputDigest(hex(&hasher.finalize()))
    }
}

/// Every place that ingest must read and store for this endpoint's rules.
pub fn sources(endpoint: &Endpoint) -> &[Source] {
    endpoint.sources()
}

/// What the endpoint's rules ask for. The first rule that matches counts, in
/// the order of the file, even where it then holds the event. `truth` is what
/// the vendor's API answered, once it was asked: [`Plan::Ask`] says when.
pub fn plan(endpoint: &Endpoint, subject: Subject<'_>, payload: &Payload, truth: Option<&Truth>) -> Plan {
    let values = match Values::read(endpoint, payload, truth) {
        Ok(values) => values,
        Err(NotJson) => return Plan::Hold(Hold::Unreadable),
    };
    let told = truth.zip(endpoint.fetch.as_ref());
    let age = told.map(|(truth, fetch)| truth.age(fetch, subject));
    if age == Some(Age::Older) {
        return Plan::Older("the answer is older than the signal");
    }
    let mut of_type = endpoint
        .rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| of_type(&rule.types, subject.event_type))
        .map(|(index, rule)| (index, rule, values.hold(&rule.when)));
    let Some((index, rule, holds)) = of_type.find(|(_, _, holds)| *holds != Holds::No) else {
        return without_rule(endpoint, subject, &values, age);
    };
    let asks = truth.is_none() && (holds == Holds::Unknown || reads_answer(endpoint, rule));
    let planned = match (&endpoint.fetch, asks) {
        (Some(fetch), true) => question(endpoint, fetch, subject, &values).map(Plan::Ask),
        _ => planned(endpoint, (index, rule), subject, &values, told).map(Plan::Planned),
    };
    planned.unwrap_or_else(Plan::Hold)
}

/// No rule matches. Where only the API's answer stands against one, and nothing
/// tells whether that answer knows of the event at all, it is no answer yet.
fn without_rule(endpoint: &Endpoint, subject: Subject<'_>, values: &Values<'_>, age: Option<Age>) -> Plan {
    let nearly = endpoint
        .rules
        .iter()
        .any(|rule| of_type(&rule.types, subject.event_type) && values.delivery_holds(&rule.when));
    match age {
        Some(Age::Unknown) if nearly => {
            Plan::Older("no rule matches the answer, which may be older than the signal")
        }
        _ => Plan::NoRule,
    }
}

pub(super) fn of_type(types: &Types, event_type: Option<&EventType>) -> bool {
    match types {
        Types::Every => true,
        Types::These(types) => event_type.is_some_and(|event_type| types.contains(event_type)),
    }
}

/// Whether the rule, once it matches, needs what the API answers.
fn reads_answer(endpoint: &Endpoint, rule: &Rule) -> bool {
    let of_action =
        rule.action.iter().flat_map(|action| &action.fields).any(|field| is_fetched(&field.source));
    let of_move = endpoint.resource.as_ref().zip(rule.status.as_ref()).is_some_and(|(resource, status)| {
        matches!(status, StatusFrom::Fetched(_))
            || is_fetched(&resource.key)
            || match resource.order {
                OrderKind::Fetch => true,
                OrderKind::Time => endpoint.fetch.as_ref().is_some_and(|fetch| fetch.time.is_some()),
                OrderKind::Sequence => endpoint.fetch.as_ref().is_some_and(|fetch| fetch.version.is_some()),
                OrderKind::Rank => false,
            }
    });
    of_action || of_move
}

/// Whom to ask, and which resource to look at before.
fn question(
    endpoint: &Endpoint,
    fetch: &Fetch,
    subject: Subject<'_>,
    values: &Values<'_>,
) -> Result<Question, Hold> {
    let url = fetch
        .url
        .fill(|source| values.at(source).and_then(JsonText::key_part))
        .map_err(|error| Hold::NoQuestion(error.to_string()))?;
    let resource = endpoint.resource.as_ref().filter(|resource| !is_fetched(&resource.key));
    let resource = resource.filter(|resource| resource.order == OrderKind::Fetch).and_then(|resource| {
        let id = values.at(&resource.key).and_then(JsonText::key_part)?;
        Some(ResourceKey::new(&resource.kind, subject.tenant, &id))
    });
    Ok(Question { url, resource })
}

fn planned(
    endpoint: &Endpoint,
    (index, rule): (usize, &Rule),
    subject: Subject<'_>,
    values: &Values<'_>,
    told: Option<(&Truth, &Fetch)>,
) -> Result<Planned, Hold> {
    if endpoint.tenant.is_some() && subject.tenant.is_none_or(|tenant| tenant.as_str().is_empty()) {
        return Err(Hold::NoTenant);
    }
    let resource_move = match (&endpoint.resource, &rule.status) {
        (Some(resource), Some(status)) => Some(planned_move((resource, status), subject, values, told)?),
        _ => None,
    };
    let late = rule.late.unwrap_or(Late::Act);
    let action = match &rule.action {
        Some(action) => Some(planned_action(action, late, subject, values)?),
        None => None,
    };
    Ok(Planned { rule: index, resource_move, action })
}

fn planned_move(
    (resource, status): (&EndpointResource, &StatusFrom),
    subject: Subject<'_>,
    values: &Values<'_>,
    told: Option<(&Truth, &Fetch)>,
) -> Result<PlannedMove, Hold> {
    let kind = &resource.kind;
    let id = values.key_part(|| KeyOf::Resource(kind.clone()), &resource.key)?;
    let order = match resource.order {
        OrderKind::Time => {
            let answered = told.and_then(|(truth, fetch)| truth.time(fetch));
            answered.or(subject.occurred_at).map(OrderValue::Time)
        }
        OrderKind::Sequence => {
            let answered = told.and_then(|(truth, fetch)| truth.version(fetch));
            answered.or_else(|| subject.sequence.and_then(Sequence::parse)).map(OrderValue::Sequence)
        }
        OrderKind::Rank => Some(OrderValue::Rank),
        OrderKind::Fetch => told.map(|(truth, fetch)| truth.order(fetch)),
    };
    let order = order.ok_or_else(|| Hold::NoOrder(kind.clone()))?;
    let to = match status {
        StatusFrom::Rule(status) => status.clone(),
        StatusFrom::Fetched(source) => {
            let word = values.at(source).and_then(JsonText::key_part);
            Status::new(word.ok_or_else(|| Hold::NoStatus(source.clone()))?.into_owned())
        }
    };
    let told_by = if resource.order == OrderKind::Fetch { ToldBy::Api } else { ToldBy::Event };
    let resource = ResourceKey::new(kind, subject.tenant, &id);
    Ok(PlannedMove { resource, kind: kind.clone(), to, order, told_by })
}

fn planned_action(
    action: &RuleAction,
    late: Late,
    subject: Subject<'_>,
    values: &Values<'_>,
) -> Result<PlannedAction, Hold> {
    let key = match &action.key {
        Some(fields) => {
            let parts = fields
                .iter()
                .map(|field| {
                    values.key_part(|| KeyOf::Action(action.name.clone(), field.name.clone()), &field.source)
                })
                .collect::<Result<Vec<_>, _>>()?;
            let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
            ActionKey::from_fields(&action.name, subject.tenant, &parts)
        }
        None => ActionKey::from_event(&action.name, subject.tenant, subject.key),
    };
    let fields =
        action.fields.iter().map(|field| (field.name.clone(), values.at(&field.source).cloned())).collect();
    Ok(PlannedAction { name: action.name.clone(), key, fields, destination: action.to.clone(), late })
}
