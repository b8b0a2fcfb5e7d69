//! A human decided. Every new round is one mechanism: the next generation.

use super::step::At;
use super::{Decision, End, Read, Then};
use crate::ids::OwnerNonce;
use crate::protocol::action::{Action, ActionStatus, EffectResult};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::{ActionWrite, PayloadTtl, Transition};

/// What a human can decide about one event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Send a failed event round again.
    Redrive,
    /// Process a held event after all.
    Release,
    /// A held event is not to be processed.
    Discard,
    /// The effect in doubt happened; this is the evidence.
    Happened {
        /// What the human found.
        evidence: EffectResult,
        /// The nonce of this decision; it takes the next token.
        owner: OwnerNonce,
    },
    /// The effect in doubt certainly did not happen.
    DidNotHappen {
        /// What the human found.
        evidence: String,
        /// The nonce of this decision; it takes the next token.
        owner: OwnerNonce,
    },
}

pub(super) fn on_event(event: &Event, operator: &Operator, at: At<'_>) -> Decision {
    let progress = &event.progress;
    match (operator, progress.status) {
        (Operator::Redrive, EventStatus::Failed) | (Operator::Release, EventStatus::Held) => {
            Decision::write(at.reopen(event), Then::End(End::Send))
        }
        (Operator::Discard, EventStatus::Held) => {
            let reason = Some(Reason::bare(Slug::Discarded));
            Decision::write(at.event_to(event, EventStatus::Ignored, reason), Then::End(End::Drop))
        }
        (Operator::Happened { .. } | Operator::DidNotHappen { .. }, EventStatus::InDoubt) => {
            match &progress.action {
                Some(action) => Decision::Read(Read::Action(action.clone())),
                None => Decision::End(End::Refuse("the event is bound to no action")),
            }
        }
        (Operator::Redrive, EventStatus::InDoubt) => {
            Decision::End(End::Refuse("the event is in doubt: resolve it first"))
        }
        (Operator::Redrive, _) => Decision::End(End::Refuse("only a failed event can be redriven")),
        (Operator::Release | Operator::Discard, _) => Decision::End(End::Refuse("the event is not held")),
        (Operator::Happened { .. } | Operator::DidNotHappen { .. }, _) => {
            Decision::End(End::Refuse("the event is not in doubt"))
        }
    }
}

pub(super) fn on_action(
    event: &Event,
    action: Option<&Action>,
    policy: Option<&EffectPolicy>,
    operator: &Operator,
    at: At<'_>,
) -> Decision {
    let Some(action) = action else {
        return match operator {
            // Nothing is left that could still take effect: the event alone ends.
            Operator::Happened { .. } => {
                Decision::write(at.event_to(event, EventStatus::Processed, None), Then::End(End::Drop))
            }
            Operator::DidNotHappen { evidence, .. } => {
                let reason = Reason::with(Slug::Rejected, evidence);
                Decision::write(at.failed(event, reason, None), Then::End(End::Drop))
            }
            _ => on_event(event, operator, at),
        };
    };
    if let Some(transition) = super::follow::end(event, action, None, at) {
        return Decision::write(transition, Then::End(End::Drop));
    }
    if action.status != ActionStatus::InDoubt {
        return Decision::End(End::Refuse("the action is not in doubt any more: look again"));
    }
    match operator {
        Operator::Happened { evidence, owner } => {
            let done = Action {
                status: ActionStatus::Done,
                token: action.token.next(),
                owner: owner.clone(),
                result: Some(evidence.clone()),
                reason: None,
                settled_at: Some(at.now),
                ..action.clone()
            };
            Decision::write(settled(action, done), Then::Decide)
        }
        // Until lease, deadline and settling time are over the effect may
        // still be on its way: "it did not happen" would be a guess (INV-2).
        Operator::DidNotHappen { .. } if !quiet(action, policy, at) => Decision::End(End::Refuse(
            "the call may still take effect: wait until lease, timeout and settling time are over",
        )),
        Operator::DidNotHappen { evidence, owner } => {
            let rejected = Action {
                status: ActionStatus::Rejected,
                token: action.token.next(),
                owner: owner.clone(),
                reason: Some(Reason::with(Slug::Rejected, evidence)),
                settled_at: Some(at.now),
                ..action.clone()
            };
            Decision::write(settled(action, rejected), Then::Decide)
        }
        Operator::Redrive | Operator::Release | Operator::Discard => on_event(event, operator, at),
    }
}

fn settled(action: &Action, to: Action) -> Transition {
    let put = ActionWrite::Put { from: action.as_read(), to: Box::new(to) };
    Transition { event: None, action: Some(put), resource: None, payload: PayloadTtl::Unchanged }
}

/// Is nothing of the last call on its way any more?
fn quiet(action: &Action, policy: Option<&EffectPolicy>, at: At<'_>) -> bool {
    at.now >= super::probe::quiet_from(action, policy)
}
