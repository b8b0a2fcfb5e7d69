//! The simulation, the short way: every single fault over every shape, some
//! seeds, the mistakes that it must notice, and by name the cases in which
//! receivers elsewhere had their effect twice. `make sim` goes the long way.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use sekali::ids::Token;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali_tests::fault::{Exploration, Fault, Menu, PortCall, Trouble};
use sekali_tests::memory::{Removal, StoreCall, Tables};
use sekali_tests::sim::explore::{self, LONG_PAUSE};
use sekali_tests::sim::{BEGINNING, Case, Mutant, Run, Sent, Shape};
use std::sync::Arc;
use std::time::Duration;

/// Its destination honours the key.
const HONOURED: &str = "a payment delivered three times";
/// Its destination promises nothing.
const UNPROMISED: &str = "a payment delivered three times to a destination that promises nothing";

const DAY: Duration = Duration::from_secs(86_400);

fn shape(name: &str) -> Arc<Shape> {
    Arc::new(Shape::named(name).unwrap_or_else(|| panic!("no shape is called `{name}`")))
}

/// Runs a case that must keep every promise.
fn kept(case: &Case) -> Run {
    let run = case.run();
    assert!(run.violations.is_empty(), "{}", case.told().report(case));
    run
}

fn only_event(tables: &Tables) -> &Event {
    tables.events().next().unwrap()
}

fn only_action(tables: &Tables) -> &Action {
    tables.actions().next().unwrap()
}

/// A fault at the destination's first call.
fn at_the_effect(name: &str, fault: Fault) -> Case {
    Case::quiet(&shape(name), 0).meeting(PortCall::Effect, 0, fault).unwrap()
}

/// In doubt before a human came, with the evidence that there was; settled by
/// the human, with one effect in all.
fn doubted_and_settled(run: &Run, slug: Slug) {
    let action = only_action(&run.before);
    assert_eq!(only_event(&run.before).progress.status, EventStatus::InDoubt);
    assert_eq!(action.status, ActionStatus::InDoubt);
    assert_eq!(action.reason.as_ref().map(|reason| reason.slug), Some(slug));
    assert_eq!(only_event(&run.after).progress.status, EventStatus::Processed);
    assert_eq!(run.effects, 1);
}

/// Processed without a human, with one effect after this many calls.
fn done_alone(run: &Run, calls: usize) {
    assert_eq!(only_event(&run.before).progress.status, EventStatus::Processed);
    assert_eq!((run.effects, run.calls), (1, calls));
}

#[test]
fn every_single_fault_at_every_point_of_every_shape_keeps_every_promise() {
    let menu = Menu { pause: LONG_PAUSE, permanent: true };
    let mut all = explore::Tally::default();
    for shape in Shape::all().into_iter().map(Arc::new) {
        all.add(explore::every(&shape, 0, menu, 1));
    }
    if let Some(case) = all.broken.first() {
        panic!("{} of {} schedules\n{}", all.violations, all.schedules, case.told().report(case));
    }
    assert_eq!(all.unmet, 0, "schedules whose fault was never met");
    assert_eq!(all.never_met(menu), []);
}

#[test]
fn faults_drawn_from_seeds_keep_every_promise() {
    let tally = explore::seeds(0..2_000);
    if let Some(case) = tally.broken.first().map(explore::shrunk) {
        panic!("{} of {} schedules\n{}", tally.violations, tally.schedules, case.told().report(&case));
    }
}

#[test]
fn the_same_case_goes_the_same_way_again() {
    let case = at_the_effect(HONOURED, Fault::CrashAfter);
    assert_eq!(case.told().lines, case.told().lines);
    let another = Case { seed: 1, ..case.clone() };
    assert_ne!(case.told().lines, another.told().lines);
}

#[test]
fn every_mistake_of_a_process_is_noticed_as_the_promise_that_it_breaks() {
    let menu = Menu { pause: LONG_PAUSE, permanent: false };
    for (mutant, promise, name) in Mutant::ALL {
        let right = Case::quiet(&shape(name), 0);
        let wrong = Case { mutant: Some(mutant), ..right.clone() };
        let mut exploration = Exploration::of(menu, 1).around(right.schedule.clone());
        let noticed = std::iter::from_fn(|| {
            exploration.next_schedule().map(|schedule| {
                let run = wrong.under(schedule.clone()).run();
                exploration.learn(&schedule, &run.points[..run.traffic]);
                run
            })
        })
        .any(|run| run.violations.iter().any(|violation| violation.promise == promise));
        assert!(noticed, "{mutant:?} breaks {promise}, and no single fault shows it");
    }
}

// The five cases, and the mirror.

#[test]
fn killed_after_the_effect_there_is_one_effect_or_a_doubt_with_evidence() {
    done_alone(&kept(&at_the_effect(HONOURED, Fault::CrashAfter)), 2);
    let parked = kept(&at_the_effect(UNPROMISED, Fault::CrashAfter));
    doubted_and_settled(&parked, Slug::LeaseExpired);
    assert_eq!(parked.calls, 1);
}

// INV-2
#[test]
fn a_vendor_that_wants_to_be_called_back_is_confirmed_once_however_the_call_ends() {
    done_alone(&kept(&Case::quiet(&shape("a subscription that is confirmed by one call"), 0)), 1);
    done_alone(&kept(&Case::quiet(&shape("a confirmation that nobody hears of"), 0)), 2);
    let refused =
        kept(&Case::quiet(&shape("a confirmation that is refused, until a human sends it again"), 0));
    assert_eq!(only_event(&refused.before).progress.status, EventStatus::Failed);
    assert_eq!((only_event(&refused.after).progress.status, refused.effects), (EventStatus::Processed, 1));
}

#[test]
fn when_the_write_after_the_effect_fails_there_is_one_effect_or_a_doubt_with_evidence() {
    for name in [HONOURED, UNPROMISED] {
        let quiet = Case::quiet(&shape(name), 0);
        let points = quiet.run().points;
        let effect = points.iter().position(|point| point.call == PortCall::Effect).unwrap();
        let is_write = |call| call == PortCall::Store(StoreCall::Write);
        let write = points[effect..].iter().find(|point| is_write(point.call)).unwrap();
        for fault in (Menu { pause: LONG_PAUSE, permanent: true }).of(write.call) {
            let run = kept(&quiet.with(write.number, fault));
            assert_eq!(run.effects, 1, "{name}: {fault:?}");
            let status = only_event(&run.before).progress.status;
            assert!(
                matches!(status, EventStatus::Processed | EventStatus::InDoubt),
                "{name}: {fault:?} left it {}",
                status.as_str()
            );
        }
    }
}

#[test]
fn hanging_past_the_lease_the_destination_sees_one_effect() {
    for fault in [Fault::PauseBefore(LONG_PAUSE), Fault::PauseAfter(LONG_PAUSE)] {
        let honoured = kept(&at_the_effect(HONOURED, fault));
        assert_eq!(only_event(&honoured.before).progress.status, EventStatus::Processed);
        assert_eq!(honoured.effects, 1);
        // The owner's late answer settles what was in doubt meanwhile.
        done_alone(&kept(&at_the_effect(UNPROMISED, fault)), 1);
    }
}

#[test]
fn a_client_timeout_after_the_effect_ends_in_one_effect_or_a_doubt_with_evidence() {
    done_alone(&kept(&at_the_effect(HONOURED, Fault::AnswerLost)), 2);
    let parked = kept(&at_the_effect(UNPROMISED, Fault::AnswerLost));
    doubted_and_settled(&parked, Slug::NoAnswer);
    assert_eq!(parked.calls, 1);
}

#[test]
fn a_retry_that_comes_when_its_event_has_expired_begins_no_second_effect() {
    let case = Case::quiet(&shape("the same payment after twenty and after eighty days"), 0);
    let run = kept(&Case { removal: Some(Removal::Exact), ..case });
    let event = only_event(&run.after);
    assert!(event.received_at > BEGINNING.plus(79 * DAY), "the event was removed and came anew");
    done_alone(&run, 1);
}

#[test]
fn what_is_in_doubt_outlives_every_window_and_a_late_retry_begins_no_second_effect() {
    let mut shape = Shape::named("acts unheard and promises nothing").unwrap();
    shape.sent.push(Sent { at: 80 * DAY, ..shape.sent[0].clone() });
    let case = Case { removal: Some(Removal::Exact), ..Case::quiet(&Arc::new(shape), 0) };
    let run = kept(&case);
    assert!(only_event(&run.before).received_at < BEGINNING.plus(DAY));
    assert_eq!(only_event(&run.before).seen.deliveries, 3);
    doubted_and_settled(&run, Slug::NoAnswer);
}

#[test]
fn killed_before_the_effect_it_happens_all_the_same_once() {
    done_alone(&kept(&at_the_effect(HONOURED, Fault::CrashBefore)), 1);
    let parked = kept(&at_the_effect(UNPROMISED, Fault::CrashBefore));
    doubted_and_settled(&parked, Slug::LeaseExpired);
    assert_eq!(only_action(&parked.after).generation.get(), 2, "a human looked, and began the next");
}

// What a claim can end in is told apart.

#[test]
fn a_claim_that_was_not_written_is_made_again_and_one_that_was_is_recognised() {
    let claim = PortCall::Store(StoreCall::Write);
    let at_the_claim = |fault| kept(&Case::quiet(&shape(UNPROMISED), 0).meeting(claim, 0, fault).unwrap());
    for fault in [
        // Throttled, and another's transaction: certainly not written.
        Fault::Refused(Trouble::Throttled),
        Fault::Refused(Trouble::Contended),
        // No answer: it was not written, or it was, once or twice.
        Fault::Refused(Trouble::Unanswered),
        Fault::AnswerLost,
        Fault::Repeated,
    ] {
        let run = at_the_claim(fault);
        done_alone(&run, 1);
        // Nobody took anything over: the nonce tells whose claim it is.
        assert_eq!(only_action(&run.before).token, Token::FIRST, "{fault:?}");
    }
    // What the store will never take fails, without a call and without a wait.
    let run = at_the_claim(Fault::Refused(Trouble::Invalid));
    let failed = &only_event(&run.before).progress;
    assert_eq!(failed.status, EventStatus::Failed);
    assert_eq!(failed.reason.as_ref().map(|reason| reason.slug), Some(Slug::StoreRefused));
    assert_eq!(run.before.actions().count(), 0);
}

// What the simulation once found.

#[test]
fn regression_an_owner_that_never_called_may_not_take_a_doubt_back() {
    let quiet = Case::quiet(&shape("cannot be reached twice and promises nothing"), 0);
    let claim = PortCall::Store(StoreCall::Write);
    kept(&quiet.meeting(claim, 0, Fault::PauseAfter(LONG_PAUSE)).unwrap());
}

#[test]
fn regression_a_payload_put_early_outlasts_the_event_of_a_later_delivery() {
    const ONCE_MORE: &[Duration] = &[Duration::from_secs(30)];
    let mut shape = Shape::named("two vendors name the same action").unwrap();
    shape.sent.iter_mut().for_each(|sent| sent.again = ONCE_MORE);
    let (create, put) = (PortCall::Store(StoreCall::CreateEvent), PortCall::Store(StoreCall::PutPayload));
    let quiet = Case::quiet(&Arc::new(shape), 0);
    let overtaken = quiet.meeting(create, 0, Fault::PauseBefore(LONG_PAUSE)).unwrap();
    let puts = overtaken.run().points.iter().filter(|point| point.call == put).count();
    for nth in 0..puts {
        kept(&overtaken.meeting(put, nth, Fault::Refused(Trouble::Throttled)).unwrap());
    }
}

#[test]
fn regression_a_payload_that_comes_while_the_sweeper_gives_up_is_kept() {
    let mut shape = Shape::named("a delivery that died half way and comes again after two days").unwrap();
    shape.sent[0].again = &[];
    for seed in 0..6 {
        let alone = Case::quiet(&Arc::new(shape.clone()), seed).run();
        let failed = only_event(&alone.before).progress.failed_at.unwrap().since(BEGINNING);
        for millis in 0..40 {
            let at = failed - Duration::from_millis(20) + Duration::from_millis(millis);
            let mut shape = shape.clone();
            shape.sent.push(Sent { at, ..shape.sent[0].clone() });
            kept(&Case::quiet(&Arc::new(shape), seed));
        }
    }
}

// INV-2: whoever claimed it next would have sent what was erased.
#[test]
fn regression_what_was_ready_to_be_sent_is_rejected_before_it_is_erased() {
    let run = kept(&Case::quiet(&shape("it cannot be reached for long, is discarded and erased"), 0));
    let (event, action) = (only_event(&run.after), only_action(&run.after));
    assert!(event.is_erased() && event.progress.status == EventStatus::Failed);
    assert_eq!((action.status, action.request.body.as_slice()), (ActionStatus::Rejected, &[][..]));
    assert_eq!(run.effects, 0);
}
