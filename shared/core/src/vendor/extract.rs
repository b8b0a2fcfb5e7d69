//! From one delivery to its events: the few facts that the description names,
//! and of each event what is stored.

use super::Vendor;
use super::content;
use super::facts::{Facts, Identity, Unreadable};
use super::moment;
use super::place::{Place, Value};
use super::shape::{AttemptForm, EventShape, IdentityForm};
use super::view::{View, media_type};
use crate::http::Request;
use crate::ids::EventType;
use crate::json::{self, Item, JsonText};
use crate::key::EventHash;
use crate::payload::Payload;
use crate::sequence::Sequence;
use crate::source::{Pointer, Source};
use std::collections::BTreeMap;
use std::ops::Range;

impl Vendor {
    /// Whether the declared media type is one that the vendor sends; none
    /// declared counts as one. If not: 415, before anything is verified.
    pub fn takes(&self, request: &Request) -> bool {
        let known = |media: &String| self.content_types().iter().any(|known| known == "*" || known == media);
        media_type(request).as_ref().is_none_or(known)
    }

    /// The events of a verified delivery, in their order. `wanted` are the
    /// places that the endpoint's rules read: what of them is outside an
    /// event's own part of the body is stored with it.
    ///
    /// # Errors
    /// See [`Unreadable`]: each says what to answer.
    pub fn events(&self, request: &Request, wanted: &[Source]) -> Result<Vec<Facts>, Unreadable> {
        if !self.takes(request) {
            return Err(Unreadable::ContentType);
        }
        let Some(text) = content::json_text(request, &self.body)? else {
            return Err(Unreadable::Content { outside: self.told_by_headers(request, wanted).map(Box::new) });
        };
        let Found { events: found, untaken } = self.found(&Delivery { request, text: &text, wanted })?;
        // An item of no known shape is not dropped silently, unless it only
        // surrounds items that other shapes took.
        let is_empty = |span: &Range<usize>| {
            let first = found.partition_point(|(at, _)| *at < span.start);
            found.get(first).is_none_or(|(at, _)| !span.contains(at))
        };
        if untaken.iter().any(is_empty) {
            return Err(Unreadable::NoEventId);
        }
        if found.is_empty() {
            let batch = |shape: &EventShape| shape.each.is_some() && self.may_apply(shape, request, &text);
            return match self.events.iter().any(batch) {
                true => Err(Unreadable::EmptyBatch { allowed: self.empty_batch }),
                false => Err(Unreadable::NoEventId),
            };
        }
        Ok(found.into_iter().map(|(_, facts)| facts).collect())
    }

    /// The events of all shapes in the order of the text.
    fn found(&self, delivery: &Delivery<'_>) -> Result<Found, Unreadable> {
        let mut found = Found::default();
        let mut paths: Vec<Option<&json::EachPath>> = Vec::new();
        for shape in &self.events {
            let path = shape.each.as_ref();
            if !paths.contains(&path) {
                paths.push(path);
                let shapes: Vec<&EventShape> =
                    self.events.iter().filter(|shape| shape.each.as_ref() == path).collect();
                let more = delivery.events(path, &shapes)?;
                found.events.extend(more.events);
                found.untaken.extend(more.untaken);
            }
        }
        found.events.sort_by_key(|(at, _)| *at);
        Ok(found)
    }

    /// Whether a batch of this shape is what the delivery would be, were it
    /// not empty: what its condition says of the delivery as a whole holds.
    fn may_apply(&self, shape: &EventShape, request: &Request, text: &str) -> bool {
        let mut outside = shape.condition.clone();
        outside.present.retain(|source| !source.is_body());
        outside.absent.retain(|source| !source.is_body());
        outside.empty.clear();
        outside.equal.retain(|(source, _)| !source.is_body());
        View::new(request, Some(text), outside.sources()).holds(&outside)
    }

    /// The event as far as the headers of an unreadable delivery tell it.
    fn told_by_headers(&self, request: &Request, wanted: &[Source]) -> Option<Facts> {
        let view = View::new(request, None, []);
        let shape = self.events.iter().find(|shape| shape.each.is_none() && view.holds(&shape.condition))?;
        let identity = identity(&view, shape).filter(|identity| *identity != Identity::None)?;
        let hash = EventHash::of([request.body.as_slice()]);
        Some(facts(&view, shape, identity, hash, payload(&view, shape, request.body.clone(), wanted)))
    }
}

/// Events with their places in the text, and the places of items that no
/// shape takes.
#[derive(Default)]
struct Found {
    events: Vec<(usize, Facts)>,
    untaken: Vec<Range<usize>>,
}

struct Delivery<'r> {
    request: &'r Request,
    text: &'r str,
    wanted: &'r [Source],
}

impl<'r> Delivery<'r> {
    /// The events of the shapes that share one `each`.
    fn events(&self, path: Option<&json::EachPath>, shapes: &[&EventShape]) -> Result<Found, Unreadable> {
        let unreadable = |_| Unreadable::Content { outside: None };
        let items = match path {
            Some(path) => json::each(self.text, path).map_err(unreadable)?,
            None => vec![Item { json: self.text, span: 0..self.text.len(), matched: Vec::new() }],
        };
        let sources: Vec<Source> =
            shapes.iter().flat_map(|shape| shape.sources()).chain(self.wanted.iter().cloned()).collect();
        let around = self.around(&items, &sources).map_err(unreadable)?;
        let mut found = Found::default();
        for (item, shared) in items.iter().zip(around) {
            let places = sources.iter().filter(|source| !matches!(source, Source::Shared(_)));
            let view = View::new(self.request, Some(item.json), places).around(&item.matched, shared);
            match shapes.iter().find(|shape| view.holds(&shape.condition)) {
                Some(shape) => found.events.push((item.span.start, self.event(&view, shape, item.json)?)),
                None if path.is_some() && !outside_condition_fails(&view, shapes) => {
                    found.untaken.push(item.span.clone());
                }
                None => {}
            }
        }
        Ok(found)
    }

    fn event(&self, view: &View<'_>, shape: &EventShape, own: &str) -> Result<Facts, Unreadable> {
        let lacks = lacks(view, shape);
        // One bad item does not sink the others of its batch.
        if let (Some(missing), None) = (&lacks, &shape.each) {
            return Err(Unreadable::Missing(missing.clone()));
        }
        let hash = hash(shape, own).map_err(|_| Unreadable::Content { outside: None })?;
        let identity = identity_or_digest(view, shape, &hash).ok_or(Unreadable::NoEventId)?;
        let payload = payload(view, shape, own.as_bytes().to_vec(), self.wanted);
        Ok(Facts { lacks, ..facts(view, shape, identity, hash, payload) })
    }

    /// The values around each item, all read in one pass: a `*` in a shared
    /// place stands for the item's own.
    fn around(
        &self,
        items: &[Item<'_>],
        sources: &[Source],
    ) -> Result<Vec<BTreeMap<String, JsonText>>, json::NotJson> {
        let shared: Vec<&Pointer> = sources
            .iter()
            .filter_map(|source| match source {
                Source::Shared(pointer) => Some(pointer),
                _ => None,
            })
            .collect();
        let concrete: Vec<Vec<Pointer>> = items
            .iter()
            .map(|item| shared.iter().map(|pointer| pointer.filled(&item.matched)).collect())
            .collect();
        let mut distinct: Vec<&Pointer> = concrete.iter().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let values = match distinct.is_empty() {
            true => Vec::new(),
            false => json::read(self.text, &distinct)?,
        };
        let value_of = |pointer: &Pointer| {
            let index = distinct.binary_search(&pointer).ok()?;
            JsonText::from_json(values[index].as_ref()?.json).ok()
        };
        Ok(concrete
            .iter()
            .map(|filled| {
                shared
                    .iter()
                    .zip(filled)
                    .filter_map(|(written, filled)| Some((written.as_str().to_owned(), value_of(filled)?)))
                    .collect()
            })
            .collect())
    }
}

/// Whether every shape is ruled out by what is outside the items: then the
/// delivery is of another kind and its arrays mean something else.
fn outside_condition_fails(view: &View<'_>, shapes: &[&EventShape]) -> bool {
    shapes.iter().all(|shape| {
        let mut outside = shape.condition.clone();
        outside.present.retain(|source| !source.is_body());
        outside.absent.retain(|source| !source.is_body());
        outside.empty.clear();
        outside.equal.retain(|(source, _)| !source.is_body());
        !view.holds(&outside)
    })
}

/// The first field that the description requires and that is not there.
pub(super) fn lacks(view: &View<'_>, shape: &EventShape) -> Option<Source> {
    let is_there = |source: &&Source| view.json(source).is_some_and(|value| value.kind() != json::Kind::Null);
    shape.required.iter().find(|source| !is_there(source)).cloned()
}

/// The hash of an event's own part without what changes with each delivery.
pub(super) fn hash(shape: &EventShape, own: &str) -> Result<EventHash, json::NotJson> {
    let pieces = match shape.volatile.is_empty() {
        true => vec![own],
        false => json::cut(own, &shape.volatile.iter().collect::<Vec<_>>())?,
    };
    Ok(EventHash::of(pieces.into_iter().map(str::as_bytes)))
}

/// `None`: it has no id, and its digest is none either.
pub(super) fn identity_or_digest(view: &View<'_>, shape: &EventShape, hash: &EventHash) -> Option<Identity> {
    let digest = || shape.or_digest.then(|| Identity::Weak(vec![Some(hash.as_str().to_owned())]));
    identity(view, shape).or_else(digest)
}

/// `None`: a part that must be there is not.
fn identity(view: &View<'_>, shape: &EventShape) -> Option<Identity> {
    match shape.identity {
        IdentityForm::Strong => parts(view, &shape.id).map(Identity::Id),
        IdentityForm::Weak => parts(view, &shape.id).map(Identity::Weak),
        IdentityForm::None => Some(Identity::None),
    }
}

/// The parts of an id. `None`: one that must be there is not, or none is.
pub(super) fn parts(view: &View<'_>, id: &[Value]) -> Option<Vec<Option<String>>> {
    id.iter()
        .map(|value| match view.value(value) {
            Some(part) => Some(Some(part)),
            None => value.optional.then_some(None),
        })
        .collect::<Option<Vec<_>>>()
        .filter(|parts| parts.iter().any(Option::is_some))
}

pub(super) fn facts(
    view: &View<'_>,
    shape: &EventShape,
    identity: Identity,
    hash: EventHash,
    payload: Payload,
) -> Facts {
    let read = |value: &Option<Value>| value.as_ref().and_then(|value| view.value(value));
    Facts {
        identity,
        scope: read(&shape.scope),
        event_type: event_type(view, &shape.event_type),
        version: read(&shape.version),
        occurred_at: shape
            .time
            .iter()
            .find_map(|form| moment::stated(&view.text(&form.from)?, form.unit, form.zone)),
        sequence: read(&shape.sequence).and_then(|text| Sequence::parse(&text)),
        attempt: shape.attempt.as_ref().and_then(|form| attempt(view, form)),
        tenant: read(&shape.tenant),
        delivery_id: read(&shape.delivery),
        resource: read(&shape.resource),
        lacks: None,
        hash,
        payload,
    }
}

/// Parts joined with a dot. Without a part that is not optional there is no type.
pub(super) fn event_type(view: &View<'_>, parts: &[Value]) -> Option<EventType> {
    let parts: Vec<Option<String>> = parts
        .iter()
        .map(|value| match view.value(value) {
            Some(part) => Some(Some(part)),
            None => value.optional.then_some(None),
        })
        .collect::<Option<_>>()?;
    let joined = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
    (!joined.is_empty()).then(|| EventType::new(joined))
}

fn attempt(view: &View<'_>, form: &AttemptForm) -> Option<u64> {
    let stated: u64 = view.text(&form.from)?.parse().ok()?;
    stated.checked_sub(form.first)?.checked_add(1)
}

/// The own part, and around it only what description or rules name.
fn payload(view: &View<'_>, shape: &EventShape, body: Vec<u8>, wanted: &[Source]) -> Payload {
    let named = shape.sources().into_iter().chain(wanted.iter().cloned());
    let context = named.filter(|source| !source.is_body()).filter_map(|source| {
        let value = view.json(&source)?;
        Some((source, value))
    });
    Payload::new(body, context)
}

impl EventShape {
    /// Every source that describes the event.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let values = self.values().flat_map(Value::places).filter_map(Place::source);
        let times = self.time.iter().filter_map(|form| form.from.source());
        let attempt = self.attempt.iter().filter_map(|form| form.from.source());
        let mut sources: Vec<Source> = values
            .chain(times)
            .chain(attempt)
            .chain(&self.required)
            .chain(self.condition.sources())
            .cloned()
            .collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }
}
