//! What every store keeps: the contract of the port as cases that run on the
//! reference model and on DynamoDB alike, each in tables of its own.

pub mod actions;
pub mod adoption;
pub mod atomicity;
pub mod captures;
pub mod counters;
pub mod decisions;
pub mod differential;
pub mod erasure;
pub mod events;
pub mod index;
pub mod payloads;
pub mod progress;
pub mod resources;
pub mod sample;

use crate::fault::Faulty;
use crate::memory::{Expiry, MemoryStore};
use anyhow::Context;
use sekali::key::{EventHash, EventKey};
use sekali::ports::{Store, StoreError, Write};
use sekali::protocol::event::Event;
use sekali::protocol::transition::Transition;
use std::future::Future;

/// A store whose TTLs can be looked at: the port itself never reads one.
pub trait Inspected: Store {
    /// Whether, and when, a payload may be removed.
    fn payload_expiry(
        &self,
        key: &EventKey,
        hash: &EventHash,
    ) -> impl Future<Output = anyhow::Result<Expiry>> + Send;
}

impl Inspected for MemoryStore {
    async fn payload_expiry(&self, key: &EventKey, hash: &EventHash) -> anyhow::Result<Expiry> {
        Ok(self.look(|tables| tables.payload_expiry(key, hash)))
    }
}

impl<S: Inspected> Inspected for Faulty<S> {
    async fn payload_expiry(&self, key: &EventKey, hash: &EventHash) -> anyhow::Result<Expiry> {
        self.inner().payload_expiry(key, hash).await
    }
}

/// The event, which the case has created.
async fn read_event(store: &impl Store, key: &EventKey) -> anyhow::Result<Event> {
    store.event(key).await?.context("the event is gone")
}

/// Writes until the store says how it ended: among many writers a store may
/// say that an item is contended, which certainly wrote nothing.
async fn write_to_its_end(store: &impl Store, transition: &Transition) -> Result<Write, StoreError> {
    loop {
        match store.write(transition).await {
            Err(StoreError::Contended | StoreError::Throttled) => {}
            end => return end,
        }
    }
}

/// One test for each case of the contract; `$open` gives a store with empty
/// tables.
#[macro_export]
macro_rules! contract_tests {
    ($open:ident) => {
        $crate::contract_tests! { @cases $open;
            events {
                an_event_comes_back_with_every_field
                an_event_comes_back_without_what_the_vendor_does_not_say
                what_was_never_written_is_absent
                the_first_create_wins_and_the_others_see_what_it_wrote
                of_fifty_first_deliveries_at_once_one_creates_the_event
                a_retried_create_finds_its_own_nonce
                an_event_past_its_ttl_is_a_duplicate_for_as_long_as_it_is_there
                texts_of_every_kind_come_back_as_they_were
                the_largest_and_smallest_numbers_come_back
                keys_that_look_alike_are_different_events
                an_event_larger_than_an_item_is_refused_for_good
            }
            payloads {
                a_payload_comes_back_byte_for_byte
                payloads_of_two_contents_stand_side_by_side
                a_payload_is_never_taken_for_its_event
                an_absent_payload_is_written_with_its_ttl
                a_repeated_delivery_puts_a_ttl_off_and_never_brings_it_forward
                a_kept_payload_is_left_alone_by_repeated_deliveries
                keeping_a_payload_says_whether_there_is_one
                a_kept_payload_gets_a_ttl_again
                an_older_generation_changes_no_ttl_of_a_newer_one
                a_ttl_for_an_absent_payload_makes_none
                a_write_leaves_the_ttl_of_the_payload_to_its_caller
                fifty_puts_of_one_payload_at_once_leave_one
                a_payload_of_any_size_comes_back_byte_for_byte
                the_ttl_of_a_payload_larger_than_an_item_is_one
            }
            progress {
                an_event_write_names_the_status_it_comes_from
                an_event_write_names_the_generation_it_comes_from
                an_event_write_names_the_content_where_its_guard_says_so
                an_event_write_names_the_due_time_where_its_guard_says_so
                an_event_write_names_what_was_counted_where_its_guard_says_so
                an_event_goes_from_every_status_to_every_other
                a_write_replaces_all_of_the_progress_and_nothing_else
                an_own_retried_event_write_counts_as_applied
                a_write_of_an_event_that_is_not_there_makes_none
                of_many_writes_from_one_reading_one_is_applied
            }
            counters {
                repeated_deliveries_are_counted_and_the_last_is_dated
                the_first_other_hash_of_a_repeated_delivery_stays
                of_fifty_counts_at_once_none_is_lost
                counting_an_event_that_is_not_there_makes_none
                three_conflicts_are_listed_and_all_are_counted
                a_repeated_conflict_is_listed_once
                of_ten_conflicts_at_once_three_are_listed_and_all_are_counted
                counters_never_break_a_write_that_was_decided_before
                a_write_never_takes_back_what_was_counted
            }
            captures {
                the_first_secret_that_is_handed_over_stays
                the_same_secret_handed_over_again_counts_as_applied
                endpoints_keep_secrets_of_their_own
            }
            decisions {
                a_decision_is_recorded_in_one_with_what_it_changes
                a_refused_decision_leaves_neither_record_nor_change
                an_own_retried_decision_counts_as_applied
                of_many_decisions_at_once_one_is_recorded
                an_event_is_created_in_one_with_who_brought_it
                of_a_delivery_and_people_who_bring_the_event_one_creates_it
                an_accepted_content_takes_the_place_of_the_first
                pauses_are_written_only_from_the_version_that_was_read
            }
            erasure {
                a_settled_action_is_emptied_and_still_reads
                what_is_not_settled_is_not_emptied
                an_erasure_from_an_older_reading_is_refused
                bytes_that_were_erased_once_are_frozen_whole_again
                an_erased_payload_is_gone_and_its_neighbour_is_not
            }
            adoption {
                an_adopted_content_replaces_the_old_which_is_kept_as_a_conflict
                an_adopted_content_brings_its_own_facts
                a_failed_event_adopts_and_keeps_its_progress
                an_adoption_names_everything_that_was_seen
                a_claimed_event_adopts_nothing
                an_own_retried_adoption_counts_as_applied
                of_an_adoption_and_a_claim_on_the_old_content_one_is_applied
                an_adoption_lists_no_more_conflicts_than_allowed
                an_event_that_is_not_there_adopts_nothing
            }
            actions {
                an_action_comes_back_with_every_field
                an_action_comes_back_without_what_has_not_happened
                an_absent_action_is_begun_by_one_of_fifty
                a_claim_names_the_status_generation_and_token_it_read
                an_owner_writes_only_under_its_own_token
                an_owner_still_settles_what_was_marked_in_doubt
                nobody_settles_what_is_settled
                an_own_retried_claim_counts_as_applied_and_anothers_does_not
                a_frozen_request_larger_than_an_item_is_refused_for_good
                a_look_at_an_action_passes_as_read_and_writes_nothing
                a_look_at_an_action_that_moved_stops_the_whole_write
            }
            resources {
                a_resource_comes_back_with_every_kind_of_order
                a_resource_moves_only_from_the_version_that_was_read
                an_own_retried_move_counts_as_applied
                of_many_moves_from_one_reading_one_is_applied
            }
            atomicity {
                a_claim_writes_event_action_and_resource_together
                a_claim_with_one_moved_item_writes_nothing
                an_own_retried_claim_of_three_items_counts_as_applied
                a_write_that_finds_only_its_event_as_wanted_is_refused
                of_many_claims_at_once_one_writes_and_the_others_leave_nothing
                an_item_that_is_too_large_stops_the_whole_write
                a_transition_without_an_item_is_applied
            }
            index {
                an_event_stands_where_its_status_says
                an_event_without_a_due_time_stands_nowhere
                an_event_stands_only_in_its_own_shard
                the_index_names_what_is_due_up_to_and_including_a_time
                pages_of_any_size_name_everything_once_and_the_oldest_first
                a_changed_due_time_moves_the_event_within_the_index
            }
        }
    };
    (@cases $open:ident; $($module:ident { $($case:ident)+ })+) => {
        $(mod $module {
            $(#[tokio::test]
            async fn $case() -> anyhow::Result<()> {
                let store = super::$open().await?;
                $crate::contract::$module::$case(&store).await
            })+
        })+

        /// A case that nobody runs would be a promise that nobody checks.
        #[test]
        fn every_case_of_the_contract_is_run() {
            let run = [$($(concat!(stringify!($module), "::", stringify!($case)),)+)+];
            assert_eq!($crate::contract::written(), run);
        }
    };
}

/// The cases as they stand in the source.
pub fn written() -> Vec<String> {
    let modules = [
        ("events", include_str!("events.rs")),
        ("payloads", include_str!("payloads.rs")),
        ("progress", include_str!("progress.rs")),
        ("counters", include_str!("counters.rs")),
        ("captures", include_str!("captures.rs")),
        ("decisions", include_str!("decisions.rs")),
        ("erasure", include_str!("erasure.rs")),
        ("adoption", include_str!("adoption.rs")),
        ("actions", include_str!("actions.rs")),
        ("resources", include_str!("resources.rs")),
        ("atomicity", include_str!("atomicity.rs")),
        ("index", include_str!("index.rs")),
    ];
    let cases = modules.into_iter().flat_map(|(module, source)| {
        source.lines().filter_map(move |line| {
            let (case, _) = line.strip_prefix("pub async fn ")?.split_once(['<', '('])?;
            Some(format!("{module}::{case}"))
        })
    });
    cases.collect()
}
