//! Transitions that aim at the items as they stand, and sometimes miss.

use super::call::{event_status, pick};
use super::{ACTIONS, CONTENTS, EVENTS, Pick, RESOURCES};
use crate::contract::sample::{NOW, Sample, content, expires, facts, full_progress, progress};
use crate::memory::Tables;
use proptest::prelude::*;
use sekali::ids::{Generation, OwnerNonce, Status, Token, Version};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus};
use sekali::protocol::event::{Event, EventGuard, EventStatus, Progress};
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ActionWrite, Content, EventWrite, ResourceWrite, Transition};
use sekali::time::UnixMillis;

/// How a reading differs from what is stored.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stale {
    Status,
    Generation,
    /// By its content, its token or its version.
    Other,
    /// By when it is due and whether it expires.
    Times,
    /// It was read before the item was there.
    Absent,
}

/// A transition to be: which items, read how, and what they become.
#[derive(Debug, Clone)]
pub(super) struct Aim {
    event: Option<EventAim>,
    action: Option<(Pick, ActionAim)>,
    resource: Option<(Pick, Option<Stale>, u8)>,
}

#[derive(Debug, Clone, Copy)]
struct EventAim {
    event: Pick,
    stale: Option<Stale>,
    names_due: bool,
    status: EventStatus,
    next_generation: bool,
    due: Option<u8>,
    action: Option<Pick>,
    full: bool,
    /// Another content is accepted.
    content: Option<Pick>,
}

#[derive(Debug, Clone, Copy)]
enum ActionAim {
    Claim { stale: Option<Stale>, owner: u8, status: ActionStatus, anew: bool },
    Settle { owner: Option<u8>, status: ActionStatus, full: bool },
    Check { stale: Option<Stale> },
}

pub(super) fn stale() -> impl Strategy<Value = Option<Stale>> {
    let stale = [Stale::Status, Stale::Generation, Stale::Other, Stale::Times, Stale::Absent];
    prop_oneof![3 => Just(None), 2 => prop::sample::select(stale.to_vec()).prop_map(Some)]
}

pub(super) fn aim() -> impl Strategy<Value = Aim> {
    let action = || (pick(ACTIONS.len()), action_aim());
    let resource = || (pick(RESOURCES.len()), stale(), 0..3_u8);
    // One item alone misses for its own reason only.
    prop_oneof![
        3 => event_aim().prop_map(|event| Aim { event: Some(event), action: None, resource: None }),
        3 => action().prop_map(|action| Aim { event: None, action: Some(action), resource: None }),
        1 => resource().prop_map(|resource| Aim { event: None, action: None, resource: Some(resource) }),
        3 => (prop::option::of(event_aim()), prop::option::of(action()), prop::option::of(resource()))
            .prop_map(|(event, action, resource)| Aim { event, action, resource }),
    ]
}

fn event_aim() -> impl Strategy<Value = EventAim> {
    let from = (pick(EVENTS.len()), stale(), any::<bool>());
    let action = prop::option::of(0..ACTIONS.len());
    let content = prop::option::weighted(0.2, pick(CONTENTS.len()));
    let full = prop::bool::weighted(0.2);
    let to = (event_status(), any::<bool>(), prop::option::of(0..4_u8), action, full, content);
    (from, to).prop_map(
        |((event, stale, names_due), (status, next_generation, due, action, full, content))| EventAim {
            event,
            stale,
            names_due,
            status,
            next_generation,
            due,
            action,
            full,
            content,
        },
    )
}

fn action_aim() -> impl Strategy<Value = ActionAim> {
    let status = || prop::sample::select(ActionStatus::ALL.to_vec());
    prop_oneof![
        3 => (stale(), 0..3_u8, status(), any::<bool>())
            .prop_map(|(stale, owner, status, anew)| ActionAim::Claim { stale, owner, status, anew }),
        2 => (prop::option::weighted(0.2, 0..3_u8), status(), any::<bool>())
            .prop_map(|(owner, status, full)| ActionAim::Settle { owner, status, full }),
        1 => stale().prop_map(|stale| ActionAim::Check { stale }),
    ]
}

/// The present and some seconds.
pub(super) fn at(seconds: u8) -> UnixMillis {
    UnixMillis(NOW.0 + i64::from(seconds) * 1_000)
}

impl Aim {
    /// The transition, decided on the tables as they stand.
    pub(super) fn transition(&self, sample: &Sample, tables: &Tables) -> Transition {
        Transition {
            event: self.event.map(|aim| aim.write(sample, tables)),
            action: self.action.map(|(action, aim)| aim.write(sample, tables, action)),
            resource: self.resource.map(|(resource, stale, status)| {
                resource_write(tables, sample.resource(RESOURCES[resource]), stale, status)
            }),
            ..Transition::default()
        }
    }
}

/// An event as stored, or as somebody would remember it.
pub(super) fn seen_event(sample: &Sample, tables: &Tables, event: Pick, stale: Option<Stale>) -> Event {
    let absent = sample.event(EVENTS[event]);
    let mut seen = tables.event(&absent.key).cloned().unwrap_or(absent);
    match stale {
        None | Some(Stale::Absent) => {}
        Some(Stale::Status) if seen.progress.status == EventStatus::Received => {
            seen.progress.status = EventStatus::Processing;
        }
        Some(Stale::Status) => seen.progress.status = EventStatus::Received,
        Some(Stale::Generation) => seen.progress.generation = seen.progress.generation.next(),
        Some(Stale::Other) => seen.hash = content("never stored"),
        Some(Stale::Times) => {
            seen.progress.due = Some(at(8));
            seen.progress.expires = seen.progress.expires.is_none().then(|| expires(60));
        }
    }
    seen
}

impl EventAim {
    fn write(self, sample: &Sample, tables: &Tables) -> EventWrite {
        let seen = seen_event(sample, tables, self.event, self.stale);
        let due = if self.names_due { seen.progress.due } else { None };
        let from = EventGuard { due, ..seen.guard() };
        let content = self
            .content
            .map(|content| Content { facts: facts(CONTENTS[content]), conflicts: vec![seen.hash.clone()] });
        EventWrite { key: seen.key, from, to: self.progress(sample, &seen.progress), content }
    }

    fn progress(self, sample: &Sample, seen: &Progress) -> Progress {
        if self.full {
            return full_progress(sample.action_key(ACTIONS[0]));
        }
        Progress {
            generation: if self.next_generation { seen.generation.next() } else { seen.generation },
            action: self.action.map(|action| sample.action_key(ACTIONS[action])),
            action_generation: self.action.map(|_| Generation::FIRST),
            due: self.due.map(at),
            ..progress(self.status)
        }
    }
}

impl ActionAim {
    fn write(self, sample: &Sample, tables: &Tables, action: Pick) -> ActionWrite {
        let absent = sample.action(ACTIONS[action]);
        let found = tables.action(&absent.key);
        let stored = found.unwrap_or(&absent);
        let nonce = |number: u8| OwnerNonce::new(format!("owner-{number}"));
        match self {
            Self::Claim { stale, owner, status, anew } => {
                let from = match stale {
                    Some(Stale::Absent) => ActionGuard::Absent,
                    None if found.is_none() => ActionGuard::Absent,
                    stale => seen_action(stored, stale).as_read(),
                };
                let (owner, token) = (nonce(owner), stored.token.next());
                let mut to = Action { status, owner, token, ..stored.clone() };
                // A request is frozen when its generation begins, and only then.
                if anew {
                    to.generation = stored.generation.next();
                    to.request = sample.full_action(ACTIONS[action]).request;
                }
                ActionWrite::Put { from, to: Box::new(to) }
            }
            Self::Settle { owner, status, full } => {
                let owner = owner.map_or(stored.owner.clone(), nonce);
                let from = ActionGuard::Held { owner, token: stored.token };
                let mut to = Action { status, ..stored.clone() };
                if full {
                    let full = sample.full_action(ACTIONS[action]);
                    to = Action { request: to.request, generation: to.generation, ..full };
                }
                ActionWrite::Put { from, to: Box::new(to) }
            }
            Self::Check { stale } => ActionWrite::Check { action: Box::new(seen_action(stored, stale)) },
        }
    }
}

fn seen_action(stored: &Action, stale: Option<Stale>) -> Action {
    let mut seen = stored.clone();
    match stale {
        None | Some(Stale::Absent | Stale::Times) => {}
        Some(Stale::Status) if seen.status == ActionStatus::Ready => seen.status = ActionStatus::Begun,
        Some(Stale::Status) => seen.status = ActionStatus::Ready,
        Some(Stale::Generation) => seen.generation = seen.generation.next(),
        Some(Stale::Other) => seen.token = Token::from_stored(seen.token.get().saturating_add(7)),
    }
    seen
}

fn resource_write(tables: &Tables, fresh: Resource, stale: Option<Stale>, status: u8) -> ResourceWrite {
    let found = tables.resource(&fresh.key);
    let version = found.map_or(Version::FIRST, |resource| resource.version);
    let from = match stale {
        None => ResourceGuard::of(found),
        Some(Stale::Absent) => ResourceGuard::Absent,
        Some(_) => ResourceGuard::Version(version.next()),
    };
    let status = Status::new(format!("status-{status}"));
    ResourceWrite { from, to: Resource { status, version: version.next(), ..fresh } }
}
