//! The model, the short way: the slices that are searched within seconds, and
//! every mutant, each a test of its own. `make model` goes the long way.

use sekali_tests::model::{MUTANTS, Mutant, QUICK, Report, catch, explore_all, never_taken};

/// More than any of these slices has.
const MOST: usize = 3_000_000;

#[test]
fn every_state_of_the_short_slices_keeps_every_promise_and_has_a_way_to_an_end() {
    let runs = explore_all(QUICK, MOST, |_| {});
    if let Some(told) = runs.iter().find_map(|run| run.violation.as_deref()) {
        panic!("{told}");
    }
    assert_eq!(never_taken(&runs), [""; 0], "steps that nobody ever takes prove nothing");
    let report = Report { runs, mutants: Vec::new() };
    assert!(report.is_good(), "{report}, and a slice was not searched to its end");
}

/// A name as the name of a test.
fn slug(name: &str) -> String {
    name.to_lowercase().replace('\'', "").replace([' ', ','], "_").replace("__", "_")
}

fn named(test: &str) -> &'static Mutant {
    let named = MUTANTS.iter().find(|mutant| slug(mutant.name) == test);
    named.unwrap_or_else(|| panic!("no mutant is called `{test}`"))
}

/// One test per mutant, and one that says when a mutant has none.
macro_rules! caught {
    ($($mutant:ident,)*) => {
        mod caught {
            $(#[test]
            fn $mutant() {
                let mutant = super::named(stringify!($mutant));
                assert!(super::catch(mutant).is_some(), "nothing notices that {}", mutant.name);
            })*
        }

        #[test]
        fn every_mutant_has_its_test() {
            let tested = [$(stringify!($mutant)),*];
            let all: Vec<String> = MUTANTS.iter().map(|mutant| slug(mutant.name)).collect();
            assert_eq!(all, tested);
        }
    };
}

caught! {
    a_delivery_is_acknowledged_before_its_payload_is_put,
    a_duplicate_is_answered_200_while_the_payload_is_missing,
    a_body_is_adopted_before_its_own_payload_is_durable,
    an_event_without_a_ttl_adopts_a_payload_with_one,
    an_adopted_content_is_put_to_the_rule_of_the_first_ones_type,
    a_content_that_would_be_held_is_adopted,
    a_duplicate_gives_a_kept_payload_a_ttl_again,
    a_duplicate_does_not_look_whether_the_ttl_is_gone,
    events_are_told_apart_by_the_id_of_their_delivery,
    an_event_that_is_brought_takes_the_place_of_one_that_arrived,
    what_was_brought_is_repeated_before_its_payload_was_seen,
    the_key_of_an_action_lacks_the_tenant,
    the_key_of_an_action_lacks_the_actions_name,
    the_parts_of_a_key_run_together,
    a_redrive_makes_a_new_action_key,
    the_action_key_is_computed_anew_when_a_message_comes_again,
    each_attempt_calls_under_a_key_of_its_own,
    an_event_write_does_not_name_its_generation,
    an_event_write_does_not_name_the_due_time_as_read,
    a_claim_does_not_name_the_content_it_was_decided_on,
    a_ttl_is_taken_off_without_naming_what_was_counted,
    a_resource_moves_whatever_happened_since_it_was_read,
    a_begin_is_not_fenced,
    a_completion_names_neither_owner_nor_token,
    a_late_owner_does_not_see_the_mark_of_doubt,
    a_takeover_keeps_the_token,
    a_short_lock_has_no_owner_and_is_begun_again_when_it_expires,
    an_expired_lease_alone_runs_the_effect_again,
    calls_repeat_after_the_destination_forgot_the_key,
    a_call_begins_after_its_lease,
    what_certainly_did_not_start_is_parked,
    a_call_without_an_answer_counts_as_done,
    a_call_without_an_answer_counts_as_not_started,
    a_no_after_a_call_without_an_answer_is_taken_for_certain,
    a_mark_of_doubt_spoils_the_owners_certain_answer,
    a_takeover_freezes_its_request_anew,
    a_human_is_believed_while_the_call_may_still_take_effect,
    an_event_is_processed_when_its_action_is_begun,
    waiting_for_anothers_claim_counts_as_an_attempt,
    tries_have_no_bound,
    an_older_event_moves_the_resource_back,
    the_resource_is_compared_again_after_the_claim,
    an_event_whose_payload_is_missing_is_ignored,
    an_event_that_failed_is_begun_again_in_its_generation,
    a_redrive_begins_a_done_action_anew,
    there_is_no_sweeper,
    a_bound_writes_failed_over_a_begun_action,
    a_redrive_forgets_the_move_that_the_event_won,
    our_own_late_message_is_taken_for_a_redrive,
    a_redrive_sends_an_event_in_doubt_round,
    an_event_in_doubt_does_not_follow_its_action,
    an_event_in_doubt_waits_for_a_later_generation,
    sweeps_have_no_bound,
    sweeps_over_a_rejected_action_have_no_bound,
    an_answer_older_than_its_signal_is_taken,
    the_resource_is_read_after_the_api_was_asked_about_it,
    an_answer_that_was_overtaken_is_taken,
    a_question_without_an_answer_counts_as_an_attempt,
    an_api_that_says_nothing_is_asked_for_ever,
    a_question_without_an_answer_leaves_the_event_as_processed,
    what_is_not_done_yet_is_never_done,
    the_time_of_the_answer_stands_for_that_of_the_question,
    a_destination_that_does_not_answer_has_not_acted,
    a_destination_that_never_answers_is_asked_for_ever,
    a_destination_that_can_be_asked_is_called_again_instead,
    an_answer_about_a_call_is_written_whatever_happened_since,
    a_paused_endpoint_begins_what_is_new,
    a_pause_does_not_keep_a_ready_action_from_being_begun,
    waiting_for_a_pause_counts_as_a_sweep,
    what_waits_for_a_pause_keeps_its_ttl,
    what_waits_for_a_pause_is_never_due_again,
    an_effect_is_granted_again_while_its_action_is_under_way,
    again_forgets_which_generation_was_done,
    again_keeps_the_generation_of_the_action,
    an_event_under_way_is_put_to_the_rules_anew,
    an_event_that_takes_other_content_keeps_its_action,
    content_that_a_human_takes_is_put_to_the_rule_of_the_first_ones_type,
    content_that_a_human_takes_keeps_its_ttl,
    what_failed_is_erased_before_it_is_given_up,
    what_a_human_gave_up_stays_in_the_list,
    an_event_in_doubt_carries_a_ttl,
    a_failed_event_carries_a_ttl,
    a_payload_keeps_the_ttl_that_its_event_loses,
    a_payload_gets_its_ttl_before_its_event,
    a_payloads_ttl_is_not_compared_with_the_generation_that_kept_it,
}
