//! From a verified delivery to the events that it carries.

use super::Arrived;
use super::admit::stopped;
use super::answer::{Refused, Unusable};
use super::keep::own_id;
use crate::config::{self, Endpoint, GuardAnswer, TenantFrom};
use crate::ids::{EventType, Generation, Tenant};
use crate::key::{EventHash, EventKey};
use crate::payload::Payload;
use crate::ports::Entropy;
use crate::protocol::event::{Event, EventStatus, Progress, Seen, SignatureFacts};
use crate::protocol::policy::Limits;
use crate::protocol::reason::{Reason, Slug};
use crate::rule::{self, Plan, Subject, event_guard};
use crate::secrets::Matched;
use crate::sequence::Sequence;
use crate::time::UnixMillis;
use crate::vendor::{Facts, Identity, Unreadable};
use std::collections::HashSet;

/// Most events that one delivery may carry; beyond it 413, and nothing is
/// written. A batch of the most talkative vendors, about 800 KB, has no more,
/// and so many are durable within the few seconds that vendors wait (INV-8).
pub const MOST_EVENTS: usize = 4096;

/// One event of a delivery, before it has a key of its own and a place in time.
pub(super) struct Draft {
    facts: Facts,
    signature: SignatureFacts,
    hold: Option<Reason>,
}

/// The events of a delivery that are to be kept.
pub(super) struct Drafts {
    pub events: Vec<Draft>,
    /// How many a guard left out.
    pub filtered: usize,
}

impl Drafts {
    /// Every event of the delivery, each once: the same id twice in one batch
    /// is one event.
    pub fn read(arrived: &Arrived<'_>, matched: &Matched) -> Result<Self, Refused> {
        let signature = SignatureFacts {
            secret: matched.secret,
            scheme: matched.verified.scheme.clone(),
            signed_at: matched.verified.signed_at,
        };
        // What asks for a confirmation is no event of the endpoint's rules and guards.
        let confirms = matches!(&matched.handshake, Some(Ok(answer)) if answer.confirm.is_some());
        Self::of(arrived, signature, confirms)
    }

    /// The same of what somebody else than a signature vouches for.
    pub fn of(arrived: &Arrived<'_>, signature: SignatureFacts, confirms: bool) -> Result<Self, Refused> {
        let endpoint = arrived.endpoint;
        let facts = match endpoint.vendor.events(arrived.request, rule::sources(endpoint)) {
            Ok(facts) => facts,
            Err(unreadable) => return unusable(unreadable, signature),
        };
        if facts.len() > MOST_EVENTS {
            return Err(Refused::TooManyEvents);
        }
        let alone = facts.len() == 1;
        let mut seen = HashSet::new();
        let mut drafts = Self { events: Vec::with_capacity(facts.len()), filtered: 0 };
        for facts in facts {
            let repeated = match &facts.identity {
                Identity::Id(id) | Identity::Weak(id) => !seen.insert((id.clone(), facts.hash.clone())),
                Identity::None => false,
            };
            if repeated {
                continue;
            }
            if confirms {
                drafts.events.push(Draft { facts, signature: signature.clone(), hold: None });
                continue;
            }
            if is_filtered(arrived, &facts)? {
                drafts.filtered += 1;
                continue;
            }
            let hold = hold(arrived, &facts, alone)?;
            drafts.events.push(Draft { facts, signature: signature.clone(), hold });
        }
        Ok(drafts)
    }

    /// The type of each, as its vendor calls it.
    pub fn types(&self) -> impl Iterator<Item = Option<&EventType>> {
        self.events.iter().map(|draft| draft.facts.event_type.as_ref())
    }

    fn held(facts: Facts, signature: SignatureFacts, hold: Reason) -> Self {
        Self { events: vec![Draft { facts, signature, hold: Some(hold) }], filtered: 0 }
    }
}

/// Whether a guard leaves this event out. What a guard cannot read is not for
/// it to decide: such an event is held.
fn is_filtered(arrived: &Arrived<'_>, facts: &Facts) -> Result<bool, Refused> {
    let stopping = event_guard(arrived.endpoint, facts.event_type.as_ref(), &facts.payload);
    let Ok(Some(guard)) = stopping else { return Ok(false) };
    stopped(arrived, guard);
    match guard.answer {
        GuardAnswer::Refuse => Err(Refused::Guard),
        GuardAnswer::Filter => Ok(true),
    }
}

impl Draft {
    /// The event as it will be stored, if it is new.
    pub fn into_event(
        self,
        arrived: &Arrived<'_>,
        limits: &Limits,
        entropy: &impl Entropy,
    ) -> (Event, Payload) {
        let (endpoint, now) = (arrived.endpoint, arrived.now);
        let tenant = tenant(endpoint, arrived.tenant.as_ref(), &self.facts);
        let facts = self.facts;
        let put_nonce = entropy.put();
        let own = own_id(&put_nonce);
        let parts = parts(&facts.identity, &own);
        let id = parts.iter().map(|part| part.unwrap_or("-")).collect::<Vec<_>>().join(" ");
        let status = if self.hold.is_some() { EventStatus::Held } else { EventStatus::Received };
        let held = status == EventStatus::Held;
        let event = Event {
            key: key(endpoint, tenant.as_ref(), parts, (&facts.identity, &facts.hash)),
            endpoint: endpoint.name.clone(),
            vendor: endpoint.vendor.name().clone(),
            tenant,
            id,
            event_type: facts.event_type,
            version: facts.version,
            occurred_at: facts.occurred_at,
            sequence: facts.sequence.map(|sequence| sequence.as_str().to_owned()),
            received_at: now,
            put_nonce,
            correlation: arrived.addressed.correlation.clone(),
            signature: self.signature,
            hash: facts.hash,
            seen: Seen {
                deliveries: 1,
                last_at: now,
                conflicts: 0,
                conflict_hashes: Vec::new(),
                repeated_as: None,
            },
            progress: Progress {
                status,
                generation: Generation::FIRST,
                opened_at: now,
                attempts: 0,
                sweeps: 0,
                action: None,
                action_generation: None,
                let_go: Vec::new(),
                reason: self.hold,
                failed_at: None,
                // INV-9: what needs a human carries no TTL.
                expires: (!held).then(|| now.expires_after(limits.window)),
                due: Some(if held { now } else { limits.next_sweep(0, now) }),
                waits: false,
            },
        };
        (event, facts.payload)
    }
}

/// The parts of an id; `own` is one of ours for what has none.
fn parts<'a>(identity: &'a Identity, own: &'a str) -> Vec<Option<&'a str>> {
    match identity {
        Identity::Id(parts) | Identity::Weak(parts) => parts.iter().map(Option::as_deref).collect(),
        // A ping is never deduplicated: each gets a key of our own.
        Identity::None => vec![Some(own)],
    }
}

fn key<'a>(
    endpoint: &Endpoint,
    tenant: Option<&Tenant>,
    mut parts: Vec<Option<&'a str>>,
    (identity, hash): (&Identity, &'a EventHash),
) -> EventKey {
    if matches!(identity, Identity::Weak(_)) {
        // Two events may share it: one with other content is the other
        // one, and not a conflict that only the first would survive.
        parts.push(Some(hash.as_str()));
    }
    EventKey::new(&endpoint.dedup_scope, tenant, &parts)
}

/// The key of the event of a content that is read anew; `None` where it names none.
pub(super) fn key_of(endpoint: &Endpoint, tenant: Option<&Tenant>, facts: &Facts) -> Option<EventKey> {
    if facts.identity == Identity::None {
        return None;
    }
    Some(key(endpoint, tenant, parts(&facts.identity, ""), (&facts.identity, &facts.hash)))
}

/// Why a human must look at an event before it is processed.
pub(super) struct Doubt {
    pub reason: Reason,
    unusable: Unusable,
    /// The endpoint wants the vendor to know.
    refuses: bool,
}

/// Must a human look at this event before it is processed? Or does the
/// endpoint want the vendor to know? Then the delivery is refused, but only
/// where it carries nothing else: an item of a batch is held instead, since
/// the others have done nothing wrong.
fn hold(arrived: &Arrived<'_>, facts: &Facts, alone: bool) -> Result<Option<Reason>, Refused> {
    match doubt(arrived.endpoint, arrived.tenant.as_ref(), facts, arrived.now) {
        Some(doubt) if doubt.refuses && alone => Err(Refused::Unusable(doubt.unusable)),
        doubt => Ok(doubt.map(|doubt| doubt.reason)),
    }
}

/// What stands against going on with this content by itself. `in_path` is the
/// tenant that the URL named.
pub(super) fn doubt(
    endpoint: &Endpoint,
    in_path: Option<&Tenant>,
    facts: &Facts,
    now: UnixMillis,
) -> Option<Doubt> {
    if let Some(lacking) = &facts.lacks {
        let reason = Reason::with(Slug::Unreadable, format!("the required {lacking} is missing"));
        return Some(Doubt { reason, unusable: Unusable::RequiredMissing, refuses: true });
    }
    if let (Some(versions), Some(version)) = (&endpoint.versions, &facts.version)
        && !versions.contains(version)
    {
        let refuses = endpoint.unknown_version == config::Unusable::Refuse;
        let reason = Reason::with(Slug::UnknownVersion, version);
        return Some(Doubt { reason, unusable: Unusable::UnknownVersion, refuses });
    }
    let tenant = tenant(endpoint, in_path, facts);
    let subject = Subject {
        // A plan's hold does not depend on the key; it is made later.
        key: &EventKey::from_stored(""),
        event_type: facts.event_type.as_ref(),
        tenant: tenant.as_ref(),
        occurred_at: facts.occurred_at,
        sequence: facts.sequence.as_ref().map(Sequence::as_str),
        received_at: now,
    };
    match rule::plan(endpoint, subject, &facts.payload, None) {
        Plan::Hold(hold) => {
            let refuses = endpoint.missing_key == config::Unusable::Refuse;
            Some(Doubt { reason: hold.reason(), unusable: Unusable::MissingKeyPart, refuses })
        }
        // Whom to ask is known; what is answered, the processor will hear.
        Plan::NoRule | Plan::Planned(_) | Plan::Ask(_) | Plan::Older(_) => None,
    }
}

/// Whose it is, where the endpoint serves many.
pub(super) fn tenant(endpoint: &Endpoint, in_path: Option<&Tenant>, facts: &Facts) -> Option<Tenant> {
    match endpoint.tenant.as_ref()? {
        TenantFrom::Path => in_path.cloned(),
        TenantFrom::Vendor => facts.tenant.as_deref().map(Tenant::from),
        TenantFrom::Place(source) => {
            let value = facts.payload.read(std::slice::from_ref(source)).ok()?.pop()??;
            value.key_part().map(|text| Tenant::new(text.into_owned()))
        }
    }
}

/// Well signed, but no event can be made of it as the description says.
fn unusable(unreadable: Unreadable, signature: SignatureFacts) -> Result<Drafts, Refused> {
    let refused = match unreadable {
        // The id came from outside the body: kept and shown, not processed.
        Unreadable::Content { outside: Some(facts) } => {
            return Ok(Drafts::held(*facts, signature, Reason::bare(Slug::Unreadable)));
        }
        Unreadable::EmptyBatch { allowed: true } => {
            return Ok(Drafts { events: Vec::new(), filtered: 0 });
        }
        Unreadable::ContentType | Unreadable::ContentEncoding => return Err(Refused::ContentType),
        Unreadable::Content { outside: None } => Unusable::Unreadable,
        Unreadable::NoEventId => Unusable::NoEventId,
        Unreadable::Missing(_) => Unusable::RequiredMissing,
        Unreadable::EmptyBatch { allowed: false } => Unusable::EmptyBatch,
    };
    Err(Refused::Unusable(refused))
}
