//! What a redrive would do, and that it then does just that.

use super::*;
use crate::protocol::decide::prospect::{Outlook, Prospect, prospect};

fn found(state: State<'_>) -> Prospect {
    match prospect(state, NOW.plus(HOUR), &limits()).unwrap() {
        Outlook::Is(prospect) => prospect,
        Outlook::Read(read) => panic!("wants to read {read:?}"),
    }
}

/// It begins, at the destination that the rules and the action of the tests name.
fn acts() -> Prospect {
    Prospect::Acts("packing".into())
}

fn failed_over(action: &Action, policy: Option<&EffectPolicy>, intent: Option<&Intent<'_>>) -> Prospect {
    let mut event = event(EventStatus::Failed);
    event.progress.action = Some(key());
    event.progress.action_generation = Some(Generation::FIRST);
    found(State::Bound { event: &event, action: Some(action), policy, intent })
}

fn failed_before(intent: &Intent<'_>) -> Prospect {
    let event = event(EventStatus::Failed);
    found(State::Planned { event: &event, intent, resource: None, action: None })
}

#[test]
fn a_redrive_moves_nothing_but_a_failed_event() {
    let of = |status| found(State::Stored(&event(status)));
    assert_eq!(of(EventStatus::Received), Prospect::UnderWay);
    assert_eq!(of(EventStatus::Processing), Prospect::UnderWay);
    assert_eq!(of(EventStatus::Processed), Prospect::Finished(EventStatus::Processed));
    assert_eq!(of(EventStatus::Ignored), Prospect::Finished(EventStatus::Ignored));
    assert_eq!(of(EventStatus::Held), Prospect::Held);
    assert_eq!(of(EventStatus::InDoubt), Prospect::InDoubt);
    assert_eq!(found(State::Missing), Prospect::NoEvent);
}

#[test]
fn a_failed_event_says_what_must_be_read_before_anybody_knows() {
    fn ask(state: State<'_>) -> Outlook {
        prospect(state, NOW.plus(HOUR), &limits()).unwrap()
    }
    let mut failed = event(EventStatus::Failed);
    assert_eq!(ask(State::Stored(&failed)), Outlook::Read(Read::Intent));
    failed.progress.action = Some(key());
    assert_eq!(ask(State::Stored(&failed)), Outlook::Read(Read::Action(key())));
    let (rejected, policy) = (action(ActionStatus::Rejected), policy(InDoubt::Park));
    let state = State::Bound { event: &failed, action: Some(&rejected), policy: Some(&policy), intent: None };
    assert_eq!(ask(state), Outlook::Read(Read::Intent));
}

#[test]
fn what_today_s_rules_want_decides_where_nothing_is_bound() {
    let act = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    assert_eq!(failed_before(&act), acts());
    let rule_gone = Reason::bare(Slug::NoRule);
    let ends = Prospect::Ends(EventStatus::Ignored, Some(rule_gone.clone()));
    assert_eq!(failed_before(&Intent::Nothing(rule_gone)), ends);
    assert!(!ends.goes_round());
    let endpoint_gone = Reason::bare(Slug::EndpointGone);
    let ends = Prospect::Ends(EventStatus::Held, Some(endpoint_gone.clone()));
    assert_eq!(failed_before(&Intent::Hold(endpoint_gone)), ends);
    let no_action = Intent::Act { moves: None, action: None };
    assert_eq!(failed_before(&no_action), Prospect::Ends(EventStatus::Processed, None));
    assert!(failed_before(&no_action).goes_round());
    assert_eq!(failed_before(&Intent::PayloadMissing), Prospect::NoPayload);
    let asks = Intent::Unknown { reason: Reason::bare(Slug::TruthUnread), not_before: None };
    assert_eq!(failed_before(&asks), Prospect::Waits);
}

#[test]
fn the_action_decides_where_one_is_bound() {
    let policy = policy(InDoubt::Park);
    let act = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let over = |status| failed_over(&action(status), Some(&policy), Some(&act));
    assert_eq!(over(ActionStatus::Ready), acts());
    assert_eq!(over(ActionStatus::Done), Prospect::Ends(EventStatus::Processed, None));
    assert!(matches!(over(ActionStatus::InDoubt), Prospect::Ends(EventStatus::InDoubt, _)));
    let mut rejected = action(ActionStatus::Rejected);
    rejected.settled_at = Some(NOW);
    assert_eq!(failed_over(&rejected, Some(&policy), Some(&act)), acts());
    let Prospect::Ends(EventStatus::Failed, Some(gone)) = failed_over(&rejected, None, Some(&act)) else {
        panic!("its destination is gone")
    };
    assert_eq!(gone.slug, Slug::DestinationGone);
}

#[test]
fn a_redrive_during_a_pause_waits_for_its_end() {
    let paused = Limits { gate: crate::protocol::policy::Gate::Paused, ..limits() };
    let found = prospect(State::Stored(&event(EventStatus::Failed)), NOW.plus(HOUR), &paused);
    assert_eq!(found, Ok(Outlook::Is(Prospect::Waits)));
}

#[test]
fn a_discarded_event_stays_failed_leaves_the_index_and_may_still_be_redriven_by_name() {
    let mut failed = event(EventStatus::Failed);
    failed.progress.reason = Some(Reason::with(Slug::Rejected, "it answered 422"));
    let discard = Input::Operator(&Operator::Discard);
    let decision = on(State::Stored(&failed), discard, NOW.plus(HOUR));
    let to = progress(&decision).clone();
    assert_eq!((to.status, to.due, to.failed_at), (EventStatus::Failed, None, failed.progress.failed_at));
    assert_eq!(to.reason, Some(Reason::with(Slug::Discarded, "rejected: it answered 422")));
    assert!(to.expires.is_some());
    assert!(matches!(written(&decision).payload, PayloadTtl::ExpireAfter(..)));

    failed.progress = to;
    assert_eq!(found(State::Stored(&failed)), Prospect::Discarded);
    assert!(matches!(on(State::Stored(&failed), discard, NOW), Decision::End(End::Refuse(_))));
    let redriven = on(State::Stored(&failed), Input::Operator(&Operator::Redrive), NOW.plus(HOUR));
    assert_eq!(progress(&redriven).expires, None);
    assert!(matches!(written(&redriven).payload, PayloadTtl::KeepBefore(..)));
}

#[test]
fn only_what_has_ended_is_erased_and_then_nothing_sends_it_round() {
    let erase = |event: &Event| on(State::Stored(event), Input::Operator(&Operator::Erase), NOW);
    use EventStatus::{Failed, Held, InDoubt, Processing, Received};
    for status in [Received, Processing, Failed, Held, InDoubt] {
        assert!(matches!(erase(&event(status)), Decision::End(End::Refuse(_))), "{status:?}");
    }
    let mut ended = event(EventStatus::Ignored);
    ended.progress.reason = Some(Reason::with(Slug::NoRule, "words of somebody"));
    let decision = erase(&ended);
    let to = progress(&decision).clone();
    assert_eq!(to.reason, Some(Reason::with(Slug::Erased, "no_rule")));
    assert_eq!(to, Progress { reason: to.reason.clone(), ..ended.progress.clone() });
    ended.progress = to;
    let owner = OwnerNonce::new("human");
    for operator in [
        Operator::Erase,
        Operator::Redrive,
        Operator::Again { owner },
        Operator::Replay { forced: true },
        Operator::Accept { facts: ended.facts() },
    ] {
        let decision = on(State::Stored(&ended), Input::Operator(&operator), NOW);
        assert!(matches!(decision, Decision::End(End::Refuse(_))), "{operator:?}");
    }
    // A letter of it that somebody moves by other means, too.
    let mut failed = event(Failed);
    failed.progress.reason = Some(Reason::bare(Slug::Erased));
    let moved = Stamp { written_at: NOW, stamped_at: NOW.plus(HOUR) };
    assert_eq!(message(&failed, moved), Decision::End(End::Fail));
}

// INV-2: whoever claims it next would send what is gone.
#[test]
fn an_action_that_is_ready_to_be_sent_is_closed_before_what_it_sends_is_erased() {
    let erase = Input::Operator(&Operator::Erase);
    let mut ended = event(EventStatus::Failed);
    ended.progress.reason = Some(Reason::bare(Slug::Discarded));
    ended.progress.action = Some(key());
    assert_eq!(on(State::Stored(&ended), erase, NOW), Decision::Read(Read::Action(key())));
    let over = |event: &Event, action: &Action| {
        on(State::Bound { event, action: Some(action), policy: None, intent: None }, erase, NOW)
    };
    let ready = Action { begun_by: ended.key.clone(), ..action(ActionStatus::Ready) };
    let decision = over(&ended, &ready);
    let Some(ActionWrite::Put { from, to }) = written(&decision).action.clone() else {
        panic!("{decision:?}")
    };
    assert_eq!((from, to.status, to.token), (ready.as_read(), ActionStatus::Rejected, ready.token));
    assert!(ready.status.may_become(to.status) && to.settled_at == Some(NOW));
    assert_eq!(progress(&decision).reason, Some(Reason::with(Slug::Erased, "discarded")));

    // What another began is that one's to erase; what is under way goes on.
    let others = Action { begun_by: EventKey::from_stored("event|other"), ..ready.clone() };
    for action in [&others, &action(ActionStatus::Begun), &action(ActionStatus::Rejected)] {
        assert_eq!(written(&over(&ended, action)).action, None);
    }
    // Somebody tried it meanwhile, and it is ready once more.
    ended.progress.reason = Some(Reason::bare(Slug::Erased));
    assert_eq!(on(State::Stored(&ended), erase, NOW), Decision::Read(Read::Action(key())));
    let decision = over(&ended, &ready);
    assert!(written(&decision).action.is_some() && written(&decision).event.is_none());
    assert!(matches!(over(&ended, &others), Decision::End(End::Refuse(_))));
}

// INV-2: what is sent is never made up of what was erased.
#[test]
fn a_next_generation_needs_bytes_of_its_own_where_the_last_were_erased() {
    let policy = policy(InDoubt::Park);
    let act = Intent::Act { moves: None, action: Some(wanted(Late::Act)) };
    let mut emptied = action(ActionStatus::Rejected);
    emptied.settled_at = Some(NOW);
    emptied.request.body.clear();
    assert_eq!(failed_over(&emptied, Some(&policy), Some(&act)), acts());
    let nothing = Intent::Nothing(Reason::bare(Slug::NoRule));
    assert!(matches!(
        failed_over(&emptied, Some(&policy), Some(&nothing)),
        Prospect::Ends(EventStatus::Failed, Some(_))
    ));
}
