//! A human decided. Every new round is one mechanism: the next generation.

use super::step::At;
use super::{Decision, End, Intent, Read, Then, anew};
use crate::ids::OwnerNonce;
use crate::key::EventHash;
use crate::protocol::action::{Action, ActionStatus, EffectResult};
use crate::protocol::event::{ContentFacts, Event, EventStatus, Progress};
use crate::protocol::policy::EffectPolicy;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::transition::{ActionWrite, Transition};

/// What a human can decide about one event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Send a failed event round again.
    Redrive,
    /// Process a held event after all.
    Release,
    /// A held event is not to be processed; a failed one stays failed, and
    /// needs nobody any more.
    Discard,
    /// What has ended is to be forgotten: its content goes, its keys stay.
    Erase,
    /// Cause the effect of a processed event once more, deliberately: the one
    /// way to another generation of an action that is done (INV-2).
    Again {
        /// The nonce of this decision; it takes the next token.
        owner: OwnerNonce,
    },
    /// Send a stored event through today's rules. It keeps the action that it
    /// has won, unless it is forced to let go of it: then today's rules may ask
    /// for another, whose effect comes on top of the first.
    Replay {
        /// Whether it lets go of its action.
        forced: bool,
    },
    /// Take the content of a listed conflict in the place of what the event
    /// has, and send it round with that.
    Accept {
        /// Which content, and what is read off it.
        facts: ContentFacts,
    },
    /// The content of a listed conflict is not wanted.
    Reject {
        /// Which content.
        hash: EventHash,
    },
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

impl Operator {
    /// The word for it in an event's history.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Redrive => "redrive",
            Self::Release => "release",
            Self::Discard => "discard",
            Self::Erase => "erase",
            Self::Again { .. } => "again",
            Self::Replay { forced: false } => "replay",
            Self::Replay { forced: true } => "forced replay",
            Self::Accept { .. } => "accept",
            Self::Reject { .. } => "reject",
            Self::Happened { .. } => "happened",
            Self::DidNotHappen { .. } => "did not happen",
        }
    }

    /// What it is about besides the event: a content, or the evidence.
    pub fn about(&self) -> Option<&str> {
        match self {
            Self::Accept { facts } => Some(facts.hash.as_str()),
            Self::Reject { hash } => Some(hash.as_str()),
            Self::Happened { evidence, .. } => Some(&evidence.0),
            Self::DidNotHappen { evidence, .. } => Some(evidence),
            Self::Redrive
            | Self::Release
            | Self::Discard
            | Self::Erase
            | Self::Again { .. }
            | Self::Replay { .. } => None,
        }
    }
}

/// Nothing goes round with what is no longer there.
const ERASED: &str = "its content was erased: there is nothing to go round with";

/// May the action of an event that has ended still be sent?
fn may_be_ready(event: &Event) -> bool {
    event.progress.status == EventStatus::Failed && event.progress.action.is_some()
}

pub(super) fn on_event(event: &Event, operator: &Operator, at: At<'_>) -> Decision {
    let progress = &event.progress;
    let sends_on = *operator == Operator::Erase && may_be_ready(event);
    if event.is_erased() && !sends_on && !matches!(operator, Operator::Reject { .. }) {
        return Decision::End(End::Refuse(ERASED));
    }
    match (operator, progress.status) {
        (Operator::Erase, _) if event.has_ended() => match &progress.action {
            Some(action) if may_be_ready(event) => Decision::Read(Read::Action(action.clone())),
            _ => Decision::write(erased(event, at), Then::End(End::Drop)),
        },
        (Operator::Erase, _) => Decision::End(End::Refuse(
            "it has not ended and still needs its content: let it end, or discard it, first",
        )),
        (Operator::Redrive, EventStatus::Failed) | (Operator::Release, EventStatus::Held) => {
            Decision::write(at.reopen(event), Then::End(End::Send))
        }
        (Operator::Discard, EventStatus::Held) => {
            let reason = Some(Reason::bare(Slug::Discarded));
            Decision::write(at.event_to(event, EventStatus::Ignored, reason), Then::End(End::Drop))
        }
        (Operator::Discard, EventStatus::Failed) if event.is_discarded() => {
            Decision::End(End::Refuse("the event is discarded already"))
        }
        (Operator::Discard, EventStatus::Failed) => {
            Decision::write(discarded(event, at), Then::End(End::Drop))
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
        (Operator::Again { .. } | Operator::Replay { .. } | Operator::Accept { .. }, _) => {
            anew::on_event(event, operator, at)
        }
        // Nothing moves; that somebody looked at it goes on record.
        (Operator::Reject { hash }, _) if event.seen.conflict_hashes.contains(hash) => {
            Decision::write(Transition::default(), Then::End(End::Drop))
        }
        (Operator::Reject { .. }, _) => Decision::End(End::Refuse(anew::NO_SUCH_CONFLICT)),
        (Operator::Release, _) => Decision::End(End::Refuse("the event is not held")),
        (Operator::Discard, _) => Decision::End(End::Refuse("the event is neither held nor failed")),
        (Operator::Happened { .. } | Operator::DidNotHappen { .. }, _) => {
            Decision::End(End::Refuse("the event is not in doubt"))
        }
    }
}

/// Nobody needs to look at it any more: it leaves the index and gets a TTL, as
/// what is finished does. It stays failed, with the cause, and a redrive that
/// names it still opens its next generation.
fn discarded(event: &Event, at: At<'_>) -> Transition {
    let cause = event.progress.reason.as_ref().map(|reason| match &reason.cause {
        Some(cause) => format!("{}: {cause}", reason.slug.as_str()),
        None => reason.slug.as_str().to_owned(),
    });
    let to = Progress {
        reason: Some(Reason { slug: Slug::Discarded, cause }),
        expires: Some(at.now.expires_after(at.limits.window)),
        due: None,
        ..event.progress.clone()
    };
    at.event_with(event, to)
}

/// From this write on nothing sends it round any more; then its content may go.
/// A destination's own words may hold personal data: only the class stays.
fn erased(event: &Event, at: At<'_>) -> Transition {
    if event.is_erased() {
        return Transition::default();
    }
    let class = event.progress.reason.as_ref().map(|reason| reason.slug.as_str().to_owned());
    let reason = Some(Reason { slug: Slug::Erased, cause: class });
    at.event_with(event, Progress { reason, ..event.progress.clone() })
}

/// What is ready would be sent by whoever claims it next, with the bytes that
/// are to go: that generation ends here. The next has bytes of its own (INV-2).
fn closed(event: &Event, action: Option<&Action>, at: At<'_>) -> Option<ActionWrite> {
    let action =
        action.filter(|action| action.status == ActionStatus::Ready && action.begun_by == event.key)?;
    let rejected = Action {
        status: ActionStatus::Rejected,
        reason: Some(Reason::with(Slug::Rejected, "what it would send was erased")),
        settled_at: Some(at.now),
        ..action.clone()
    };
    Some(ActionWrite::Put { from: action.as_read(), to: Box::new(rejected) })
}

pub(super) fn on_action(
    (event, action): (&Event, Option<&Action>),
    policy: Option<&EffectPolicy>,
    intent: Option<&Intent<'_>>,
    operator: &Operator,
    at: At<'_>,
) -> Decision {
    if *operator == Operator::Erase && event.has_ended() {
        let action = closed(event, action, at);
        if event.is_erased() && action.is_none() {
            return Decision::End(End::Refuse(ERASED));
        }
        let transition = Transition { action, ..erased(event, at) };
        return Decision::write(transition, Then::End(End::Drop));
    }
    if event.progress.status != EventStatus::InDoubt {
        return anew::on_action((event, action), intent, operator, at);
    }
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
        _ => on_event(event, operator, at),
    }
}

fn settled(action: &Action, to: Action) -> Transition {
    let put = ActionWrite::Put { from: action.as_read(), to: Box::new(to) };
    Transition { action: Some(put), ..Transition::default() }
}

/// Is nothing of the last call on its way any more?
fn quiet(action: &Action, policy: Option<&EffectPolicy>, at: At<'_>) -> bool {
    at.now >= super::probe::quiet_from(action, policy)
}
