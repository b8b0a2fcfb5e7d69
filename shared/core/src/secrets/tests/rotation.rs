//! Secrets that are kept, grow old and are replaced.

use super::*;

const SECRETS: &str = "secrets = [\"secretsmanager:prod/hub\"]";
const NAME: &str = "secretsmanager:prod/hub";

#[test]
fn secrets_are_read_with_the_first_delivery_and_again_when_their_time_is_over() {
    let mut bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    for _ in 0..100 {
        assert_eq!(bench.matched("first").as_deref(), Some("1 (current)"));
    }
    assert_eq!(bench.drawer().readings(), 1);
    bench.pass(TIME_TO_LIVE);
    assert!(bench.deliver("first").is_ok());
    assert_eq!(bench.drawer().readings(), 2);
}

#[test]
fn a_rotated_secret_verifies_with_its_first_delivery_and_the_one_before_goes_on() {
    let bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    bench.drawer().put(NAME, vec![current("second"), previous("first")]);
    assert_eq!(bench.matched("second").as_deref(), Some("1 (current)"));
    assert_eq!(bench.matched("first").as_deref(), Some("1 (previous)"));
    assert_eq!(bench.drawer().readings(), 2, "the bad signature caused one reading");
}

#[test]
fn a_secret_that_was_rotated_twice_verifies_no_more_once_its_time_is_over() {
    let mut bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    bench.drawer().put(NAME, vec![current("third"), previous("second")]);
    bench.pass(TIME_TO_LIVE);
    assert!(bench.deliver("first").is_err());
    assert!(bench.deliver("third").is_ok());
}

#[test]
fn a_thousand_bad_signatures_cause_one_reading_in_each_interval() {
    let mut bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    assert_eq!(refresh(bench.deliver("guess")), Some(Refresh::Refreshed));
    for _ in 0..999 {
        assert_eq!(refresh(bench.deliver("guess")), Some(Refresh::Suppressed));
        assert!(bench.deliver("first").is_ok(), "whoever signs well is not disturbed");
    }
    assert_eq!(bench.drawer().readings(), 2);
    bench.pass(REFRESH_INTERVAL);
    assert_eq!(refresh(bench.deliver("guess")), Some(Refresh::Refreshed));
    assert_eq!(refresh(bench.deliver("guess")), Some(Refresh::Suppressed));
    assert_eq!(bench.drawer().readings(), 3);
}

#[test]
fn a_rotation_among_bad_signatures_takes_effect_with_the_next_interval() {
    let mut bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("guess").is_err());
    bench.drawer().put(NAME, vec![current("second"), previous("first")]);
    assert_eq!(refresh(bench.deliver("second")), Some(Refresh::Suppressed));
    assert!(bench.deliver("first").is_ok());
    bench.pass(REFRESH_INTERVAL);
    assert!(bench.deliver("second").is_ok());
}

#[test]
fn a_new_process_knows_nothing_of_the_one_before() {
    let bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    let bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("second")]);
    assert_eq!(refresh(bench.deliver("first")), Some(Refresh::Refreshed));
    assert!(bench.deliver("second").is_ok());
}

#[test]
fn a_signature_that_no_secret_could_mend_causes_no_reading() {
    let bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    for _ in 0..3 {
        let request = unsigned();
        let verify = bench.keyring.verify(bench.endpoint(), None, &request, bench.now);
        assert!(matches!(verify.now_or_never().unwrap(), Err(NotVerified::Refused(_, None))));
    }
    assert_eq!(bench.drawer().readings(), 1);
}

#[test]
fn an_environment_never_changes_so_it_is_read_once() {
    let mut bench = Bench::with("secrets = [\"env:HUB\"]");
    bench.drawer().put("env:HUB", vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    bench.pass(TIME_TO_LIVE * 100);
    assert_eq!(refresh(bench.deliver("guess")), None);
    assert_eq!(bench.drawer().readings(), 1);
}

#[test]
fn a_clock_that_is_set_back_makes_secrets_due_and_not_immortal() {
    let mut bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    bench.now = bench.now.minus(Duration::from_secs(24 * 3600));
    assert!(bench.deliver("first").is_ok());
    assert!(bench.deliver("first").is_ok());
    assert_eq!(bench.drawer().readings(), 2);
}

#[test]
fn every_place_verifies_and_says_that_it_did() {
    let bench = Bench::with("secrets = [\"secretsmanager:prod/hub\", \"ssm:/prod/hub\"]");
    bench.drawer().put(NAME, vec![current("first"), previous("older")]);
    bench.drawer().put("ssm:/prod/hub", vec![current("second")]);
    assert_eq!(bench.matched("first").as_deref(), Some("1 (current)"));
    assert_eq!(bench.matched("older").as_deref(), Some("1 (previous)"));
    assert_eq!(bench.matched("second").as_deref(), Some("2 (current)"));
}

#[test]
fn what_is_read_before_the_first_delivery_is_not_read_with_it() {
    let bench = Bench::with(SECRETS);
    bench.drawer().put(NAME, vec![current("first")]);
    bench.keyring.warm(&bench.config, bench.now).now_or_never().unwrap();
    assert!(bench.deliver("first").is_ok());
    assert_eq!(bench.drawer().readings(), 1);
}
