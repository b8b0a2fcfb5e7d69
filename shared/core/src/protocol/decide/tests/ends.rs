//! What a call's end, an event's end and a new round write, field by field.

use super::*;
use crate::protocol::action::ActionGuard;

fn settled(event: &Event, action: &Action, policy: &EffectPolicy, outcome: &Outcome) -> Decision {
    let state = State::Bound { event, action: Some(action), policy: Some(policy), intent: None };
    on(state, Input::Outcome { outcome }, NOW.plus(HOUR))
}

fn guard(decision: &Decision) -> &ActionGuard {
    match &written(decision).action {
        Some(ActionWrite::Put { from, .. }) => from,
        other => panic!("the action is written, not {other:?}"),
    }
}

fn then(decision: &Decision) -> Then {
    match decision {
        Decision::Write { then, .. } => *then,
        other => panic!("a write was expected, not {other:?}"),
    }
}

fn not_started(seconds: Option<u64>) -> Outcome {
    let not_before = seconds.map(Duration::from_secs);
    Outcome::NotStarted { cause: "no route".into(), not_before, decisive: false }
}

/// A second try, begun after a first that did not start.
fn begun() -> Action {
    let reason = Some(Reason::with(Slug::NotStarted, "busy"));
    Action { reason, settled_at: None, lease_until: NOW.plus(HOUR * 2), ..action(ActionStatus::Begun) }
}

/// The same, marked in doubt when its lease ran out.
fn marked() -> Action {
    Action { settled_at: Some(NOW), status: ActionStatus::InDoubt, ..begun() }
}

#[test]
fn done_records_the_effect_whoever_marked_the_action_meanwhile() {
    let (event, park) = (event(EventStatus::Processing), policy(InDoubt::Park));
    let result = EffectResult("201".into());
    for found in [begun(), marked()] {
        let decision = settled(&event, &found, &park, &Outcome::Done(result.clone()));
        let expected = Action {
            status: ActionStatus::Done,
            result: Some(result.clone()),
            reason: None,
            settled_at: Some(NOW.plus(HOUR)),
            ..found.clone()
        };
        assert_eq!((put(&decision), guard(&decision)), (&expected, &found.held()));
        assert_eq!((then(&decision), &written(&decision).event), (Then::Decide, &None));
    }
}

#[test]
fn a_certain_no_is_rejected_with_its_cause() {
    let (event, park) = (event(EventStatus::Processing), policy(InDoubt::Park));
    for found in [begun(), marked()] {
        let decision = settled(&event, &found, &park, &rejected("422"));
        let expected = Action {
            status: ActionStatus::Rejected,
            reason: Some(Reason::with(Slug::Rejected, "422")),
            settled_at: Some(NOW.plus(HOUR)),
            ..found.clone()
        };
        assert_eq!((put(&decision), guard(&decision)), (&expected, &found.held()));
    }
}

#[test]
fn what_did_not_start_is_ready_for_another_try_when_the_destination_says() {
    let (event, park) = (event(EventStatus::Processing), policy(InDoubt::Park));
    let decision = settled(&event, &begun(), &park, &not_started(Some(60)));
    let reason = Some(Reason::with(Slug::NotStarted, "no route"));
    assert_eq!(*put(&decision), Action { status: ActionStatus::Ready, reason, ..begun() });
    // It must not pass over a mark of doubt.
    assert_eq!(*guard(&decision), begun().as_read());
    let not_before = Some(Duration::from_secs(60));
    assert_eq!(then(&decision), Then::End(End::Retry { attempts: 1, not_before }));
    let last =
        Event { progress: Progress { attempts: limits().attempts, ..event.progress.clone() }, ..event };
    assert_eq!(then(&settled(&last, &begun(), &park, &not_started(None))), Then::Decide);
}

// INV-3: in doubt never goes back.
#[test]
fn what_did_not_start_and_was_marked_in_doubt_is_over() {
    let (event, park) = (event(EventStatus::InDoubt), policy(InDoubt::Park));
    let decision = settled(&event, &marked(), &park, &not_started(None));
    let expected = Action {
        status: ActionStatus::Rejected,
        reason: Some(Reason::with(Slug::NotStarted, "no route")),
        settled_at: Some(NOW.plus(HOUR)),
        ..marked()
    };
    assert_eq!((put(&decision), then(&decision)), (&expected, Then::Decide));
    assert_eq!(*guard(&decision), marked().as_read());
}

#[test]
fn without_an_answer_the_lease_is_given_back_only_where_the_call_may_be_repeated() {
    let event = event(EventStatus::Processing);
    let (park, retry) = (policy(InDoubt::Park), policy(InDoubt::Retry));
    let silence = Outcome::unknown("timeout");
    let no_answer = Some(Reason::with(Slug::NoAnswer, "timeout"));
    let decision = settled(&event, &begun(), &retry, &silence);
    let again = Action { lease_until: NOW.plus(HOUR), doubted: true, reason: no_answer.clone(), ..begun() };
    assert_eq!((put(&decision), guard(&decision)), (&again, &begun().as_read()));
    assert_eq!(then(&decision), Then::End(End::Retry { attempts: 1, not_before: None }));

    let doubt = Action {
        status: ActionStatus::InDoubt,
        doubted: true,
        reason: no_answer,
        settled_at: Some(NOW.plus(HOUR)),
        ..begun()
    };
    let decision = settled(&event, &begun(), &park, &silence);
    assert_eq!((put(&decision), then(&decision)), (&doubt, Then::Decide));
    let last = Event {
        progress: Progress { attempts: limits().attempts, ..event.progress.clone() },
        ..event.clone()
    };
    assert_eq!(*put(&settled(&last, &begun(), &retry, &silence)), doubt);
    let forgets = EffectPolicy { honours_key_for: Some(HOUR - Duration::from_millis(1)), ..retry.clone() };
    assert_eq!(*put(&settled(&event, &begun(), &forgets, &silence)), doubt);
    let just_remembers = EffectPolicy { honours_key_for: Some(HOUR), ..retry.clone() };
    assert_eq!(*put(&settled(&event, &begun(), &just_remembers, &silence)), again);
    // Marked already, and silence is no evidence.
    assert_eq!(settled(&event, &marked(), &retry, &silence), Decision::End(End::Drop));
}

#[test]
fn a_mark_of_doubt_keeps_why_the_last_call_had_no_answer() {
    let reason = Some(Reason::with(Slug::NoAnswer, "timeout"));
    let expired = Action { reason: reason.clone(), settled_at: None, lease_until: NOW, ..begun() };
    let decision = bound(&event(EventStatus::Processing), &expired, &policy(InDoubt::Park), NOW.plus(HOUR));
    let marked =
        Action { status: ActionStatus::InDoubt, settled_at: Some(NOW.plus(HOUR)), ..expired.clone() };
    assert_eq!((put(&decision), guard(&decision)), (&marked, &expired.as_read()));
    assert_eq!((progress(&decision).status, &progress(&decision).reason), (EventStatus::InDoubt, &reason));
    let silent = Action { reason: None, ..expired };
    let decision = bound(&event(EventStatus::Processing), &silent, &policy(InDoubt::Park), NOW);
    assert_eq!(put(&decision).reason, Some(Reason::bare(Slug::LeaseExpired)));
}

#[test]
fn an_event_whose_action_is_in_doubt_is_in_doubt_too_with_the_same_reason() {
    let reason = Some(Reason::with(Slug::NoAnswer, "timeout"));
    let doubted = Action { reason: reason.clone(), ..marked() };
    let (received, park) = (event(EventStatus::Processing), policy(InDoubt::Park));
    let decision = bound(&received, &doubted, &park, NOW);
    assert_eq!((progress(&decision).status, &progress(&decision).reason), (EventStatus::InDoubt, &reason));
    assert_eq!(bound(&event(EventStatus::InDoubt), &doubted, &park, NOW), Decision::End(End::Drop));
}

#[test]
fn an_event_in_doubt_follows_an_action_that_has_gone_on_to_its_next_generation() {
    let park = policy(InDoubt::Park);
    let doubted = event(EventStatus::InDoubt);
    let ready = action(ActionStatus::Ready);
    let next = Action { generation: Generation::FIRST.next(), ..ready.clone() };
    let decision = bound(&doubted, &next, &park, NOW);
    assert_eq!(progress(&decision).status, EventStatus::Failed);
    assert_eq!(progress(&decision).reason, Some(Reason::bare(Slug::Rejected)));
    assert_eq!(bound(&doubted, &ready, &park, NOW), Decision::End(End::Drop));
    let mut older = doubted;
    older.progress.action_generation = Some(next.generation);
    assert_eq!(bound(&older, &ready, &park, NOW), Decision::End(End::Drop));
    // One that is not in doubt begins it.
    assert_eq!(put(&bound(&event(EventStatus::Processing), &next, &park, NOW)).status, ActionStatus::Begun);
}

// INV-9: what needs a human carries no TTL; what is finished gets one again.
#[test]
fn ttl_index_and_payload_follow_from_where_an_event_ends() {
    let park = policy(InDoubt::Park);
    let mut kept = event(EventStatus::InDoubt);
    kept.progress.due = Some(NOW.minus(HOUR));
    let decision = bound(&kept, &action(ActionStatus::Done), &park, NOW);
    let expires = NOW.expires_after(limits().window);
    let after =
        PayloadTtl::ExpireAfter(kept.key.clone(), kept.hash.clone(), kept.progress.generation, expires);
    assert_eq!((progress(&decision).expires, progress(&decision).due), (Some(expires), None));
    assert_eq!((&written(&decision).payload, progress(&decision).failed_at), (&after, None));

    let mut swept = event(EventStatus::Processing);
    swept.progress.sweeps = 1;
    let decision = bound(&swept, &action(ActionStatus::Done), &park, NOW);
    assert_eq!(
        (progress(&decision).expires, &written(&decision).payload),
        (swept.progress.expires, &PayloadTtl::Unchanged)
    );

    let decision = bound(&swept, &action(ActionStatus::InDoubt), &park, NOW);
    assert_eq!((progress(&decision).expires, progress(&decision).failed_at), (None, None));
    assert_eq!(progress(&decision).due, Some(limits().next_sweep(1, NOW)));
    let before = PayloadTtl::KeepBefore(swept.key.clone(), swept.hash.clone(), swept.progress.generation);
    assert_eq!(written(&decision).payload, before);

    let decision = bound(&swept, &action(ActionStatus::Rejected), &park, NOW);
    let progress = progress(&decision);
    assert_eq!((progress.expires, progress.failed_at, progress.due), (None, Some(NOW), Some(NOW)));
}

#[test]
fn the_next_round_begins_at_nought_and_keeps_its_action() {
    let mut failed = event(EventStatus::Failed);
    failed.progress.attempts = 10;
    failed.progress.sweeps = 16;
    failed.progress.reason = Some(Reason::bare(Slug::AttemptsExhausted));
    failed.progress.action = Some(key());
    failed.progress.action_generation = Some(Generation::FIRST);
    failed.progress.let_go = vec![key()];
    let state = State::Stored(&failed);
    let decision = on(state, Input::Operator(&Operator::Redrive), NOW.plus(HOUR));
    let expected = Progress {
        status: EventStatus::Received,
        generation: Generation::FIRST.next(),
        opened_at: NOW.plus(HOUR),
        attempts: 0,
        sweeps: 0,
        reason: None,
        failed_at: None,
        due: Some(NOW.plus(HOUR).plus(limits().first_sweep)),
        ..failed.progress.clone()
    };
    assert_eq!((progress(&decision), then(&decision)), (&expected, Then::End(End::Send)));
}
