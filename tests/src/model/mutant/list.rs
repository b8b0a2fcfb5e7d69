//! Every mutant by name, and the slice that must catch it.

use super::super::scenario::Slice;
use super::super::slices::{
    ACCEPTED, ADOPTION, ADOPTION_HELD, ANEW, ANEW_APART, ASKED, BROUGHT, DOUBT, ERASED, EXPIRED, FORGOTTEN,
    HELD, HUMAN, NAMES, ONCE_PER_EVENT, ORDERED, OTHER_WINDOW, PARKED, PARTS, PAUSED, PUTS, RETRIED, ROUNDS,
    SHARED, SIGNALS, TENANTS, UNNUMBERED, WINDOW,
};
use super::{
    Decide, Forge, Mutant, Protocol, Slip, anew, call, claim, content, end, guard, pause, probe, truth,
};

const fn decides(name: &'static str, slice: Slice, decide: Decide) -> Mutant {
    Mutant { name, slice, protocol: Protocol { decide, ..Protocol::REAL } }
}

const fn forges(name: &'static str, slice: Slice, forge: Forge) -> Mutant {
    Mutant { name, slice, protocol: Protocol { forge: Some(forge), ..Protocol::REAL } }
}

const fn slips(name: &'static str, slice: Slice, slip: Slip) -> Mutant {
    Mutant { name, slice, protocol: Protocol { slip: Some(slip), ..Protocol::REAL } }
}

/// Every mutant.
pub const MUTANTS: &[Mutant] = &[
    // Ingest.
    slips("a delivery is acknowledged before its payload is put", PUTS, Slip::AckBeforePut),
    slips("a duplicate is answered 200 while the payload is missing", PUTS, Slip::DuplicateUnseen),
    slips("a body is adopted before its own payload is durable", ADOPTION, Slip::AdoptBeforePut),
    slips("an event without a TTL adopts a payload with one", OTHER_WINDOW, Slip::AdoptWithoutItsTtl),
    slips("an adopted content is put to the rule of the first one's type", ADOPTION, Slip::AdoptKeepsTheType),
    decides("a content that would be held is adopted", ADOPTION_HELD, content::adopts_what_would_be_held),
    slips("a duplicate gives a kept payload a TTL again", WINDOW, Slip::DuplicateRestoresTtl),
    slips("a duplicate does not look whether the TTL is gone", WINDOW, Slip::DuplicateForgetsTtl),
    slips("events are told apart by the id of their delivery", ONCE_PER_EVENT, Slip::DedupByDeliveryId),
    slips("an event that is brought takes the place of one that arrived", BROUGHT, Slip::BringsAnyway),
    slips("what was brought is repeated before its payload was seen", BROUGHT, Slip::BringsUnseen),
    // Keys.
    slips("the key of an action lacks the tenant", TENANTS, Slip::KeyWithoutTenant),
    slips("the key of an action lacks the action's name", NAMES, Slip::KeyWithoutName),
    slips("the parts of a key run together", PARTS, Slip::KeyPartsRunTogether),
    Mutant {
        name: "a redrive makes a new action key",
        slice: ROUNDS,
        protocol: Protocol {
            decide: end::forgets_its_action,
            slip: Some(Slip::KeyPerRound),
            ..Protocol::REAL
        },
    },
    Mutant {
        name: "the action key is computed anew when a message comes again",
        slice: RETRIED,
        protocol: Protocol { decide: claim::asks_again, slip: Some(Slip::KeyPerAttempt), ..Protocol::REAL },
    },
    slips("each attempt calls under a key of its own", RETRIED, Slip::CallKeyPerAttempt),
    // Guards.
    forges("an event write does not name its generation", HUMAN, guard::event_generation),
    forges("an event write does not name the due time as read", RETRIED, guard::event_due),
    forges("a claim does not name the content it was decided on", ADOPTION, guard::event_hash),
    forges("a TTL is taken off without naming what was counted", WINDOW, guard::counted),
    forges("a resource moves whatever happened since it was read", ORDERED, guard::resource_version),
    forges("a begin is not fenced", SHARED, guard::begin),
    forges("a completion names neither owner nor token", RETRIED, guard::completion),
    forges("a late owner does not see the mark of doubt", EXPIRED, guard::mark_of_doubt),
    decides("a takeover keeps the token", RETRIED, claim::keeps_the_token),
    Mutant {
        name: "a short lock has no owner and is begun again when it expires",
        slice: PARKED,
        protocol: Protocol {
            decide: call::again_on_expiry,
            forge: Some(guard::every_action),
            ..Protocol::REAL
        },
    },
    // Calls.
    decides("an expired lease alone runs the effect again", PARKED, call::again_on_expiry),
    decides("calls repeat after the destination forgot the key", FORGOTTEN, call::again_on_expiry),
    slips("a call begins after its lease", HUMAN, Slip::CallAfterLease),
    decides("what certainly did not start is parked", PARKED, call::not_started_is_parked),
    decides("a call without an answer counts as done", PARKED, call::silence_is_done),
    decides("a call without an answer counts as not started", PARKED, call::silence_is_not_started),
    decides("a no after a call without an answer is taken for certain", RETRIED, call::a_no_is_certain),
    decides("a mark of doubt spoils the owner's certain answer", EXPIRED, call::doubt_spoils),
    decides("a takeover freezes its request anew", RETRIED, call::freezes_anew),
    decides("a human is believed while the call may still take effect", HUMAN, call::believes_too_soon),
    // Claims.
    decides("an event is processed when its action is begun", PARKED, claim::done_when_begun),
    decides("waiting for another's claim counts as an attempt", PARKED, claim::waiting_is_an_attempt),
    decides("tries have no bound", PARKED, claim::no_bound_of_tries),
    decides("an older event moves the resource back", ORDERED, claim::moves_anyway),
    Mutant {
        name: "the resource is compared again after the claim",
        slice: ORDERED,
        protocol: Protocol { decide: claim::asks_again, slip: Some(Slip::ComparesAgain), ..Protocol::REAL },
    },
    decides("an event whose payload is missing is ignored", ADOPTION, claim::ignores_without_payload),
    decides("an event that failed is begun again in its generation", EXPIRED, claim::begins_an_ended_event),
    Mutant {
        name: "a redrive begins a done action anew",
        slice: ROUNDS,
        protocol: Protocol { decide: claim::begins_after_done, forge: Some(guard::begin), ..Protocol::REAL },
    },
    // Ends.
    slips("there is no sweeper", PARKED, Slip::NoSweeper),
    decides("a bound writes failed over a begun action", EXPIRED, end::fails_over_begun),
    decides("a redrive forgets the move that the event won", HUMAN, end::forgets_its_action),
    decides("our own late message is taken for a redrive", EXPIRED, end::late_message_redrives),
    decides("a redrive sends an event in doubt round", HUMAN, end::redrives_doubt),
    decides("an event in doubt does not follow its action", EXPIRED, end::doubt_does_not_follow),
    decides("an event in doubt waits for a later generation", DOUBT, end::waits_for_a_strange_generation),
    decides("sweeps have no bound", EXPIRED, end::no_bound_of_sweeps),
    decides("sweeps over a rejected action have no bound", HUMAN, end::no_bound_over_rejected),
    // The vendor's API.
    slips("an answer older than its signal is taken", SIGNALS, Slip::TakesWhatIsOlder),
    slips("the resource is read after the api was asked about it", UNNUMBERED, Slip::AsksBeforeReading),
    decides("an answer that was overtaken is taken", SIGNALS, truth::takes_what_was_overtaken),
    decides("a question without an answer counts as an attempt", SIGNALS, truth::asking_is_an_attempt),
    decides("an api that says nothing is asked for ever", SIGNALS, truth::asks_for_ever),
    decides("a question without an answer leaves the event as processed", SIGNALS, truth::silence_is_the_end),
    // What a destination says.
    decides("what is not done yet is never done", ASKED, probe::not_yet_is_never),
    decides("the time of the answer stands for that of the question", ASKED, probe::asked_when_answered),
    decides("a destination that does not answer has not acted", ASKED, probe::silence_is_not_done),
    decides("a destination that never answers is asked for ever", ASKED, probe::asks_for_ever),
    decides("a destination that can be asked is called again instead", ASKED, call::again_on_expiry),
    forges("an answer about a call is written whatever happened since", ASKED, guard::completion),
    // Pauses.
    decides("a paused endpoint begins what is new", PAUSED, pause::begins_anyway),
    decides("a pause does not keep a ready action from being begun", PAUSED, pause::begins_what_is_ready),
    decides("waiting for a pause counts as a sweep", PAUSED, pause::sweeps_anyway),
    decides("what waits for a pause keeps its TTL", PAUSED, pause::keeps_ttl),
    decides("what waits for a pause is never due again", PAUSED, pause::forgets_the_turn),
    // Once more.
    decides("an effect is granted again while its action is under way", ANEW, anew::while_under_way),
    decides("again forgets which generation was done", ANEW, anew::forgets_what_was_done),
    decides("again keeps the generation of the action", ANEW, anew::keeps_the_generation),
    decides("an event under way is put to the rules anew", ANEW, anew::replays_under_way),
    // Content.
    decides("an event that takes other content keeps its action", ACCEPTED, content::accepts_with_its_action),
    decides(
        "content that a human takes is put to the rule of the first one's type",
        ACCEPTED,
        content::accepts_with_the_type,
    ),
    decides("content that a human takes keeps its TTL", ACCEPTED, content::accepts_with_a_ttl),
    decides("what failed is erased before it is given up", ERASED, content::erases_what_failed),
    decides("what a human gave up stays in the list", ERASED, content::given_up_stays_due),
    // TTLs.
    decides("an event in doubt carries a TTL", PARKED, end::doubt_expires),
    decides("a failed event carries a TTL", PARKED, end::failure_expires),
    decides("a payload keeps the TTL that its event loses", PARKED, end::payload_expires),
    slips("a payload gets its TTL before its event", HELD, Slip::PayloadExpiresFirst),
    slips(
        "a payload's TTL is not compared with the generation that kept it",
        ANEW_APART,
        Slip::TtlOfAnyGeneration,
    ),
];
