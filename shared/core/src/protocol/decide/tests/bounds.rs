//! What ends work (INV-8), and what the sweeper does until then.

use super::*;

fn sweep(event: &Event, now: UnixMillis) -> Decision {
    on(State::Stored(event), Input::Sweep, now)
}

fn sweep_bound(event: &Event, action: Option<&Action>, policy: Option<&EffectPolicy>) -> Decision {
    on(State::Bound { event, action, policy, intent: None }, Input::Sweep, NOW)
}

fn then(decision: &Decision) -> Then {
    match decision {
        Decision::Write { then, .. } => *then,
        other => panic!("a write was expected, not {other:?}"),
    }
}

fn slug(decision: &Decision) -> Option<Slug> {
    progress(decision).reason.as_ref().map(|reason| reason.slug)
}

/// An event at each of the bounds of its round.
fn at_a_bound(status: EventStatus) -> [Event; 2] {
    let (mut tried, mut old) = (event(status), event(status));
    tried.progress.attempts = limits().attempts;
    old.progress.opened_at = NOW.minus(limits().age);
    [tried, old]
}

#[test]
fn at_the_bound_of_tries_or_age_a_ready_action_is_not_begun_again() {
    let reason = Some(Reason::with(Slug::NotStarted, "no route"));
    let ready = Action { reason, ..action(ActionStatus::Ready) };
    let park = policy(InDoubt::Park);
    for event in at_a_bound(EventStatus::Processing) {
        let decision = bound(&event, &ready, &park, NOW);
        assert_eq!(
            (progress(&decision).status, then(&decision)),
            (EventStatus::Failed, Then::End(End::Fail))
        );
        assert_eq!(progress(&decision).reason, Some(Reason::with(Slug::AttemptsExhausted, "no route")));
        let check = ActionWrite::Check { action: Box::new(ready.clone()) };
        assert_eq!(written(&decision).action, Some(check), "only while nobody begins it");
    }
    let mut almost = event(EventStatus::Processing);
    almost.progress.attempts = limits().attempts - 1;
    almost.progress.opened_at = NOW.minus(limits().age - Duration::from_millis(1));
    assert_eq!(put(&bound(&almost, &ready, &park, NOW)).status, ActionStatus::Begun);
}

#[test]
fn at_the_bound_an_expired_lease_ends_in_doubt_even_where_the_key_is_honoured() {
    let begun = Action { lease_until: NOW, ..action(ActionStatus::Begun) };
    for event in at_a_bound(EventStatus::Processing) {
        let decision = bound(&event, &begun, &policy(InDoubt::Retry), NOW);
        assert_eq!(
            (progress(&decision).status, slug(&decision)),
            (EventStatus::InDoubt, Some(Slug::LeaseExpired))
        );
        assert_eq!(put(&decision).settled_at, Some(NOW));
    }
}

#[test]
fn a_live_lease_is_waited_for_and_our_own_is_used() {
    let begun = action(ActionStatus::Begun);
    let (event, park) = (event(EventStatus::Processing), policy(InDoubt::Park));
    assert_eq!(bound(&event, &begun, &park, NOW), Decision::End(End::Wait(begun.lease_until)));
    let ours = Action { owner: OwnerNonce::new("me"), ..begun };
    assert_eq!(bound(&event, &ours, &park, NOW), Decision::Call);
}

#[test]
fn an_action_without_its_destination_is_not_begun_again() {
    let ready = action(ActionStatus::Ready);
    let event = event(EventStatus::Processing);
    let state = State::Bound { event: &event, action: Some(&ready), policy: None, intent: None };
    let decision = on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW);
    assert_eq!(
        (progress(&decision).status, slug(&decision)),
        (EventStatus::Failed, Some(Slug::DestinationGone))
    );
}

// While versions take over from each other the newer one may know whom to call.
#[test]
fn a_young_event_waits_for_whoever_knows_its_destination() {
    let young = Event { received_at: NOW, ..event(EventStatus::Processing) };
    let expired = Action { lease_until: NOW, ..action(ActionStatus::Begun) };
    for action in [action(ActionStatus::Ready), expired] {
        let state = State::Bound { event: &young, action: Some(&action), policy: None, intent: None };
        let decision = on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW);
        assert_eq!(decision, Decision::End(End::AskAgain { not_before: None }), "{:?}", action.status);
        assert_eq!(then(&sweep_bound(&young, Some(&action), None)), Then::End(End::Send));
    }
}

// INV-6: `begun` was durably written once, so nobody knows.
#[test]
fn a_begun_action_that_is_gone_leaves_its_event_in_doubt() {
    let (processing, doubted) = (event(EventStatus::Processing), event(EventStatus::InDoubt));
    let gone = |event: &Event, input: Input<'_>| {
        on(State::Bound { event, action: None, policy: None, intent: None }, input, NOW)
    };
    let input = Input::Message { stamp: fresh(), worker: &worker() };
    for input in [input, Input::Sweep] {
        let decision = gone(&processing, input);
        assert_eq!(
            (progress(&decision).status, slug(&decision)),
            (EventStatus::InDoubt, Some(Slug::ActionGone))
        );
    }
    assert_eq!(gone(&doubted, input), Decision::End(End::Drop));
    assert_eq!(progress(&gone(&doubted, Input::Sweep)).sweeps, 1, "it stays in the index");
}

#[test]
fn what_the_store_will_never_take_fails_only_where_nothing_was_begun() {
    let stamp = Stamp { written_at: NOW, stamped_at: NOW.plus(HOUR) };
    let refused = |status, action_status| {
        let (event, action) = (event(status), action(action_status));
        let state = State::Bound { event: &event, action: Some(&action), policy: None, intent: None };
        on(state, Input::StoreRefused { cause: "too large", stamp }, NOW)
    };
    for standing in [ActionStatus::Ready, ActionStatus::Rejected] {
        let decision = refused(EventStatus::Processing, standing);
        assert_eq!(
            (progress(&decision).status, slug(&decision)),
            (EventStatus::Failed, Some(Slug::StoreRefused))
        );
        assert!(matches!(written(&decision).action, Some(ActionWrite::Check { .. })));
    }
    for unsettled in [ActionStatus::Begun, ActionStatus::InDoubt, ActionStatus::Done] {
        assert_eq!(refused(EventStatus::Processing, unsettled), Decision::End(End::Fail));
    }
    let event = event(EventStatus::Received);
    let input = Input::StoreRefused { cause: "too large", stamp };
    let decision = on(State::Stored(&event), input, NOW);
    assert_eq!(
        (progress(&decision).status, slug(&decision)),
        (EventStatus::Failed, Some(Slug::StoreRefused))
    );
    // Or its own message, stamped later by another clock, would look like a redrive.
    assert_eq!(progress(&decision).failed_at, Some(stamp.stamped_at));
}

#[test]
fn the_sweeper_leaves_alone_what_is_not_due_or_at_rest() {
    let mut early = event(EventStatus::Received);
    early.progress.due = Some(NOW.plus(Duration::from_millis(1)));
    assert_eq!(sweep(&early, NOW), Decision::End(End::Drop));
    early.progress.due = None;
    assert_eq!(sweep(&early, NOW), Decision::End(End::Drop));
    for status in [EventStatus::Processed, EventStatus::Ignored, EventStatus::Failed, EventStatus::Held] {
        assert_eq!(sweep(&event(status), NOW), Decision::End(End::Drop));
    }
    assert_eq!(on(State::Missing, Input::Sweep, NOW), Decision::End(End::Drop));
}

#[test]
fn what_is_due_is_sent_again_at_a_growing_interval() {
    let mut event = event(EventStatus::Received);
    event.progress.sweeps = 2;
    let decision = sweep(&event, NOW);
    assert_eq!(then(&decision), Then::End(End::Send));
    assert_eq!(progress(&decision).sweeps, 3);
    assert_eq!(progress(&decision).due, Some(NOW.plus(limits().first_sweep * 8)));
    assert_eq!(progress(&decision).status, EventStatus::Received);
}

#[test]
fn at_its_bound_the_sweeper_itself_fails_what_nobody_claimed() {
    let mut swept = event(EventStatus::Received);
    swept.progress.sweeps = limits().sweeps;
    let [tried, old] = at_a_bound(EventStatus::Received);
    for event in [swept, tried, old] {
        let decision = sweep(&event, NOW);
        assert_eq!(
            (progress(&decision).status, slug(&decision)),
            (EventStatus::Failed, Some(Slug::BoundReached))
        );
        assert_eq!(then(&decision), Then::End(End::Drop), "the sweeper has no record to fail");
        assert_eq!((progress(&decision).failed_at, progress(&decision).expires), (Some(NOW), None));
    }
}

#[test]
fn a_bound_event_is_read_with_its_action_before_anything_is_decided() {
    for status in [EventStatus::Processing, EventStatus::InDoubt] {
        assert_eq!(sweep(&event(status), NOW), Decision::Read(Read::Action(key())));
    }
    let mut waits = event(EventStatus::InDoubt);
    waits.progress.action = None;
    let decision = sweep(&waits, NOW);
    assert_eq!((progress(&decision).sweeps, then(&decision)), (1, Then::End(End::Drop)));
}

#[test]
fn the_sweeper_goes_by_what_the_action_says() {
    let event = event(EventStatus::Processing);
    let (park, retry) = (policy(InDoubt::Park), policy(InDoubt::Retry));
    let swept = |action: Action, policy| sweep_bound(&event, Some(&action), Some(policy));
    assert_eq!(then(&swept(action(ActionStatus::Ready), &park)), Then::End(End::Send));
    assert_eq!(then(&swept(action(ActionStatus::Begun), &park)), Then::End(End::Drop), "its lease runs");
    let expired = Action { lease_until: NOW, ..action(ActionStatus::Begun) };
    let decision = swept(expired.clone(), &retry);
    assert_eq!(
        (progress(&decision).status, then(&decision)),
        (EventStatus::Processing, Then::End(End::Send))
    );
    assert_eq!(progress(&swept(expired.clone(), &park)).status, EventStatus::InDoubt);
    assert_eq!(progress(&sweep_bound(&event, Some(&expired), None)).status, EventStatus::InDoubt);
    let [tried, old] = at_a_bound(EventStatus::Processing);
    for event in [tried, old] {
        let decision = sweep_bound(&event, Some(&expired), Some(&retry));
        assert_eq!(progress(&decision).status, EventStatus::InDoubt);
        let decision = sweep_bound(&event, Some(&action(ActionStatus::Ready)), Some(&retry));
        assert_eq!(
            (progress(&decision).status, then(&decision)),
            (EventStatus::Failed, Then::End(End::Drop))
        );
    }
    assert_eq!(progress(&swept(action(ActionStatus::Done), &park)).status, EventStatus::Processed);
    assert_eq!(progress(&swept(action(ActionStatus::InDoubt), &park)).status, EventStatus::InDoubt);
    assert_eq!(progress(&swept(action(ActionStatus::Rejected), &park)).status, EventStatus::Failed);
}

#[test]
fn what_is_in_doubt_is_looked_at_without_end_and_never_sent() {
    let mut doubted = event(EventStatus::InDoubt);
    doubted.progress.sweeps = limits().sweeps + 5;
    let decision = sweep_bound(&doubted, Some(&action(ActionStatus::InDoubt)), None);
    assert_eq!((progress(&decision).status, then(&decision)), (EventStatus::InDoubt, Then::End(End::Drop)));
}

// INV-9: nothing open can reach its TTL.
#[test]
fn what_has_used_half_of_its_window_loses_its_ttl_with_its_payload_first() {
    let mut event = event(EventStatus::Received);
    let half = NOW.plus(limits().window / 2);
    let (at_half, later) = (half.expires_after(Duration::ZERO), half.expires_after(HOUR));
    event.progress.expires = Some(later);
    let decision = sweep(&event, NOW);
    assert_eq!(
        (progress(&decision).expires, &written(&decision).payload),
        (Some(later), &PayloadTtl::Unchanged)
    );
    event.progress.expires = Some(at_half);
    event.seen.deliveries = 3;
    event.seen.conflicts = 2;
    let decision = sweep(&event, half.minus(limits().window / 2));
    assert_eq!(progress(&decision).expires, None);
    assert!(matches!(written(&decision).payload, PayloadTtl::KeepBefore(..)));
    let counted = written(&decision).event.as_ref().unwrap().from.counted.unwrap();
    assert_eq!((counted.deliveries, counted.conflicts), (3, 2), "whoever is counted meanwhile refuses it");
    event.progress.expires = None;
    assert_eq!(written(&sweep(&event, NOW)).payload, PayloadTtl::Unchanged);
}
