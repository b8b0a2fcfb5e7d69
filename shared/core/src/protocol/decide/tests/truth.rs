//! What the vendor's API says in an event's place.

use super::*;

fn unknown(cause: &str) -> Intent<'static> {
    Intent::Unknown { reason: Reason::with(Slug::TruthUnread, cause), not_before: None }
}

#[test]
fn what_the_api_does_not_say_yet_is_a_wait_and_what_it_waits_for_is_written_once() {
    let waiting = event(EventStatus::Received);
    let decision = planned(&waiting, &unknown("404"), None, None);
    let to = progress(&decision);
    assert_eq!((to.status, to.attempts), (EventStatus::Received, 0));
    assert_eq!(to.reason, Some(Reason::with(Slug::TruthUnread, "404")));
    assert!(to.due > waiting.progress.due, "of two writers with one reading one writes");
    let told = Event { progress: to.clone(), ..waiting };
    let again = Decision::End(End::AskAgain { not_before: None });
    assert_eq!(planned(&told, &unknown("404"), None, None), again);
    assert_ne!(planned(&told, &unknown("503"), None, None), again);
}

#[test]
fn what_the_api_will_never_say_is_a_failure() {
    let reason = Reason::with(Slug::TruthRefused, "403");
    let decision = planned(&event(EventStatus::Received), &Intent::Unknowable(reason.clone()), None, None);
    assert_eq!(
        (progress(&decision).status, &progress(&decision).reason),
        (EventStatus::Failed, &Some(reason))
    );
}

// INV-3
#[test]
fn what_the_api_says_now_is_newer_than_what_is_stored_unless_it_says_otherwise() {
    let graph = Graph::new([("active", "paused"), ("paused", "active")]).unwrap();
    let order = |number: &str| OrderValue::Sequence(crate::rule::Sequence::parse(number).unwrap());
    let stored = |order| Resource {
        key: ResourceKey::new(&"plan".into(), None, "p_1"),
        status: Status::from("paused"),
        order,
        version: Version::FIRST,
        moved_by: EventKey::from_stored("event|x"),
        moved_at: NOW,
    };
    let decided = |told_by, order: OrderValue, stored: &Resource| {
        let to = "active".into();
        let moves = Move { resource: stored.key.clone(), to, order, told_by, graph: &graph };
        let intent = Intent::Act { moves: Some(moves), action: None };
        planned(&event(EventStatus::Received), &intent, Some(stored), None)
    };
    let unordered = stored(OrderValue::Rank);
    let by_api = decided(ToldBy::Api, OrderValue::Rank, &unordered);
    assert_eq!(written(&by_api).resource.as_ref().unwrap().to.status, Status::from("active"));
    let by_event = decided(ToldBy::Event, OrderValue::Rank, &unordered);
    assert_eq!(progress(&by_event).status, EventStatus::Ignored, "there the way back makes it late");
    let outdated = decided(ToldBy::Api, order("6"), &stored(order("7")));
    assert_eq!(progress(&outdated).status, EventStatus::Received);
    assert_eq!(progress(&outdated).reason.as_ref().unwrap().slug, Slug::TruthOlder);
    assert_eq!(written(&outdated).resource, None);
}

#[test]
fn a_next_generation_is_not_begun_while_nobody_knows_what_it_would_ask_for() {
    let rejected = Action { settled_at: Some(UnixMillis(1)), ..action(ActionStatus::Rejected) };
    let mut redriven = event(EventStatus::Received);
    redriven.progress.generation = Generation::FIRST.next();
    redriven.progress.opened_at = NOW;
    redriven.progress.action = Some(rejected.key.clone());
    let policy = policy(InDoubt::Park);
    let waiting = unknown("429");
    let never = Intent::Unknowable(Reason::with(Slug::TruthRefused, "403"));
    let state = |intent| State::Bound {
        event: &redriven,
        action: Some(&rejected),
        policy: Some(&policy),
        intent: Some(intent),
    };
    let asked = |intent| on(state(intent), Input::Message { stamp: fresh(), worker: &worker() }, NOW);
    assert_eq!(asked(&waiting), Decision::End(End::AskAgain { not_before: None }));
    assert_eq!(progress(&asked(&never)).status, EventStatus::Failed);
}
