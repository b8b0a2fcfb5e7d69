//! Keepers that do not answer, and secrets that cannot be used (INV-10).

use super::*;

const TWO: &str = "secrets = [\"secretsmanager:prod/hub\", \"ssm:/prod/hub\"]";
const ONE: &str = "secrets = [\"secretsmanager:prod/hub\"]";
const FIRST: &str = "secretsmanager:prod/hub";
const SECOND: &str = "ssm:/prod/hub";

fn offline(refused: Result<Matched, NotVerified>) -> Vec<String> {
    match refused.unwrap_err() {
        NotVerified::Offline(reasons) => reasons,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_known_stays_while_a_keeper_does_not_answer() {
    for reason in [NoSecret::Unavailable("invented".into()), NoSecret::Denied("invented".into())] {
        let mut bench = Bench::with(ONE);
        bench.drawer().put(FIRST, vec![current("first"), previous("older")]);
        assert!(bench.deliver("first").is_ok());
        bench
            .drawer()
            .put(FIRST, vec![(Stage::Current, Err(reason.clone())), (Stage::Previous, Err(reason))]);
        bench.pass(TIME_TO_LIVE);
        assert!(bench.deliver("first").is_ok());
        assert!(bench.deliver("older").is_ok());
        assert_eq!(bench.drawer().readings(), 2, "and it is not asked with every delivery");
        bench.pass(RETRY_KNOWN);
        assert!(bench.deliver("first").is_ok());
        assert_eq!(bench.drawer().readings(), 3);
    }
}

#[test]
fn a_bad_signature_while_the_keeper_does_not_answer_is_a_bad_signature() {
    let bench = Bench::with(ONE);
    bench.drawer().put(FIRST, vec![current("first")]);
    assert!(bench.deliver("first").is_ok());
    bench.drawer().put(FIRST, silent());
    assert_eq!(refresh(bench.deliver("second")), Some(Refresh::Failed));
    assert_eq!(refresh(bench.deliver("second")), Some(Refresh::Suppressed));
    assert!(bench.deliver("first").is_ok());
}

// INV-10
#[test]
fn one_blank_among_good_ones_is_left_out_and_named() {
    let bench = Bench::with(TWO);
    bench.drawer().put(FIRST, vec![current("  ")]);
    bench.drawer().put(SECOND, vec![current("second")]);
    assert_eq!(bench.matched("second").as_deref(), Some("2 (current)"));
    for key in ["", "  "] {
        let request = signed_with_no_secret(key);
        let verify = bench.keyring.verify(bench.endpoint(), None, &request, bench.now);
        assert!(verify.now_or_never().unwrap().is_err());
    }
}

// INV-10
#[test]
fn nothing_but_blanks_takes_the_endpoint_offline_until_somebody_mends_it() {
    let mut bench = Bench::with(TWO);
    bench.drawer().put(FIRST, vec![current("")]);
    let reasons = offline(bench.deliver("first"));
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(
        reasons[0].starts_with("secret 1 (current): it cannot be used: the secret is empty"),
        "{reasons:?}"
    );
    assert!(reasons[1].starts_with("secret 2 (current): the keeper has no secret"), "{reasons:?}");
    bench.drawer().put(FIRST, vec![current("first")]);
    assert!(bench.deliver("first").is_err(), "it was asked a moment ago");
    bench.pass(RETRY_OFFLINE);
    assert!(bench.deliver("first").is_ok());
}

// INV-10
#[test]
fn a_secret_that_turns_blank_or_is_gone_is_not_used_any_more() {
    for after in [vec![current("\n")], vec![(Stage::Current, Err(NoSecret::Absent))], Vec::new()] {
        let mut bench = Bench::with(ONE);
        bench.drawer().put(FIRST, vec![current("first")]);
        assert!(bench.deliver("first").is_ok());
        bench.drawer().put(FIRST, after);
        bench.pass(TIME_TO_LIVE);
        assert!(!offline(bench.deliver("first")).is_empty());
    }
}

// INV-10
#[test]
fn a_secret_that_the_vendor_s_form_rules_out_is_not_used() {
    let bench = Bench::with(ONE);
    bench.drawer().put(FIRST, vec![current("\"quoted\"")]);
    let reasons = offline(bench.deliver("quoted"));
    assert!(reasons[0].contains("quotes") && !reasons.concat().contains("quoted"), "{reasons:?}");
}

#[test]
fn an_endpoint_whose_keeper_never_answered_is_offline_and_asks_again() {
    let mut bench = Bench::with(ONE);
    bench.drawer().put(FIRST, silent());
    assert!(!offline(bench.deliver("first")).is_empty());
    assert!(!offline(bench.deliver("first")).is_empty());
    assert_eq!(bench.drawer().readings(), 1);
    bench.drawer().put(FIRST, vec![current("first")]);
    bench.pass(RETRY_OFFLINE);
    assert!(bench.deliver("first").is_ok());
}

#[test]
fn a_version_that_is_not_read_stays_beside_one_that_is() {
    let mut bench = Bench::with(ONE);
    bench.drawer().put(FIRST, vec![current("second"), previous("first")]);
    assert!(bench.deliver("first").is_ok());
    let unread = (Stage::Previous, Err(NoSecret::Unavailable("invented".into())));
    bench.drawer().put(FIRST, vec![current("third"), unread]);
    bench.pass(TIME_TO_LIVE);
    assert_eq!(bench.matched("third").as_deref(), Some("1 (current)"));
    assert_eq!(bench.matched("first").as_deref(), Some("1 (previous)"));
}

#[test]
fn a_vendor_that_signs_nothing_needs_no_secret() {
    let plain = concat!(
        "confirmed = true\n[[scheme]]\nname = \"none\"\nkind = \"none\"\n",
        "[[event]]\nid = \"/id\"\n"
    );
    let text = "[endpoint.hub]\nvendor = \"plain\"\ndedup_window = \"90d\"\n";
    let checked = check(("endpoints.toml", text), &[("vendors/plain.toml", plain)]);
    assert_eq!(checked.problems, []);
    let mut bench = Bench::with(ONE);
    bench.config = checked.config.unwrap();
    let request = unsigned();
    let verify = bench.keyring.verify(bench.endpoint(), None, &request, bench.now);
    assert_eq!(verify.now_or_never().unwrap().unwrap().secret, None);
    assert_eq!(bench.drawer().readings(), 0);
}
