//! What a claim writes, field by field, and what it meets.

use super::*;
use crate::protocol::resource::ResourceGuard;

fn act() -> Intent<'static> {
    Intent::Act { moves: None, action: Some(wanted(Late::Act)) }
}

/// A round that a human opened an hour ago.
fn redriven() -> Event {
    let mut event = event(EventStatus::Received);
    event.progress.generation = Generation::FIRST.next();
    event.progress.opened_at = NOW.plus(HOUR);
    event
}

fn then(decision: &Decision) -> Then {
    match decision {
        Decision::Write { then, .. } => *then,
        other => panic!("a write was expected, not {other:?}"),
    }
}

#[test]
fn a_first_begin_is_all_new() {
    let event = event(EventStatus::Received);
    let decision = planned(&event, &act(), None, None);
    let expected = Action { owner: OwnerNonce::new("me"), settled_at: None, ..action(ActionStatus::Begun) };
    assert_eq!(*put(&decision), expected);
    let progress = progress(&decision);
    assert_eq!((&progress.action, progress.action_generation), (&Some(key()), Some(Generation::FIRST)));
    // A first claim leaves the index alone; the status refuses the sweeper's older write.
    assert_eq!(progress.due, event.progress.due);
}

#[test]
fn a_ready_action_is_begun_again_with_what_was_frozen() {
    let ready = Action { doubted: true, ..action(ActionStatus::Ready) };
    let other = Wanted { request: FrozenRequest { body: b"{1}".to_vec(), ..request() }, ..wanted(Late::Act) };
    let intent = Intent::Act { moves: None, action: Some(other) };
    let expected = Action {
        status: ActionStatus::Begun,
        token: Token::FIRST.next(),
        owner: OwnerNonce::new("me"),
        lease_until: NOW.plus(HOUR),
        ..ready.clone()
    };
    let decision = planned(&event(EventStatus::Received), &intent, None, Some(&ready));
    assert_eq!((put(&decision), then(&decision)), (&expected, Then::Call));
    let event = event(EventStatus::Processing);
    let decision = bound(&event, &Action { lease_until: NOW, ..ready }, &policy(InDoubt::Park), NOW);
    assert_eq!((put(&decision), then(&decision)), (&expected, Then::Call));
    assert_eq!(progress(&decision).attempts, 2);
    assert!(progress(&decision).due > event.progress.due, "of two writers with one reading only one writes");
}

#[test]
fn the_next_generation_of_a_rejected_action_is_all_new_but_its_fence() {
    let no = Action {
        doubted: true,
        result: Some(EffectResult("old".into())),
        reason: Some(Reason::bare(Slug::Rejected)),
        begun_by: EventKey::from_stored("event|other"),
        lease_until: NOW,
        ..action(ActionStatus::Rejected)
    };
    let todays = FrozenRequest { body: b"{1}".to_vec(), ..request() };
    let input = InputDigest::from_stored("two");
    let today = Wanted { request: todays.clone(), input: input.clone(), ..wanted(Late::Act) };
    let expected = Action {
        generation: Generation::FIRST.next(),
        token: Token::FIRST.next(),
        owner: OwnerNonce::new("me"),
        first_begun_at: NOW.plus(HOUR),
        lease_until: NOW.plus(HOUR * 2),
        request: todays,
        input,
        settled_at: None,
        ..action(ActionStatus::Begun)
    };
    let worker = Worker { lease: Lease::Until(NOW.plus(HOUR * 2)), ..worker() };
    let input = Input::Message { stamp: fresh(), worker: &worker };
    let (intent, park) = (Intent::Act { moves: None, action: Some(today) }, policy(InDoubt::Park));
    let mut event = redriven();
    let state = State::Planned { event: &event, intent: &intent, resource: None, action: Some(&no) };
    let decision = on(state, input, NOW.plus(HOUR));
    assert_eq!((put(&decision), then(&decision)), (&expected, Then::Call));
    event.progress.action = Some(key());
    let state = State::Bound { event: &event, action: Some(&no), policy: Some(&park), intent: Some(&intent) };
    let decision = on(state, input, NOW.plus(HOUR));
    assert_eq!((put(&decision), then(&decision)), (&expected, Then::Call));
    assert_eq!(progress(&decision).action_generation, Some(Generation::FIRST.next()));
}

#[test]
fn a_rule_that_names_another_action_by_now_lends_it_no_bytes() {
    let no = action(ActionStatus::Rejected);
    let elsewhere = ActionKey::from_fields(&ActionName::from("refund"), None, &["order_1"]);
    let todays = FrozenRequest { body: b"{1}".to_vec(), ..request() };
    let other = Wanted { key: elsewhere, request: todays, ..wanted(Late::Act) };
    let (intent, park) = (Intent::Act { moves: None, action: Some(other) }, policy(InDoubt::Park));
    let mut event = redriven();
    event.progress.action = Some(key());
    let state = State::Bound { event: &event, action: Some(&no), policy: Some(&park), intent: Some(&intent) };
    let decision = on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW);
    assert_eq!(put(&decision).request, request());
    let state = State::Bound { event: &event, action: Some(&no), policy: None, intent: Some(&intent) };
    let decision = on(state, Input::Message { stamp: fresh(), worker: &worker() }, NOW);
    assert_eq!(progress(&decision).reason.as_ref().map(|reason| reason.slug), Some(Slug::DestinationGone));
}

#[test]
fn a_rejected_action_fails_whoever_asks_for_it_in_a_round_as_old() {
    let no = Action { reason: Some(Reason::with(Slug::Rejected, "422")), ..action(ActionStatus::Rejected) };
    let other = Wanted { input: InputDigest::from_stored("two"), ..wanted(Late::Act) };
    let intent = Intent::Act { moves: None, action: Some(other) };
    let mut at_the_same_moment = redriven();
    at_the_same_moment.progress.opened_at = NOW;
    let mut first_round = event(EventStatus::Received);
    first_round.progress.opened_at = NOW.plus(HOUR);
    for event in [event(EventStatus::Received), at_the_same_moment, first_round] {
        let decision = planned(&event, &intent, None, Some(&no));
        assert_eq!(
            (progress(&decision).status, then(&decision)),
            (EventStatus::Failed, Then::End(End::Fail))
        );
        // Why it failed is more than that it asked with other values.
        assert_eq!(progress(&decision).reason, no.reason);
        assert_eq!(progress(&decision).action_generation, Some(Generation::FIRST));
    }
}

#[test]
fn an_event_that_shares_a_begun_action_moves_its_resource_and_waits_for_that_generation() {
    let begun = Action { generation: Generation::FIRST.next(), ..action(ActionStatus::Begun) };
    let graph = Graph::new([("pending", "paid")]).unwrap();
    let moves = moves("paid", OrderValue::Rank, &graph);
    let intent = Intent::Act { moves: Some(moves), action: Some(wanted(Late::Act)) };
    let decision = planned(&event(EventStatus::Received), &intent, None, Some(&begun));
    assert_eq!(then(&decision), Then::End(End::Wait(begun.lease_until)));
    assert_eq!(progress(&decision).action_generation, Some(begun.generation));
    assert_eq!(
        written(&decision).resource.as_ref().map(|write| write.to.status.clone()),
        Some("paid".into())
    );
}

#[test]
fn other_values_are_shown_while_the_event_waits_too_and_the_same_values_are_not() {
    let ask = |digest: &str, begun| {
        let other = Wanted { input: InputDigest::from_stored(digest), ..wanted(Late::Act) };
        let intent = Intent::Act { moves: None, action: Some(other) };
        progress(&planned(&event(EventStatus::Received), &intent, None, Some(&begun))).reason.clone()
    };
    assert_eq!(ask("two", action(ActionStatus::Begun)), Some(Reason::bare(Slug::OtherInput)));
    assert_eq!(ask("one", action(ActionStatus::Begun)), None);
    assert_eq!(ask("one", action(ActionStatus::Done)), None);
}

#[test]
fn that_an_event_asked_with_other_values_is_shown_until_it_is_processed() {
    let mut event = event(EventStatus::Processing);
    event.progress.reason = Some(Reason::bare(Slug::OtherInput));
    let park = policy(InDoubt::Park);
    let decision = bound(&event, &action(ActionStatus::Done), &park, NOW);
    assert_eq!(progress(&decision).reason, Some(Reason::bare(Slug::OtherInput)));
    event.progress.reason = Some(Reason::bare(Slug::NotStarted));
    assert_eq!(progress(&bound(&event, &action(ActionStatus::Done), &park, NOW)).reason, None);
}

fn moves<'a>(to: &str, order: OrderValue, graph: &'a Graph) -> Move<'a> {
    Move {
        resource: ResourceKey::new(&"payment".into(), None, "pi_1"),
        to: to.into(),
        order,
        told_by: ToldBy::Event,
        graph,
    }
}

#[test]
fn an_unclaimed_event_ends_as_the_rules_and_the_order_say() {
    let graph = Graph::new([("pending", "paid"), ("paid", "refunded")]).unwrap();
    let stored = Resource {
        key: ResourceKey::new(&"payment".into(), None, "pi_1"),
        status: "paid".into(),
        order: OrderValue::Time(NOW),
        version: Version::FIRST,
        moved_by: EventKey::from_stored("event|x"),
        moved_at: NOW,
    };
    let decided = |intent: &Intent<'_>| planned(&event(EventStatus::Received), intent, Some(&stored), None);
    let ended = |intent: &Intent<'_>| {
        let progress = progress(&decided(intent)).clone();
        (progress.status, progress.reason.map(|reason| reason.slug))
    };
    let says = |to, at| {
        let moves = moves(to, OrderValue::Time(at), &graph);
        Intent::Act { moves: Some(moves), action: None }
    };
    let reason = |slug| Reason::bare(slug);
    assert_eq!(ended(&Intent::Nothing(reason(Slug::NoRule))), (EventStatus::Ignored, Some(Slug::NoRule)));
    assert_eq!(
        ended(&Intent::Hold(reason(Slug::MissingKeyPart))),
        (EventStatus::Held, Some(Slug::MissingKeyPart))
    );
    assert_eq!(ended(&says("pending", UnixMillis(1))), (EventStatus::Ignored, Some(Slug::Late)));
    assert_eq!(ended(&says("elsewhere", NOW)), (EventStatus::Held, Some(Slug::UnknownStatus)));
    let ahead = NOW.plus(HOUR * 24);
    assert_eq!(ended(&says("refunded", ahead)), (EventStatus::Processed, None));
    let too_far = ahead.plus(Duration::from_millis(1));
    assert_eq!(ended(&says("refunded", too_far)), (EventStatus::Held, Some(Slug::FarFuture)));
    assert_eq!(
        decided(&Intent::PayloadMissing),
        Decision::End(End::Wait(NOW.plus(limits().first_sweep))),
        "its delivery may still be writing it"
    );

    let moved = |intent: &Intent<'_>| written(&decided(intent)).resource.clone();
    let write = moved(&says("refunded", ahead)).unwrap();
    assert_eq!(write.from, ResourceGuard::Version(Version::FIRST));
    assert_eq!((write.to.status, write.to.version), ("refunded".into(), Version::FIRST.next()));
    let confirmed = moved(&says("paid", ahead)).unwrap();
    assert_eq!((confirmed.to.status, confirmed.to.order), ("paid".into(), OrderValue::Time(ahead)));
    assert_eq!(moved(&says("paid", NOW)), None, "nothing to write");
    assert_eq!(moved(&says("pending", UnixMillis(1))), None);
}
