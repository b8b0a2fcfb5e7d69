//! A human wants a stored event once more: its effect again, today's rules, or
//! other content. Each is the event's next generation.

use super::begin::Asks;
use super::claim::same_action;
use super::step::At;
use super::{Decision, End, Intent, Operator, Read, Then};
use crate::ids::OwnerNonce;
use crate::protocol::action::{Action, ActionStatus, FrozenRequest};
use crate::protocol::event::{ACTIONS_LET_GO, ContentFacts, Event, EventStatus};
use crate::protocol::transition::{ActionWrite, Content, PayloadTtl, Transition};

pub(super) const NO_SUCH_CONFLICT: &str = "no conflict with this content is listed";

/// What stands before a new round.
fn refusal(event: &Event) -> Option<&'static str> {
    match event.progress.status {
        EventStatus::Received | EventStatus::Processing => Some("the event is still under way"),
        EventStatus::InDoubt => Some("the event is in doubt: resolve it first"),
        EventStatus::Processed | EventStatus::Ignored | EventStatus::Failed | EventStatus::Held => None,
    }
}

fn refuse(why: &'static str) -> Decision {
    Decision::End(End::Refuse(why))
}

pub(super) fn on_event(event: &Event, operator: &Operator, at: At<'_>) -> Decision {
    if let Some(why) = refusal(event) {
        return refuse(why);
    }
    let bound_to = event.progress.action.as_ref();
    match (operator, event.progress.status) {
        (Operator::Again { .. }, EventStatus::Failed) => refuse("the event failed: redrive it"),
        (Operator::Again { .. }, EventStatus::Held) => refuse("the event is held: release or discard it"),
        (Operator::Accept { facts }, _) if !event.seen.conflict_hashes.contains(&facts.hash) => {
            refuse(NO_SUCH_CONFLICT)
        }
        (Operator::Again { .. } | Operator::Accept { .. } | Operator::Replay { forced: true }, _)
            if bound_to.is_some() =>
        {
            bound_to.map_or(refuse("it is bound to no action"), |action| {
                Decision::Read(Read::Action(action.clone()))
            })
        }
        (Operator::Accept { facts }, _) => Decision::write(accepted(event, facts, at), Then::End(End::Send)),
        _ => Decision::write(at.reopen(event), Then::End(End::Send)),
    }
}

pub(super) fn on_action(
    (event, action): (&Event, Option<&Action>),
    intent: Option<&Intent<'_>>,
    operator: &Operator,
    at: At<'_>,
) -> Decision {
    if let Some(why) = refusal(event) {
        return refuse(why);
    }
    match (operator, action) {
        (Operator::Again { owner }, Some(action)) => match (action.status, intent) {
            (ActionStatus::Done, None) => Decision::Read(Read::Intent),
            (ActionStatus::Done, Some(intent)) => again(event, (action, owner), intent, at),
            (ActionStatus::Rejected, _) => {
                refuse("its last generation was rejected: redrive the event that began it")
            }
            (ActionStatus::Begun | ActionStatus::Ready | ActionStatus::InDoubt, _) => {
                refuse("its action is under way: look again when that has come to its end")
            }
        },
        (Operator::Again { .. }, None) => {
            refuse("the record of its action is gone: nobody knows what to repeat")
        }
        (Operator::Replay { .. } | Operator::Accept { .. }, Some(action)) if !is_settled(action) => {
            refuse("its action is not settled: look again when it is")
        }
        (Operator::Replay { .. }, _) => unbound(at.reopen(event), event, action),
        (Operator::Accept { facts }, _) if event.seen.conflict_hashes.contains(&facts.hash) => {
            unbound(accepted(event, facts, at), event, action)
        }
        (Operator::Accept { .. }, _) => refuse(NO_SUCH_CONFLICT),
        _ => super::operator::on_event(event, operator, at),
    }
}

fn is_settled(action: &Action) -> bool {
    matches!(action.status, ActionStatus::Done | ActionStatus::Rejected)
}

/// The action's next generation, ready to be begun by whoever claims, and the
/// event that follows it: in one write, so that nobody begins it unseen. The
/// bytes are today's where the rules still name the same action.
fn again(
    event: &Event,
    (action, owner): (&Action, &OwnerNonce),
    intent: &Intent<'_>,
    at: At<'_>,
) -> Decision {
    let Some(asks) = same_action(intent, action).or_else(|| Asks::anew(action)) else {
        return refuse("what was sent before was erased, and today's rules name another action");
    };
    let ready = Action {
        status: ActionStatus::Ready,
        generation: action.generation.next(),
        token: action.token.next(),
        owner: owner.clone(),
        lease_until: at.now,
        first_begun_at: at.now,
        request: FrozenRequest::clone(asks.request),
        input: asks.input.clone(),
        begun_by: event.key.clone(),
        doubted: false,
        result: None,
        reason: None,
        settled_at: None,
        last_done: Some(action.generation),
        ..action.clone()
    };
    let mut transition = at.reopen(event);
    if let Some(write) = &mut transition.event {
        write.to.action_generation = Some(ready.generation);
    }
    transition.action = Some(ActionWrite::Put { from: action.as_read(), to: Box::new(ready) });
    Decision::write(transition, Then::End(End::Send))
}

/// The event lets go of its action, which must not move at that moment. What it
/// began itself it remembers, to have it erased one day; the list is bounded
/// (INV-8), and none is forgotten for another.
fn unbound(mut transition: Transition, event: &Event, action: Option<&Action>) -> Decision {
    let mut let_go = event.progress.let_go.clone();
    if let Some(action) = action.filter(|action| action.begun_by == event.key)
        && !let_go.contains(&action.key)
    {
        let_go.push(action.key.clone());
    }
    if let_go.len() > ACTIONS_LET_GO {
        return refuse(
            "it has let go of three actions already: what more it sent could not be erased with it",
        );
    }
    if let Some(write) = &mut transition.event {
        write.to.action = None;
        write.to.action_generation = None;
        write.to.let_go = let_go;
        write.from.hash = Some(event.hash.clone());
    }
    transition.action = action.map(|action| ActionWrite::Check { action: Box::new(action.clone()) });
    Decision::write(transition, Then::End(End::Send))
}

/// The next generation with other content and what is read off that. Event and
/// new payload carry no TTL until the event is finished (INV-9).
fn accepted(event: &Event, facts: &ContentFacts, at: At<'_>) -> Transition {
    let mut transition = at.reopen(event);
    if let Some(write) = &mut transition.event {
        let others = event.seen.conflict_hashes.iter().filter(|other| **other != facts.hash).cloned();
        let conflicts = others.chain([event.hash.clone()]).collect();
        write.from.hash = Some(event.hash.clone());
        write.from.counted = Some(event.seen.counted());
        write.to.expires = None;
        write.content = Some(Content { facts: facts.clone(), conflicts });
    }
    let generation = event.progress.generation.next();
    transition.payload = PayloadTtl::KeepBefore(event.key.clone(), facts.hash.clone(), generation);
    transition
}
