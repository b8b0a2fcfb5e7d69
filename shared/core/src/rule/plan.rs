//! From an event to what its endpoint's rules ask for.

use super::hold::{Hold, KeyOf, NoKeyPart};
use super::order::OrderValue;
use crate::config::{Condition, Endpoint, EndpointResource, Late, OrderKind, Rule, RuleAction, Types};
use crate::ids::{ActionName, DestinationName, EventType, FieldName, ResourceKind, Status, Tenant};
use crate::json::{JsonText, Kind, NotJson};
use crate::key::{ActionKey, EventKey, ResourceKey, hex};
use crate::payload::Payload;
use crate::protocol::event::Event;
use crate::sequence::Sequence;
use crate::source::Source;
use crate::time::UnixMillis;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

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
}

impl<'a> From<&'a Event> for Subject<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            key: &event.key,
            event_type: event.event_type.as_ref(),
            tenant: event.tenant.as_ref(),
            occurred_at: event.occurred_at,
            sequence: event.sequence.as_deref(),
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
/// the order of the file, even where it then holds the event.
pub fn plan(endpoint: &Endpoint, subject: Subject<'_>, payload: &Payload) -> Plan {
    let values = match Values::read(endpoint, payload) {
        Ok(values) => values,
        Err(NotJson) => return Plan::Hold(Hold::Unreadable),
    };
    let matching = endpoint.rules.iter().enumerate().find(|(_, rule)| matches(rule, subject, &values));
    let Some((index, rule)) = matching else {
        return Plan::NoRule;
    };
    match planned(endpoint, (index, rule), subject, &values) {
        Ok(planned) => Plan::Planned(planned),
        Err(hold) => Plan::Hold(hold),
    }
}

/// The values at the endpoint's sources, read in one pass.
pub(super) struct Values<'e> {
    sources: &'e [Source],
    values: Vec<Option<JsonText>>,
}

impl<'e> Values<'e> {
    pub(super) fn read(endpoint: &'e Endpoint, payload: &Payload) -> Result<Self, NotJson> {
        let sources = endpoint.sources();
        Ok(Self { sources, values: payload.read(sources)? })
    }

    pub(super) fn at(&self, source: &Source) -> Option<&JsonText> {
        let index = self.sources.binary_search(source).ok()?;
        self.values.get(index)?.as_ref()
    }

    /// The value as a part of a key (INV-7).
    fn key_part(&self, of: impl FnOnce() -> KeyOf, source: &Source) -> Result<Cow<'_, str>, Hold> {
        let value = self.at(source);
        value.and_then(JsonText::key_part).ok_or_else(|| {
            let found = match value.map(JsonText::kind) {
                None => NoKeyPart::Absent,
                Some(Kind::Null) => NoKeyPart::Null,
                Some(Kind::List | Kind::Object) => NoKeyPart::NotPlain,
                Some(Kind::Text | Kind::Number | Kind::Truth) => NoKeyPart::Empty,
            };
            Hold::MissingKeyPart { of: of(), source: source.clone(), found }
        })
    }
}

fn matches(rule: &Rule, subject: Subject<'_>, values: &Values<'_>) -> bool {
    of_type(&rule.types, subject.event_type) && when(&rule.when, values)
}

pub(super) fn of_type(types: &Types, event_type: Option<&EventType>) -> bool {
    match types {
        Types::Every => true,
        Types::These(types) => event_type.is_some_and(|event_type| types.contains(event_type)),
    }
}

pub(super) fn when(conditions: &[Condition], values: &Values<'_>) -> bool {
    conditions
        .iter()
        .all(|condition| values.at(&condition.source).is_some_and(|value| value.equals(&condition.literal)))
}

fn planned(
    endpoint: &Endpoint,
    (index, rule): (usize, &Rule),
    subject: Subject<'_>,
    values: &Values<'_>,
) -> Result<Planned, Hold> {
    if endpoint.tenant.is_some() && subject.tenant.is_none_or(|tenant| tenant.as_str().is_empty()) {
        return Err(Hold::NoTenant);
    }
    let resource_move = match (&endpoint.resource, &rule.status) {
        (Some(resource), Some(status)) => Some(planned_move(resource, status, subject, values)?),
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
    resource: &EndpointResource,
    status: &Status,
    subject: Subject<'_>,
    values: &Values<'_>,
) -> Result<PlannedMove, Hold> {
    let kind = &resource.kind;
    let id = values.key_part(|| KeyOf::Resource(kind.clone()), &resource.key)?;
    let order = match resource.order {
        OrderKind::Time => subject.occurred_at.map(OrderValue::Time),
        OrderKind::Sequence => subject.sequence.and_then(Sequence::parse).map(OrderValue::Sequence),
        OrderKind::Rank => Some(OrderValue::Rank),
        // Not available yet, so `config::load` refuses it; held is where a human sees it.
        OrderKind::Fetch => None,
    };
    let order = order.ok_or_else(|| Hold::NoOrder(kind.clone()))?;
    let resource = ResourceKey::new(kind, subject.tenant, &id);
    Ok(PlannedMove { resource, kind: kind.clone(), to: status.clone(), order })
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
