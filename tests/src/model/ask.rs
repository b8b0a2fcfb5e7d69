//! Asking `decide`, with the real values behind the numbers. The same question
//! gets the same answer, so it is asked once.

use super::catalog::{
    ActionRef, Catalog, DecisionRef, EventRef, ResourceRef, at, facts, hash, other, put_nonce,
};
use super::scenario::{Answer, Finding, TICK};
use super::world::{Act, Rules, Shut, World};
use sekali::ids::OwnerNonce;
use sekali::ports::{Found, Outcome};
use sekali::protocol::action::EffectResult;
use sekali::protocol::decide::{Decision, Delivery, Input, Operator, Presence, State, Undecidable};
use sekali::protocol::policy::{EffectPolicy, Gate, Lease, Limits, Stamp, Worker};
use std::time::Duration;

/// A question to `decide`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ask {
    tick: u8,
    gate: Gate,
    /// By how many ticks pauses have made every round longer.
    waited: u8,
    event: EventRef,
    known: Known,
    input: Asked,
}

/// What was read besides the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Known {
    Nothing,
    Bound { action: Option<ActionRef>, rules: Option<Rules> },
    Planned { rules: Rules, resource: Option<ResourceRef>, wanted: Option<ActionRef> },
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    Delivery { delivery: usize, attempt: u8, content: usize, first: Option<bool> },
    Message { moved: Option<u8>, nonce: u8, lease: Option<u8> },
    Outcome(Answer),
    Probed { finding: Finding, asked: u8 },
    Refused { moved: Option<u8> },
    Sweep,
    Human(Act),
}

impl Ask {
    /// A question in a state.
    pub fn of(world: &World, event: EventRef, known: Known, input: Asked) -> Self {
        Self { tick: world.tick, gate: Gate::Open, waited: world.waited, event, known, input }
    }

    /// By one who read before that the endpoint is paused, or drains. Only the
    /// sweeper gives turns; `early`: to what waits and is not due.
    pub fn at_gate(self, shut: Shut, early: bool) -> Self {
        let gate = match (shut, self.input) {
            (Shut::Paused, _) => Gate::Paused,
            // What waits and is not due comes by the turns that are left over.
            (Shut::Drains(_), Asked::Sweep) if early => Gate::Ahead,
            (Shut::Drains(until), Asked::Sweep) if self.tick < until => Gate::Later,
            (Shut::Drains(_) | Shut::No, _) => Gate::Open,
        };
        Self { gate, ..self }
    }
}

impl Catalog {
    /// Asks, or remembers the answer.
    pub fn ask(&mut self, ask: Ask) -> Result<DecisionRef, Undecidable> {
        if let Some(known) = self.asked.get(&ask) {
            return known.clone();
        }
        let decided = self.decide(ask).map(|decision| self.number_decision(decision));
        self.asked.insert(ask, decided.clone());
        decided
    }

    fn decide(&self, ask: Ask) -> Result<Decision, Undecidable> {
        let event = self.event(ask.event);
        let policy = self.policy();
        let rules = match ask.known {
            Known::Planned { rules, .. } => rules,
            Known::Bound { rules, .. } => rules.unwrap_or(Rules::NoPayload),
            Known::Nothing => Rules::NoPayload,
        };
        let intent = self.intent(event, rules);
        let limits = self.limits();
        let limits = Limits { gate: ask.gate, age: limits.age + TICK * u32::from(ask.waited), ..limits };
        let state = match ask.known {
            Known::Nothing => State::Stored(event),
            Known::Bound { action, rules } => State::Bound {
                event,
                action: action.map(|action| self.action(action)),
                policy: action.is_some().then_some(&policy),
                intent: rules.is_some().then_some(&intent),
            },
            Known::Planned { resource, wanted, .. } => State::Planned {
                event,
                intent: &intent,
                resource: resource.map(|resource| self.resource(resource)),
                action: wanted.map(|action| self.action(action)),
            },
        };
        let say = |input: Input<'_>| (self.protocol.decide)(state, input, at(ask.tick), &limits);
        match ask.input {
            Asked::Delivery { delivery, attempt, content, first } => {
                let first_payload = match first {
                    None => Presence::NotRead,
                    Some(true) => Presence::There,
                    Some(false) => Presence::Missing,
                };
                let put_nonce = put_nonce(delivery, attempt);
                let arrives = self.slice.arrivals[delivery];
                let held = self.slice.stories[arrives.story].contents[arrives.content].held;
                say(Input::Delivery(&Delivery { put_nonce, hash: hash(content), held, first_payload }))
            }
            Asked::Message { moved, nonce, lease } => {
                let lease = lease.map_or(Lease::TooLittleTime, |until| Lease::Until(at(until)));
                let worker = Worker { owner: owner(nonce), lease };
                say(Input::Message { stamp: stamp(ask.tick, moved), worker: &worker })
            }
            Asked::Outcome(answer) => say(Input::Outcome { outcome: &outcome(answer) }),
            Asked::Probed { finding, asked } => {
                say(Input::Probed { found: &found(finding), asked_at: at(asked) })
            }
            Asked::Refused { moved } => {
                say(Input::StoreRefused { cause: "too large", stamp: stamp(ask.tick, moved) })
            }
            Asked::Sweep => say(Input::Sweep),
            Asked::Human(act) => say(Input::Operator(&operator(act, self.event_facts(ask.event).content))),
        }
    }

    /// The bounds of the slice.
    pub fn limits(&self) -> Limits {
        let bounds = self.slice.bounds;
        Limits {
            attempts: bounds.attempts,
            sweeps: bounds.sweeps,
            age: TICK * u32::from(bounds.age),
            first_sweep: TICK,
            longest_sweep: TICK,
            grace: TICK,
            window: TICK * u32::from(bounds.window),
            gate: Gate::Open,
        }
    }

    pub fn policy(&self) -> EffectPolicy {
        let promise = self.slice.promise;
        EffectPolicy {
            in_doubt: promise.in_doubt,
            honours_key_for: promise.honours.map(|ticks| TICK * u32::from(ticks)),
            timeout: Duration::ZERO,
            settling: TICK * u32::from(promise.settling),
        }
    }
}

/// The owner nonce with a number.
pub(super) fn owner(nonce: u8) -> OwnerNonce {
    OwnerNonce::new(nonce.to_string())
}

fn stamp(tick: u8, moved: Option<u8>) -> Stamp {
    // Our own sends may be late too, though never as late as a moved message.
    let on_its_way = if moved.is_some() { TICK } else { Duration::from_secs(30) };
    let stamped_at = at(moved.unwrap_or(tick));
    Stamp { written_at: stamped_at.minus(on_its_way), stamped_at }
}

fn outcome(answer: Answer) -> Outcome {
    let rejected = |decisive| Outcome::Rejected { cause: "422".to_owned(), decisive };
    let not_started =
        |cause: &str, decisive| Outcome::NotStarted { cause: cause.to_owned(), not_before: None, decisive };
    match answer {
        Answer::Done => Outcome::Done(EffectResult("task".to_owned())),
        Answer::Rejected => rejected(false),
        Answer::RejectedDecisive => rejected(true),
        Answer::NotStarted => not_started("503", false),
        Answer::NotStartedDecisive => not_started("503", true),
        Answer::LeaseOver => not_started("no lease", false),
        Answer::ActsUnheard | Answer::Silent | Answer::ActsLater => Outcome::unknown("timeout"),
    }
}

fn found(finding: Finding) -> Found {
    match finding {
        Finding::Done => Found::Done(EffectResult("task".to_owned())),
        Finding::NotDone => Found::NotDone("404".to_owned()),
        Finding::Unknown => Found::Unknown("timeout".to_owned()),
    }
}

fn operator(act: Act, content: usize) -> Operator {
    let owner = OwnerNonce::from("human");
    match act {
        Act::Redrive => Operator::Redrive,
        Act::Release => Operator::Release,
        Act::Discard => Operator::Discard,
        Act::Happened => Operator::Happened { evidence: EffectResult("seen".to_owned()), owner },
        Act::DidNotHappen => Operator::DidNotHappen { evidence: "not seen".to_owned(), owner },
        Act::Again => Operator::Again { owner },
        Act::Replay => Operator::Replay { forced: false },
        Act::ReplayAnew => Operator::Replay { forced: true },
        Act::Accept => Operator::Accept { facts: facts(other(content)) },
        Act::Erase => Operator::Erase,
    }
}
