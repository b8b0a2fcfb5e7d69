//! A destination that can be asked.

use super::*;
use crate::ports::Found;

const MINUTE: Duration = Duration::from_secs(60);
/// Nothing of a call whose lease ended an hour after `NOW` is on its way any more.
const QUIET: Duration = Duration::from_secs(3600 + 10 + 60);

fn probing() -> EffectPolicy {
    EffectPolicy { honours_key_for: None, ..policy(InDoubt::Probe) }
}

fn probed(action: &Action, found: &Found, asked_at: UnixMillis) -> Decision {
    let event = event(EventStatus::Processing);
    let state = State::Bound { event: &event, action: Some(action), policy: Some(&probing()), intent: None };
    on(state, Input::Probed { found, asked_at }, asked_at)
}

fn not_done() -> Found {
    Found::NotDone("404".to_owned())
}

fn doubted(status: ActionStatus) -> Action {
    Action { doubted: true, ..action(status) }
}

#[test]
fn an_unknown_end_stays_begun_to_be_asked_about() {
    let begun = Action { lease_until: NOW.plus(HOUR), ..action(ActionStatus::Begun) };
    let after = outcome(&begun, &probing(), &Outcome::unknown("timeout"));
    assert_eq!((after.status, after.doubted, after.lease_until), (ActionStatus::Begun, true, NOW));
}

// Asking writes nothing and takes no token: the owner's late evidence counts.
#[test]
fn an_expired_lease_leads_to_a_question_and_to_no_write() {
    let (event, begun) = (event(EventStatus::Processing), doubted(ActionStatus::Begun));
    assert_eq!(bound(&event, &begun, &probing(), NOW.plus(HOUR)), Decision::Probe);
    let living = bound(&event, &begun, &probing(), NOW);
    assert_eq!(living, Decision::End(End::Wait(begun.lease_until)));
}

// INV-8
#[test]
fn a_round_that_is_too_old_is_asked_about_no_more() {
    let (event, begun) = (event(EventStatus::Processing), doubted(ActionStatus::Begun));
    let decision = bound(&event, &begun, &probing(), NOW.plus(limits().age));
    assert_eq!(
        (put(&decision).status, progress(&decision).status),
        (ActionStatus::InDoubt, EventStatus::InDoubt)
    );
}

#[test]
fn what_the_destination_says_happened_is_done_with_its_evidence() {
    let found = Found::Done(EffectResult("t_1".to_owned()));
    for status in [ActionStatus::Begun, ActionStatus::InDoubt] {
        let decision = probed(&doubted(status), &found, NOW.plus(HOUR));
        assert_eq!(put(&decision).status, ActionStatus::Done);
        assert_eq!(put(&decision).result, Some(EffectResult("t_1".to_owned())));
    }
}

// INV-6: not yet is not never.
#[test]
fn what_has_not_happened_counts_only_after_lease_deadline_and_settling_time() {
    let begun = doubted(ActionStatus::Begun);
    let early = NOW.plus(QUIET - Duration::from_millis(1));
    assert_eq!(probed(&begun, &not_done(), early), Decision::End(End::Wait(NOW.plus(QUIET))));
    let decision = probed(&begun, &not_done(), NOW.plus(QUIET));
    let ready = put(&decision);
    assert_eq!((ready.status, ready.doubted, ready.token), (ActionStatus::Ready, false, begun.token));
}

// INV-3
#[test]
fn what_was_marked_in_doubt_meanwhile_is_rejected_and_never_ready() {
    let decision = probed(&doubted(ActionStatus::InDoubt), &not_done(), NOW.plus(QUIET));
    assert_eq!(put(&decision).status, ActionStatus::Rejected);
}

// INV-6
#[test]
fn an_answer_that_says_neither_changes_nothing() {
    let unknown = Found::Unknown("503".to_owned());
    let decision = probed(&doubted(ActionStatus::Begun), &unknown, NOW.plus(QUIET));
    assert_eq!(decision, Decision::End(End::Wait(NOW.plus(QUIET).plus(limits().first_sweep))));
}

// INV-5: who took it over, or settled it, knows better than an old question.
#[test]
fn an_answer_for_an_action_that_moved_on_is_no_write() {
    for moved in [ActionStatus::Ready, ActionStatus::Done, ActionStatus::Rejected] {
        assert!(matches!(probed(&action(moved), &not_done(), NOW.plus(QUIET)), Decision::End(End::Wait(_))));
    }
    let held = action(ActionStatus::Begun);
    assert!(matches!(probed(&held, &not_done(), NOW.plus(MINUTE)), Decision::End(End::Wait(_))));
    let decision = probed(&doubted(ActionStatus::Begun), &not_done(), NOW.plus(QUIET));
    let Some(ActionWrite::Put { from, .. }) = &written(&decision).action else { panic!("no write") };
    assert_eq!(*from, doubted(ActionStatus::Begun).as_read());
}

#[test]
fn the_sweeper_sends_round_what_can_be_asked_about_whatever_was_tried() {
    let mut event = event(EventStatus::Processing);
    event.progress.attempts = limits().attempts;
    let begun = doubted(ActionStatus::Begun);
    let later = NOW.plus(HOUR);
    let swept = |event: &Event| {
        let state = State::Bound { event, action: Some(&begun), policy: Some(&probing()), intent: None };
        on(state, Input::Sweep, later)
    };
    assert!(matches!(swept(&event), Decision::Write { then: Then::End(End::Send), .. }));
    event.progress.sweeps = limits().sweeps;
    assert_eq!(put(&swept(&event)).status, ActionStatus::InDoubt);
}
