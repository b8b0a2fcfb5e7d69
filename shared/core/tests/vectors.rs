//! Every recorded signature and delivery against the descriptions.

use sekali::vectors::{self, Outcome};
use sekali::vendor::{Vendor, builtin};

fn builtin_vendor(name: &str) -> Option<Vendor> {
    Vendor::parse(name, name, builtin::text(name)?).ok()
}

fn run(text: &str) -> Vec<Outcome> {
    vectors::run(text, builtin_vendor).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_all(outcomes: &[Outcome], at_least: usize) {
    let wrong: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| {
            outcome.difference.as_ref().map(|difference| format!("{}: {difference}", outcome.id))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
    assert!(outcomes.len() >= at_least, "only {} vectors", outcomes.len());
}

#[test]
fn every_recorded_signature_is_judged_as_recorded() {
    assert_all(&run(include_str!("../../../tests/vectors/signatures.json")), 390);
}

/// Made with another implementation, for vendors of which nothing is recorded.
#[test]
fn every_signature_made_as_documented_is_judged_right() {
    assert_all(&run(include_str!("../../../tests/vectors/derived.json")), 231);
}

/// Whole deliveries, made with another implementation, for vendors of which no
/// signed delivery is recorded.
#[test]
fn every_delivery_made_as_documented_verifies() {
    assert_all(&run(include_str!("../../../tests/vectors/deliveries.json")), 59);
}

#[test]
fn every_recorded_delivery_gives_the_recorded_events() {
    assert_all(&run(include_str!("../../../tests/vectors/events.json")), 137);
}

#[test]
fn every_recorded_handshake_is_answered_as_recorded() {
    assert_all(&run(include_str!("../../../tests/vectors/handshakes.json")), 47);
}

/// Handshakes and deliveries of vendors of which none is recorded, and what is
/// nearly a handshake.
#[test]
fn what_the_descriptions_promise_beyond_what_is_recorded_holds() {
    assert_all(&run(include_str!("../../../tests/vectors/probes.json")), 48);
}

#[test]
fn every_recorded_puzzle_is_solved_as_recorded() {
    assert_all(&run(include_str!("../../../tests/vectors/doctor.json")), 20);
}

#[test]
fn what_is_no_vector_is_no_list_of_vectors() {
    for text in ["{}", "[{}]", "[1]", "", r#"[{"id":"a","vendor":"stripe"}]"#] {
        assert!(vectors::run(text, builtin_vendor).is_err(), "{text}");
    }
}

#[test]
fn a_vector_that_goes_otherwise_is_a_difference() {
    let vectors = include_str!("../../../tests/vectors/signatures.json");
    let turned = vectors.replace("\"expected\": \"valid\"", "\"expected\": \"invalid\"");
    assert!(run(&turned).iter().any(|outcome| outcome.difference.is_some()));
}
