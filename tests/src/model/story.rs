//! What the model's events say: content, rules, keys; and the event that a
//! delivery would create.

use super::bring;
use super::catalog::{Catalog, EventRef, at, content, facts, put_nonce};
use super::mutant::Slip;
use super::scenario::{Content, EVENTS, Told, Wish};
use super::world::Rules;
use sekali::config::Graph;
use sekali::ids::{
    ActionName, CorrelationId, DestinationName, EndpointName, Generation, PutNonce, ResourceKind, Tenant,
    VendorName,
};
use sekali::key::{ActionKey, DedupScope, EventKey, ResourceKey};
use sekali::protocol::action::FrozenRequest;
use sekali::protocol::decide::{Intent, Wanted};
use sekali::protocol::event::{ContentFacts, Event, EventStatus, Progress, Seen, SignatureFacts};
use sekali::protocol::order::{Move, ToldBy};
use sekali::protocol::reason::{Reason, Slug};
use sekali::rule::{InputDigest, OrderValue, Sequence};
use sekali::time::UnixMillis;
use std::sync::LazyLock;

/// Without a cycle, so that a rank tells forth from back.
#[expect(clippy::expect_used, reason = "four statuses are not too many")]
static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    Graph::new([("pending", "paid"), ("paid", "shipped"), ("shipped", "closed")]).expect("a small graph")
});

/// What goes back and forth: only the order of the answers tells one from the other.
#[expect(clippy::expect_used, reason = "two statuses are not too many")]
static LOOP: LazyLock<Graph> =
    LazyLock::new(|| Graph::new([("active", "resting"), ("resting", "active")]).expect("a small graph"));

static KEYS: LazyLock<[EventKey; EVENTS]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        EventKey::new(&DedupScope("shop".to_owned()), None, &[Some(&place.to_string())])
    })
});

/// The key of the event at a place.
pub(super) fn event_key(place: usize) -> &'static EventKey {
    &KEYS[place]
}

fn place(event: &Event) -> usize {
    KEYS.iter().position(|key| *key == event.key).unwrap_or(0)
}

impl Catalog {
    /// What the rules want of an event, from its stored content.
    pub fn intent(&self, event: &Event, rules: Rules) -> Intent<'static> {
        let held = self.content(event).held;
        let content = self.ruled(event);
        let told = match rules {
            Rules::NoPayload => return Intent::PayloadMissing,
            Rules::Payload => None,
            Rules::Told(Told::Nothing) => {
                return Intent::Unknown { reason: Reason::bare(Slug::TruthUnread), not_before: None };
            }
            Rules::Told(Told::Never) => return Intent::Unknowable(Reason::bare(Slug::TruthRefused)),
            Rules::Told(Told::Step(step)) => Some(step),
        };
        if told < content.signal && self.protocol.slip != Some(Slip::TakesWhatIsOlder) {
            return Intent::Unknown { reason: Reason::bare(Slug::TruthOlder), not_before: None };
        }
        if held && event.progress.generation == Generation::FIRST {
            return Intent::Hold(Reason::bare(Slug::MissingKeyPart));
        }
        let moves = self.moves(event, content, told);
        if moves.is_none() && content.asks.is_none() {
            return Intent::Nothing(Reason::bare(Slug::NoRule));
        }
        Intent::Act {
            moves,
            action: content.asks.map(|wish| Wanted {
                name: ActionName::from(wish.name),
                key: self.action_key(event, wish),
                // The event's number makes the bytes of two events differ, and
                // the step those of two answers.
                request: FrozenRequest {
                    destination: DestinationName::from("packing"),
                    body: vec![wish.effect, u8::try_from(place(event)).unwrap_or(0), told.unwrap_or(0)],
                    resource: None,
                },
                input: InputDigest::from_stored(place(event).to_string()),
                late: wish.late,
                policy: self.policy(),
            }),
        }
    }

    /// What an event says of its resource, or the vendor's API in its place.
    fn moves(&self, event: &Event, content: &Content, told: Option<u8>) -> Option<Move<'static>> {
        let (to, number, told_by, graph) = match told {
            None => {
                let (to, number) = content.moves?;
                (to, Some(number), ToldBy::Event, &GRAPH)
            }
            Some(step) => {
                let (to, number) = *self.slice.api.course.get(usize::from(step))?;
                (to, number, ToldBy::Api, &LOOP)
            }
        };
        let order = number.and_then(Sequence::parse).map_or(OrderValue::Rank, OrderValue::Sequence);
        Some(Move { told_by, resource: self.resource_key(event), to: to.into(), order, graph })
    }

    /// What an event's content says.
    pub fn content(&self, event: &Event) -> &'static Content {
        &self.slice.stories[place(event)].contents[content(&event.hash)]
    }

    /// What the rule of an event's type makes of it.
    fn ruled(&self, event: &Event) -> &'static Content {
        let of_the_first = event.event_type == facts(0).event_type;
        &self.slice.stories[place(event)].contents[usize::from(!of_the_first)]
    }

    fn resource_key(&self, event: &Event) -> ResourceKey {
        ResourceKey::new(&ResourceKind::from("payment"), event.tenant.as_ref(), "p1")
    }

    fn action_key(&self, event: &Event, wish: Wish) -> ActionKey {
        let tenant = event.tenant.as_ref().filter(|_| self.protocol.slip != Some(Slip::KeyWithoutTenant));
        let nameless = self.protocol.slip == Some(Slip::KeyWithoutName);
        let name = ActionName::from(if nameless { "" } else { wish.name });
        let joined = wish.fields.concat();
        let generation = event.progress.generation.to_string();
        match (self.protocol.slip, wish.fields) {
            (Some(Slip::KeyPerAttempt), _) => {
                let attempt = event.progress.attempts.to_string();
                ActionKey::from_fields(&name, tenant, &[&attempt])
            }
            (Some(Slip::KeyPerRound), _) => ActionKey::from_fields(&name, tenant, &[&generation]),
            (_, []) => ActionKey::from_event(&name, tenant, &event.key),
            (Some(Slip::KeyPartsRunTogether), _) => ActionKey::from_fields(&name, tenant, &[&joined]),
            (_, fields) => ActionKey::from_fields(&name, tenant, fields),
        }
    }

    /// The event that a delivery would create.
    pub fn new_event(&mut self, place: usize, arrival: usize, attempt: u8, tick: u8) -> EventRef {
        if let Some(known) = self.arrived.get(&(place, arrival, attempt, tick)) {
            return *known;
        }
        let arrived = self.slice.arrivals.get(arrival);
        let content = arrived.map_or(0, |arrived| arrived.content);
        let story = arrived.map_or(place, |arrived| arrived.story);
        let event = self.drafted(place, (story, content), put_nonce(arrival, attempt), at(tick));
        let number = self.number_event(event);
        self.arrived.insert((place, arrival, attempt, tick), number);
        number
    }

    /// The event as it is brought from the vendor's own list.
    pub fn brought_event(&mut self, attempt: u8, tick: u8) -> EventRef {
        let nonce = PutNonce::new(format!("brought-{attempt}"));
        let event = self.drafted(bring::PLACE, (bring::PLACE, bring::LISTED), nonce, at(tick));
        self.number_event(Event { signature: SignatureFacts::of_list(), ..event })
    }

    fn drafted(
        &self,
        place: usize,
        (story, content): (usize, usize),
        put_nonce: PutNonce,
        now: UnixMillis,
    ) -> Event {
        let held = self.slice.stories[story].contents[content].held;
        let limits = self.limits();
        let ContentFacts { hash, event_type, version, occurred_at, sequence } = facts(content);
        Event {
            key: event_key(place).clone(),
            endpoint: EndpointName::from("shop"),
            vendor: VendorName::from("stripe"),
            tenant: self.slice.stories[story].tenant.map(Tenant::from),
            id: format!("e{place}"),
            event_type,
            version,
            occurred_at,
            sequence,
            received_at: now,
            put_nonce,
            correlation: CorrelationId::from("c"),
            signature: SignatureFacts { secret: None, scheme: String::new(), signed_at: None },
            hash,
            seen: Seen {
                deliveries: 1,
                last_at: now,
                conflicts: 0,
                conflict_hashes: Vec::new(),
                repeated_as: None,
            },
            progress: Progress {
                status: if held { EventStatus::Held } else { EventStatus::Received },
                generation: Generation::FIRST,
                opened_at: now,
                attempts: 0,
                sweeps: 0,
                action: None,
                action_generation: None,
                let_go: Vec::new(),
                reason: held.then(|| Reason::bare(Slug::MissingKeyPart)),
                failed_at: None,
                expires: (!held).then(|| now.expires_after(limits.window)),
                due: Some(if held { now } else { limits.next_sweep(0, now) }),
                waits: false,
            },
        }
    }

    /// Resource and action that the rules name for an event, and the effect
    /// that its content asks for, whatever rule it is put to.
    pub fn asks_for(&self, event: &Event) -> (Option<ResourceKey>, Option<ActionKey>, Option<u8>) {
        let rules = match self.content(event).signal {
            Some(step) => Rules::Told(Told::Step(step)),
            None => Rules::Payload,
        };
        let (shelf, key, _) = named(self.intent(event, rules));
        let truly = event.clone().with(&facts(content(&event.hash)));
        let (_, _, effect) = named(self.intent(&truly, rules));
        (shelf, key, effect)
    }
}

/// Resource, action and effect of an intent.
fn named(intent: Intent<'_>) -> (Option<ResourceKey>, Option<ActionKey>, Option<u8>) {
    match intent {
        Intent::Act { moves, action } => (
            moves.map(|wanted| wanted.resource),
            action.as_ref().map(|wanted| wanted.key.clone()),
            action.map(|wanted| wanted.request.body[0]),
        ),
        _ => (None, None, None),
    }
}
