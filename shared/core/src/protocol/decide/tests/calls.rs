//! Calls: taken over, answered, and not answered.

use super::*;

#[test]
fn an_expired_lease_alone_never_calls_again() {
    let begun = action(ActionStatus::Begun);
    let later = begun.lease_until;
    let decision = bound(&event(EventStatus::Processing), &begun, &policy(InDoubt::Park), later);
    assert_eq!((put(&decision).status, put(&decision).token), (ActionStatus::InDoubt, Token::FIRST));
    let progress = progress(&decision);
    assert_eq!((progress.status, progress.expires), (EventStatus::InDoubt, None));
    assert!(matches!(written(&decision).payload, PayloadTtl::KeepBefore(..)), "the payload's TTL goes first");
}

#[test]
fn a_takeover_keeps_the_request_and_grows_the_token_while_the_key_is_honoured() {
    let begun = Action { lease_until: NOW, ..action(ActionStatus::Begun) };
    let retry = policy(InDoubt::Retry);
    let decision = bound(&event(EventStatus::Processing), &begun, &retry, NOW);
    assert_eq!((put(&decision).token, put(&decision).doubted), (Token::FIRST.next(), true));
    assert_eq!(put(&decision).request, begun.request);
    let too_long_ago = Action { first_begun_at: NOW.minus(HOUR * 24), ..begun };
    let decision = bound(&event(EventStatus::Processing), &too_long_ago, &retry, NOW);
    assert_eq!(put(&decision).status, ActionStatus::InDoubt);
}

#[test]
fn after_an_unknown_call_a_later_no_is_not_certain() {
    let doubted = Action { doubted: true, ..action(ActionStatus::Begun) };
    let park = policy(InDoubt::Park);
    assert_eq!(outcome(&doubted, &park, &rejected("422")).status, ActionStatus::InDoubt);
    let decisive = Outcome::Rejected { cause: "422".into(), decisive: true };
    assert_eq!(outcome(&doubted, &park, &decisive).status, ActionStatus::Rejected);
    assert_eq!(outcome(&action(ActionStatus::Begun), &park, &rejected("422")).status, ActionStatus::Rejected);
}

#[test]
fn what_certainly_did_not_start_is_ready_and_never_in_doubt() {
    let outcome_ = Outcome::NotStarted { cause: "refused".into(), not_before: None, decisive: false };
    assert_eq!(
        outcome(&action(ActionStatus::Begun), &policy(InDoubt::Park), &outcome_).status,
        ActionStatus::Ready
    );
}

#[test]
fn late_evidence_settles_an_action_that_was_marked_in_doubt() {
    let done = Outcome::Done(EffectResult("201".into()));
    let marked = action(ActionStatus::InDoubt);
    let settled = outcome(&marked, &policy(InDoubt::Park), &done);
    assert_eq!(settled.status, ActionStatus::Done);
    assert!(marked.held().admits(Some(&marked)), "marking keeps the owner and its token");
    let event = event(EventStatus::InDoubt);
    let decision = bound(&event, &settled, &policy(InDoubt::Park), NOW);
    assert_eq!(progress(&decision).status, EventStatus::Processed);
}

#[test]
fn a_rejected_action_begins_anew_only_for_a_round_opened_after_the_rejection() {
    let no = action(ActionStatus::Rejected);
    let park = policy(InDoubt::Park);
    let decision = bound(&event(EventStatus::Processing), &no, &park, NOW);
    assert_eq!(progress(&decision).status, EventStatus::Failed);
    let mut redriven = event(EventStatus::Received);
    redriven.progress.generation = Generation::FIRST.next();
    redriven.progress.opened_at = NOW.plus(HOUR);
    redriven.progress.action = Some(key());
    assert_eq!(bound(&redriven, &no, &park, NOW), Decision::Read(Read::Intent));
    let intent = Intent::Nothing(Reason::bare(Slug::NoRule));
    let state =
        State::Bound { event: &redriven, action: Some(&no), policy: Some(&park), intent: Some(&intent) };
    let decision = on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW);
    assert_eq!(
        (put(&decision).generation, put(&decision).token),
        (Generation::FIRST.next(), Token::FIRST.next())
    );
}

#[test]
fn a_human_cannot_say_it_did_not_happen_while_it_still_may() {
    let event = event(EventStatus::InDoubt);
    let (doubted, park) = (action(ActionStatus::InDoubt), policy(InDoubt::Park));
    let did_not = Operator::DidNotHappen { evidence: "looked".into(), owner: OwnerNonce::new("human") };
    let state = State::Bound { event: &event, action: Some(&doubted), policy: Some(&park), intent: None };
    assert!(matches!(on(state, Input::Operator(&did_not), NOW), Decision::End(End::Refuse(_))));
    let quiet = NOW.plus(HOUR * 2);
    assert_eq!(put(&on(state, Input::Operator(&did_not), quiet)).status, ActionStatus::Rejected);
}
