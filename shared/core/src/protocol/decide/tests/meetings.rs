//! What a delivery, a message and a human find, and what they may do about it.

use super::*;

#[test]
fn a_delivery_knows_its_own_retried_put_by_nonce_and_content() {
    let event = event(EventStatus::Received);
    let delivery = |nonce: &str, content: &[u8]| Delivery {
        put_nonce: PutNonce::new(nonce),
        hash: EventHash::of([content]),
        held: false,
        first_payload: Presence::There,
    };
    let meets = |delivery: Delivery| on(State::Stored(&event), Input::Delivery(&delivery), NOW);
    assert_eq!(meets(delivery("put-1", b"one")), Decision::End(End::AsNew));
    assert_eq!(meets(delivery("put-1", b"two")), Decision::End(End::Conflict));
    let duplicate = End::Duplicate { unfinished: true, enqueue: false };
    assert_eq!(meets(delivery("put-2", b"one")), Decision::End(duplicate));
}

#[test]
fn a_duplicate_is_sent_again_only_when_nobody_has_begun_it_for_the_grace_time() {
    let delivery = Delivery {
        put_nonce: PutNonce::new("put-2"),
        hash: EventHash::of([b"one".as_slice()]),
        held: false,
        first_payload: Presence::NotRead,
    };
    let meets = |status, now| match on(State::Stored(&event(status)), Input::Delivery(&delivery), now) {
        Decision::End(End::Duplicate { unfinished, enqueue }) => (unfinished, enqueue),
        other => panic!("a duplicate was expected, not {other:?}"),
    };
    let (grace, moment) = (limits().grace, Duration::from_millis(1));
    assert_eq!(meets(EventStatus::Received, NOW.plus(grace).minus(moment)), (true, false));
    assert_eq!(meets(EventStatus::Received, NOW.plus(grace)), (true, true));
    assert_eq!(meets(EventStatus::Processing, NOW.plus(grace)), (true, false));
    assert_eq!(meets(EventStatus::Failed, NOW.plus(grace)), (true, false));
    assert_eq!(meets(EventStatus::Processed, NOW.plus(grace)), (false, false));
    assert_eq!(meets(EventStatus::Ignored, NOW.plus(grace)), (false, false));
}

#[test]
fn a_claimed_event_takes_no_other_content_even_between_two_rounds() {
    let delivery = Delivery {
        put_nonce: PutNonce::new("put-2"),
        hash: EventHash::of([b"two".as_slice()]),
        held: false,
        first_payload: Presence::Missing,
    };
    let mut claimed = event(EventStatus::Failed);
    claimed.progress.action = Some(key());
    let decision = on(State::Stored(&claimed), Input::Delivery(&delivery), NOW);
    assert_eq!(decision, Decision::End(End::Conflict));
}

#[test]
fn a_message_reads_what_its_event_needs() {
    let mut received = event(EventStatus::Received);
    assert_eq!(message(&received, fresh()), Decision::Read(Read::Intent));
    received.progress.action = Some(key());
    assert_eq!(message(&received, fresh()), Decision::Read(Read::Action(key())));
    for status in [EventStatus::Processing, EventStatus::InDoubt] {
        let mut event = event(status);
        assert_eq!(message(&event, fresh()), Decision::Read(Read::Action(key())));
        event.progress.action = None;
        assert_eq!(message(&event, fresh()), Decision::End(End::Fail), "people have to see it");
    }
}

#[test]
fn a_message_moved_at_the_moment_of_the_failure_is_no_redrive() {
    let failed = event(EventStatus::Failed);
    let moved = |stamped_at| Stamp { written_at: UnixMillis(0), stamped_at };
    assert_eq!(message(&failed, moved(NOW)), Decision::End(End::Fail));
    let after = message(&failed, moved(NOW.plus(Duration::from_millis(1))));
    assert_eq!(progress(&after).status, EventStatus::Received);
    // Sent by us after the failure, and not moved.
    let late = NOW.plus(HOUR);
    let sent = Stamp { written_at: late.minus(Duration::from_secs(60)), stamped_at: late };
    assert_eq!(message(&failed, sent), Decision::End(End::Fail));
}

// INV-3: only the event's own status counts once it is at rest.
#[test]
fn an_event_that_came_to_its_end_meanwhile_is_not_begun_again() {
    let ready = action(ActionStatus::Ready);
    let mut event = event(EventStatus::Failed);
    event.progress.action = Some(key());
    assert_eq!(bound(&event, &ready, &policy(InDoubt::Park), NOW), Decision::End(End::Fail));
}

#[test]
fn a_human_is_told_why_a_decision_does_not_fit() {
    let why = |status, operator: &Operator| {
        let mut event = event(status);
        event.progress.action = None;
        match on(State::Stored(&event), Input::Operator(operator), NOW) {
            Decision::End(End::Refuse(why)) => why,
            other => panic!("a refusal was expected, not {other:?}"),
        }
    };
    let happened =
        Operator::Happened { evidence: EffectResult("seen".into()), owner: OwnerNonce::new("human") };
    let did_not = Operator::DidNotHappen { evidence: "looked".into(), owner: OwnerNonce::new("human") };
    assert_eq!(why(EventStatus::Processed, &Operator::Redrive), "only a failed event can be redriven");
    assert_eq!(why(EventStatus::InDoubt, &Operator::Redrive), "the event is in doubt: resolve it first");
    assert_eq!(why(EventStatus::Failed, &Operator::Release), "the event is not held");
    assert_eq!(why(EventStatus::Processed, &Operator::Discard), "the event is neither held nor failed");
    for operator in [&happened, &did_not] {
        assert_eq!(why(EventStatus::Processing, operator), "the event is not in doubt");
        assert_eq!(why(EventStatus::InDoubt, operator), "the event is bound to no action");
    }
    let nobody = on(State::Missing, Input::Operator(&happened), NOW);
    assert_eq!(nobody, Decision::End(End::Refuse("there is no such event")));
}

#[test]
fn a_held_event_is_released_or_discarded() {
    let mut held = event(EventStatus::Held);
    held.progress.reason = Some(Reason::bare(Slug::MissingKeyPart));
    let decided = |operator: &Operator| on(State::Stored(&held), Input::Operator(operator), NOW);
    let released = decided(&Operator::Release);
    assert_eq!(progress(&released).status, EventStatus::Received);
    assert_eq!(progress(&released).generation, Generation::FIRST.next());
    let discarded = decided(&Operator::Discard);
    assert_eq!(progress(&discarded).reason, Some(Reason::bare(Slug::Discarded)));
    assert_eq!(progress(&discarded).expires, Some(NOW.expires_after(limits().window)));
    assert!(matches!(written(&discarded).payload, PayloadTtl::ExpireAfter(..)));
}

/// A human decides about an event in doubt.
fn resolved(
    action: Option<&Action>,
    policy: Option<&EffectPolicy>,
    it: &Operator,
    now: UnixMillis,
) -> Decision {
    let event = event(EventStatus::InDoubt);
    on(State::Bound { event: &event, action, policy, intent: None }, Input::Operator(it), now)
}

#[test]
fn what_a_human_found_takes_the_next_token_and_is_kept_as_evidence() {
    let doubted = Action {
        reason: Some(Reason::bare(Slug::NoAnswer)),
        settled_at: Some(UnixMillis(1)),
        lease_until: NOW,
        ..action(ActionStatus::InDoubt)
    };
    let park = policy(InDoubt::Park);
    let evidence = EffectResult("seen".into());
    let happened = Operator::Happened { evidence: evidence.clone(), owner: OwnerNonce::new("human") };
    let did_not = Operator::DidNotHappen { evidence: "looked".into(), owner: OwnerNonce::new("human") };
    let taken = Action { token: Token::FIRST.next(), owner: OwnerNonce::new("human"), ..doubted.clone() };
    let done = Action {
        status: ActionStatus::Done,
        result: Some(evidence),
        reason: None,
        settled_at: Some(NOW),
        ..taken.clone()
    };
    let decision = resolved(Some(&doubted), Some(&park), &happened, NOW);
    assert_eq!(*put(&decision), done);
    assert_eq!(written(&decision).event, None, "the event follows");

    let quiet = NOW.plus(park.timeout + park.settling);
    let no = Action {
        status: ActionStatus::Rejected,
        reason: Some(Reason::with(Slug::Rejected, "looked")),
        settled_at: Some(quiet),
        ..taken
    };
    assert_eq!(*put(&resolved(Some(&doubted), Some(&park), &did_not, quiet)), no);
    // INV-2: a moment earlier it would be a guess.
    let early = resolved(Some(&doubted), Some(&park), &did_not, quiet.minus(Duration::from_millis(1)));
    assert!(matches!(early, Decision::End(End::Refuse(_))));
    let without_policy = |now| resolved(Some(&doubted), None, &did_not, now);
    assert!(matches!(
        without_policy(NOW.plus(HOUR - Duration::from_millis(1))),
        Decision::End(End::Refuse(_))
    ));
    assert_eq!(put(&without_policy(NOW.plus(HOUR))).status, ActionStatus::Rejected);
}

#[test]
fn a_human_finds_what_was_settled_meanwhile_or_is_gone() {
    let happened =
        Operator::Happened { evidence: EffectResult("seen".into()), owner: OwnerNonce::new("human") };
    let did_not = Operator::DidNotHappen { evidence: "looked".into(), owner: OwnerNonce::new("human") };
    let park = policy(InDoubt::Park);
    let settled = resolved(Some(&action(ActionStatus::Done)), Some(&park), &did_not, NOW);
    assert_eq!(progress(&settled).status, EventStatus::Processed, "what is recorded counts");
    let begun = resolved(Some(&action(ActionStatus::Begun)), Some(&park), &did_not, NOW);
    assert_eq!(begun, Decision::End(End::Refuse("the action is not in doubt any more: look again")));
    assert_eq!(progress(&resolved(None, None, &happened, NOW)).status, EventStatus::Processed);
    let failed = resolved(None, None, &did_not, NOW);
    assert_eq!(progress(&failed).status, EventStatus::Failed);
    assert_eq!(progress(&failed).reason, Some(Reason::with(Slug::Rejected, "looked")));
    for operator in [Operator::Redrive, Operator::Release] {
        let doubted = action(ActionStatus::InDoubt);
        assert!(matches!(resolved(Some(&doubted), None, &operator, NOW), Decision::End(End::Refuse(_))));
        assert!(matches!(resolved(None, None, &operator, NOW), Decision::End(End::Refuse(_))));
    }
}

#[test]
fn an_error_names_state_and_input() {
    let (event, graphless) = (event(EventStatus::Received), Intent::PayloadMissing);
    let done = Outcome::Done(EffectResult(String::new()));
    let outcome = Input::Outcome { outcome: &done };
    let delivery = Delivery {
        put_nonce: PutNonce::new("put-2"),
        hash: EventHash::of([b"two".as_slice()]),
        held: false,
        first_payload: Presence::There,
    };
    let planned = State::Planned { event: &event, intent: &graphless, resource: None, action: None };
    let bound = State::Bound { event: &event, action: None, policy: None, intent: None };
    let refused = Input::StoreRefused { cause: "", stamp: fresh() };
    let told = |state, input| decide(state, input, NOW, &limits()).unwrap_err();
    let error = |state, input| Undecidable { state, input };
    assert_eq!(told(State::Stored(&event), outcome), error("stored", "outcome"));
    assert_eq!(told(bound, outcome), error("bound", "outcome"));
    assert_eq!(told(planned, Input::Sweep), error("planned", "sweep"));
    assert_eq!(told(planned, Input::Operator(&Operator::Redrive)), error("planned", "operator"));
    assert_eq!(told(State::Missing, refused), error("missing", "store_refused"));
    assert_eq!(told(bound, Input::Delivery(&delivery)), error("bound", "delivery"));
}
