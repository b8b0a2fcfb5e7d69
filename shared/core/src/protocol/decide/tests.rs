//! The protocol in sentences. The model checker in `tests/` visits every
//! state; these say what a reader wants to know first.

mod bounds;
mod calls;
mod claims;
mod ends;
mod gate;
mod meetings;
mod probe;
mod prospects;
mod truth;

use super::*;
use crate::config::{Graph, InDoubt};
use crate::ids::{ActionName, Generation, OwnerNonce, PutNonce, Status, Token, Version};
use crate::key::{ActionKey, DedupScope, EventHash, EventKey, ResourceKey};
use crate::ports::Outcome;
use crate::protocol::action::{ActionStatus, EffectResult, FrozenRequest};
use crate::protocol::event::{EventStatus, Progress, Seen, SignatureFacts};
use crate::protocol::order::{Move, ToldBy};
use crate::protocol::policy::{Lease, TAKEOVER};
use crate::protocol::reason::Slug;
use crate::protocol::resource::Resource;
use crate::protocol::transition::{ActionWrite, PayloadTtl};
use crate::rule::{InputDigest, OrderValue};
use crate::time::ExpiresAt;

const NOW: UnixMillis = UnixMillis(1_000_000_000);
const HOUR: Duration = Duration::from_secs(3600);

fn limits() -> Limits {
    Limits::standard(HOUR * 24 * 60)
}

fn event(status: EventStatus) -> Event {
    let bound = matches!(status, EventStatus::Processing | EventStatus::InDoubt);
    Event {
        key: EventKey::new(&DedupScope("stripe".into()), None, &[Some("evt_1")]),
        endpoint: "stripe".into(),
        vendor: "stripe".into(),
        tenant: None,
        id: "evt_1".into(),
        event_type: None,
        version: None,
        occurred_at: Some(NOW),
        sequence: None,
        received_at: NOW.minus(TAKEOVER),
        put_nonce: PutNonce::new("put-1"),
        correlation: "c-1".into(),
        signature: SignatureFacts { secret: None, scheme: "v1".into(), signed_at: None },
        hash: EventHash::of([b"one".as_slice()]),
        seen: Seen {
            deliveries: 1,
            last_at: NOW,
            conflicts: 0,
            conflict_hashes: Vec::new(),
            repeated_as: None,
        },
        progress: Progress {
            status,
            generation: Generation::FIRST,
            opened_at: NOW,
            attempts: u32::from(bound),
            sweeps: 0,
            action: bound.then(key),
            action_generation: bound.then_some(Generation::FIRST),
            let_go: Vec::new(),
            reason: None,
            failed_at: (status == EventStatus::Failed).then_some(NOW),
            expires: (!status.needs_human()).then_some(ExpiresAt(9_000_000)),
            due: Some(NOW),
            waits: false,
        },
    }
}

fn key() -> ActionKey {
    ActionKey::from_fields(&ActionName::from("pack"), None, &["order_1"])
}

fn action(status: ActionStatus) -> Action {
    Action {
        key: key(),
        name: "pack".into(),
        status,
        generation: Generation::FIRST,
        token: Token::FIRST,
        owner: OwnerNonce::new("other"),
        lease_until: NOW.plus(HOUR),
        first_begun_at: NOW,
        request: request(),
        input: InputDigest::from_stored("one"),
        begun_by: event(EventStatus::Received).key,
        doubted: false,
        result: None,
        reason: None,
        settled_at: Some(NOW),
        last_done: None,
    }
}

fn request() -> FrozenRequest {
    FrozenRequest { destination: "packing".into(), body: b"{}".to_vec(), resource: None }
}

fn policy(in_doubt: InDoubt) -> EffectPolicy {
    let second = Duration::from_secs(1);
    EffectPolicy { in_doubt, honours_key_for: Some(HOUR * 24), timeout: second * 10, settling: second * 60 }
}

fn worker() -> Worker {
    Worker { owner: OwnerNonce::new("me"), lease: Lease::Until(NOW.plus(HOUR)) }
}

fn fresh() -> Stamp {
    Stamp { written_at: NOW, stamped_at: NOW }
}

fn wanted(late: Late) -> Wanted {
    let policy = policy(InDoubt::Park);
    let input = InputDigest::from_stored("one");
    Wanted { name: "pack".into(), key: key(), request: request(), input, late, policy }
}

fn on(state: State<'_>, input: Input<'_>, now: UnixMillis) -> Decision {
    decide(state, input, now, &limits()).unwrap()
}

fn message(event: &Event, stamp: Stamp) -> Decision {
    on(State::Stored(event), Input::Message { stamp, worker: &worker() }, NOW)
}

fn planned(
    event: &Event,
    intent: &Intent<'_>,
    resource: Option<&Resource>,
    action: Option<&Action>,
) -> Decision {
    let state = State::Planned { event, intent, resource, action };
    on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW)
}

fn bound(event: &Event, action: &Action, policy: &EffectPolicy, now: UnixMillis) -> Decision {
    let state = State::Bound { event, action: Some(action), policy: Some(policy), intent: None };
    on(state, Input::Message { stamp: fresh(), worker: &worker() }, now)
}

fn outcome(action: &Action, policy: &EffectPolicy, outcome: &Outcome) -> Action {
    let event = event(EventStatus::Processing);
    let state = State::Bound { event: &event, action: Some(action), policy: Some(policy), intent: None };
    put(&on(state, Input::Outcome { outcome }, NOW)).clone()
}

fn written(decision: &Decision) -> &Transition {
    match decision {
        Decision::Write { transition, .. } => transition,
        other => panic!("a write was expected, not {other:?}"),
    }
}

fn progress(decision: &Decision) -> &Progress {
    &written(decision).event.as_ref().expect("the event is written").to
}

fn put(decision: &Decision) -> &Action {
    match &written(decision).action {
        Some(ActionWrite::Put { to, .. }) => to,
        other => panic!("the action is written, not {other:?}"),
    }
}

fn rejected(cause: &str) -> Outcome {
    Outcome::Rejected { cause: cause.into(), decisive: false }
}

#[test]
fn a_message_for_a_finished_event_costs_one_read() {
    for status in [EventStatus::Processed, EventStatus::Ignored, EventStatus::Held] {
        assert_eq!(message(&event(status), fresh()), Decision::End(End::Drop));
    }
}

#[test]
fn a_message_without_an_event_goes_to_the_dead_letter_queue() {
    let input = Input::Message { stamp: fresh(), worker: &worker() };
    assert_eq!(on(State::Missing, input, NOW), Decision::End(End::Fail));
}

#[test]
fn a_moved_message_stamped_after_the_failure_opens_the_next_generation() {
    let mut failed = event(EventStatus::Failed);
    failed.progress.action = Some(key());
    let moved = Stamp { written_at: UnixMillis(0), stamped_at: NOW.plus(HOUR) };
    let decision = message(&failed, moved);
    let progress = progress(&decision);
    assert_eq!((progress.status, progress.attempts), (EventStatus::Received, 0));
    assert_eq!(progress.generation, Generation::FIRST.next());
    assert_eq!(progress.action, Some(key()), "it keeps the move that it won");
}

#[test]
fn our_own_late_message_is_no_redrive() {
    let late = Stamp { written_at: NOW.plus(HOUR), stamped_at: NOW.plus(HOUR) };
    assert_eq!(message(&event(EventStatus::Failed), late), Decision::End(End::Fail));
    let before_the_failure = Stamp { written_at: UnixMillis(0), stamped_at: NOW };
    assert_eq!(message(&event(EventStatus::Failed), before_the_failure), Decision::End(End::Fail));
}

#[test]
fn a_claim_begins_the_action_with_owner_token_lease_and_frozen_request() {
    let intent = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let decision = planned(&event(EventStatus::Received), &intent, None, None);
    let begun = put(&decision);
    assert_eq!((begun.status, begun.token), (ActionStatus::Begun, Token::FIRST));
    assert_eq!((&begun.owner, &begun.request), (&OwnerNonce::new("me"), &request()));
    assert_eq!((progress(&decision).status, progress(&decision).attempts), (EventStatus::Processing, 1));
    assert!(matches!(decision, Decision::Write { then: Then::Call, .. }));
}

#[test]
fn too_little_time_left_means_no_claim() {
    let event = event(EventStatus::Received);
    let intent = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let worker = Worker { lease: Lease::TooLittleTime, ..worker() };
    let state = State::Planned { event: &event, intent: &intent, resource: None, action: None };
    let decision = on(state, Input::Message { stamp: fresh(), worker: &worker }, NOW);
    assert_eq!(decision, Decision::End(End::Wait(NOW)));
}

#[test]
fn a_late_event_acts_without_a_move_or_is_ignored_as_the_rule_says() {
    let graph = Graph::new([("pending", "paid"), ("paid", "shipped")]).unwrap();
    let resource = Resource {
        key: ResourceKey::new(&"payment".into(), None, "pi_1"),
        status: Status::from("shipped"),
        order: OrderValue::Time(NOW),
        version: Version::FIRST,
        moved_by: EventKey::from_stored("event|x"),
        moved_at: NOW,
    };
    let older = OrderValue::Time(UnixMillis(1));
    let moves = Move {
        resource: resource.key.clone(),
        to: "paid".into(),
        order: older,
        told_by: ToldBy::Event,
        graph: &graph,
    };
    let decided = |late| {
        let intent = Intent::Act { moves: Some(moves.clone()), action: Some(wanted(late)) };
        planned(&event(EventStatus::Received), &intent, Some(&resource), None)
    };
    let acted = decided(Late::Act);
    assert_eq!((put(&acted).status, &written(&acted).resource), (ActionStatus::Begun, &None));
    let skipped = decided(Late::Skip);
    assert_eq!(progress(&skipped).status, EventStatus::Ignored);
    assert_eq!(progress(&skipped).reason.as_ref().unwrap().slug, Slug::Late);
}

#[test]
fn a_second_event_waits_for_the_action_that_another_holds_without_an_attempt() {
    let intent = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let begun = action(ActionStatus::Begun);
    let decision = planned(&event(EventStatus::Received), &intent, None, Some(&begun));
    assert_eq!((progress(&decision).status, progress(&decision).attempts), (EventStatus::Processing, 0));
    assert_eq!(written(&decision).action, None);
}

#[test]
fn an_effect_is_prevented_where_the_action_is_there_and_nothing_is_begun() {
    let intent = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let fresh = event(EventStatus::Received);
    let joined = |met: Option<&Action>| {
        let decision = planned(&fresh, &intent, None, met);
        written(&decision).joins(&fresh).cloned()
    };
    assert_eq!(joined(None), None, "the first begins it");
    for status in [ActionStatus::Begun, ActionStatus::Done, ActionStatus::InDoubt] {
        assert_eq!(joined(Some(&action(status))), Some(key()), "{status:?}");
    }
    for status in [ActionStatus::Ready, ActionStatus::Rejected] {
        assert_eq!(joined(Some(&action(status))), None, "{status:?}");
    }
    let mut bound = event(EventStatus::Processing);
    bound.progress.action = Some(key());
    let decision = super::tests::bound(&bound, &action(ActionStatus::Done), &policy(InDoubt::Park), NOW);
    assert_eq!(written(&decision).joins(&bound), None, "its own action");
}

#[test]
fn an_event_that_asks_with_other_values_meets_the_action_and_is_shown() {
    let other = Wanted { input: InputDigest::from_stored("two"), ..wanted(Late::Act) };
    let intent = Intent::Act { moves: None, action: Some(other) };
    let decision = planned(&event(EventStatus::Received), &intent, None, Some(&action(ActionStatus::Done)));
    assert_eq!(progress(&decision).status, EventStatus::Processed);
    assert_eq!(progress(&decision).reason, Some(Reason::bare(Slug::OtherInput)));
}

#[test]
fn an_event_is_processed_only_where_its_action_was_seen_done() {
    let done = action(ActionStatus::Done);
    let decision = bound(&event(EventStatus::Processing), &done, &policy(InDoubt::Park), NOW);
    assert_eq!((progress(&decision).status, progress(&decision).due), (EventStatus::Processed, None));
}

#[test]
fn other_content_is_adopted_only_where_the_first_never_became_durable() {
    let delivery = |first_payload| Delivery {
        put_nonce: PutNonce::new("put-2"),
        hash: EventHash::of([b"two".as_slice()]),
        held: false,
        first_payload,
    };
    let meets = |status, presence| {
        let (event, delivery) = (event(status), delivery(presence));
        on(State::Stored(&event), Input::Delivery(&delivery), NOW)
    };
    assert_eq!(meets(EventStatus::Received, Presence::NotRead), Decision::Read(Read::FirstPayload));
    assert_eq!(meets(EventStatus::Received, Presence::There), Decision::End(End::Conflict));
    assert_eq!(meets(EventStatus::Failed, Presence::Missing), Decision::End(End::Adopt));
    assert_eq!(meets(EventStatus::Processing, Presence::Missing), Decision::End(End::Conflict));
    // INV-7: what a human must look at first does not pass because the first did not need it.
    let held = |presence| {
        let held = Delivery { held: true, ..delivery(presence) };
        on(State::Stored(&event(EventStatus::Received)), Input::Delivery(&held), NOW)
    };
    assert_eq!(held(Presence::There), Decision::End(End::Conflict));
    // INV-1: nothing durable is what a 2xx would promise.
    assert!(matches!(held(Presence::Missing), Decision::End(End::Refuse(_))));
}

#[test]
fn a_bound_never_fails_an_event_whose_action_is_begun() {
    let mut event = event(EventStatus::Processing);
    event.progress.sweeps = limits().sweeps;
    let park = policy(InDoubt::Park);
    let sweep = |action: &Action| {
        let state = State::Bound { event: &event, action: Some(action), policy: Some(&park), intent: None };
        on(state, Input::Sweep, NOW)
    };
    assert_eq!(progress(&sweep(&action(ActionStatus::Begun))).status, EventStatus::Processing);
    let expired = Action { lease_until: NOW, ..action(ActionStatus::Begun) };
    assert_eq!(progress(&sweep(&expired)).status, EventStatus::InDoubt);
    let decision = sweep(&action(ActionStatus::Ready));
    assert_eq!(progress(&decision).status, EventStatus::Failed);
    assert!(matches!(written(&decision).action, Some(ActionWrite::Check { .. })), "only while it is ready");
}

#[test]
fn a_combination_that_cannot_occur_is_an_error_and_not_a_guess() {
    let done = Outcome::Done(EffectResult(String::new()));
    let error = decide(State::Missing, Input::Outcome { outcome: &done }, NOW, &limits()).unwrap_err();
    assert_eq!(error, Undecidable { state: "missing", input: "outcome" });
}
