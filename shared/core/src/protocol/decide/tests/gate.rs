//! What waits at the gate of an endpoint that is paused or drains.

use super::*;
use crate::protocol::policy::Gate;

fn swept(event: &Event, gate: Gate) -> Decision {
    decide(State::Stored(event), Input::Sweep, NOW, &Limits { gate, ..limits() }).unwrap()
}

/// An event that waits and is not due.
fn waiting() -> Event {
    let mut event = event(EventStatus::Received);
    event.progress.waits = true;
    event.progress.due = Some(NOW.plus(HOUR));
    event
}

// INV-8
#[test]
fn what_waits_is_looked_at_seldom_and_marked_and_nothing_is_counted() {
    let event = event(EventStatus::Received);
    for gate in [Gate::Paused, Gate::Later] {
        let decision = swept(&event, gate);
        let to = progress(&decision);
        assert_eq!((to.waits, to.due), (true, Some(NOW.plus(limits().longest_sweep))));
        assert_eq!((to.sweeps, to.attempts, to.status), (0, 0, EventStatus::Received));
        assert!(matches!(decision, Decision::Write { then: Then::End(End::Drop), .. }));
    }
}

// INV-9: however long the window, the next look comes before half of it is left.
#[test]
fn a_ttl_that_would_end_soon_after_the_next_look_is_taken_off_at_this_one() {
    let mut event = event(EventStatus::Received);
    let next = NOW.plus(limits().longest_sweep);
    let half = next.plus(limits().window / 2);
    for (expires, kept) in [(half, false), (half.plus(Duration::from_secs(2)), true)] {
        event.progress.expires = Some(ExpiresAt(expires.0 / 1_000));
        assert_eq!(progress(&swept(&event, Gate::Later)).expires.is_some(), kept);
    }
}

#[test]
fn what_waits_is_taken_up_before_it_is_due_when_its_turn_comes_and_not_otherwise() {
    let event = waiting();
    for gate in [Gate::Open, Gate::Paused, Gate::Later] {
        assert_eq!(swept(&event, gate), Decision::End(End::Drop));
    }
    let decision = swept(&event, Gate::Ahead);
    assert!(matches!(decision, Decision::Write { then: Then::End(End::Send), .. }));
    let to = progress(&decision);
    assert_eq!((to.waits, to.sweeps, to.due), (false, 1, Some(NOW.plus(limits().first_sweep * 2))));
}

// INV-5: of two sweepers that have read it, one sends.
#[test]
fn what_is_taken_up_is_never_due_at_the_time_at_which_it_was() {
    let mut event = waiting();
    event.progress.due = Some(NOW.plus(limits().first_sweep * 2));
    let to = progress(&swept(&event, Gate::Ahead)).due;
    assert_ne!(to, event.progress.due);
}

#[test]
fn what_waited_and_goes_on_by_a_message_is_looked_at_as_usual() {
    let event = waiting();
    let wanted = wanted(Late::Act);
    let intent = Intent::Act { moves: None, action: Some(wanted) };
    let decision = planned(&event, &intent, None, None);
    let to = progress(&decision);
    assert_eq!((to.status, to.waits), (EventStatus::Processing, false));
    assert_eq!(to.due, Some(NOW.plus(limits().first_sweep)));
}
