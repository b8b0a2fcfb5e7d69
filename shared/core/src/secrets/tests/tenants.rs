//! Tenants with secrets of their own (INV-7), and names that somebody guesses.

use super::*;

const OWN: &str = "tenant = \"path\"\nsecrets = [\"secretsmanager:prod/{tenant}/hub\"]";

fn name(tenant: &str) -> String {
    format!("secretsmanager:prod/{tenant}/hub")
}

fn bench() -> Bench {
    let bench = Bench::with(OWN);
    bench.drawer().put(&name("acme"), vec![current("of acme")]);
    bench.drawer().put(&name("umbrella"), vec![current("of umbrella")]);
    bench
}

// INV-7
#[test]
fn one_tenant_s_secret_verifies_nothing_of_another() {
    let bench = bench();
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
    assert!(bench.deliver_to(Some("umbrella"), "of umbrella").is_ok());
    assert!(bench.deliver_to(Some("umbrella"), "of acme").is_err());
    assert!(bench.deliver_to(Some("acme"), "of umbrella").is_err());
}

#[test]
fn an_unknown_tenant_is_nobody_and_is_asked_for_once_in_a_while() {
    let mut bench = bench();
    for _ in 0..10 {
        assert_eq!(bench.deliver_to(Some("nobody"), "guess"), Err(NotVerified::NoSuchTenant(None)));
    }
    assert_eq!(bench.drawer().readings(), 1);
    bench.drawer().put(&name("nobody"), vec![current("of nobody")]);
    bench.pass(UNKNOWN_FOR);
    assert!(bench.deliver_to(Some("nobody"), "of nobody").is_ok(), "a tenant that has come since");
}

#[test]
fn a_tenant_whose_secret_no_policy_lets_us_read_is_nobody_too() {
    let bench = bench();
    bench.drawer().put(&name("denied"), vec![(Stage::Current, Err(NoSecret::Denied("invented".into())))]);
    assert_eq!(bench.deliver_to(Some("denied"), "guess"), Err(NotVerified::NoSuchTenant(None)));
}

// INV-10
#[test]
fn a_blank_secret_takes_one_tenant_offline_and_no_other() {
    let bench = bench();
    bench.drawer().put(&name("blank"), vec![current(" ")]);
    assert!(matches!(bench.deliver_to(Some("blank"), "guess"), Err(NotVerified::Offline(_))));
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
}

// INV-7
#[test]
fn a_tenant_that_cannot_stand_in_a_name_is_asked_for_nowhere() {
    let bench = bench();
    for tenant in ["../acme", "a/b", "", ".."] {
        assert_eq!(
            bench.deliver_to(Some(tenant), "of acme"),
            Err(NotVerified::NoSuchTenant(None)),
            "{tenant}"
        );
    }
    assert_eq!(bench.deliver_to(None, "of acme"), Err(NotVerified::NoSuchTenant(None)));
    assert_eq!(bench.drawer().readings(), 0);
}

#[test]
fn guessed_names_are_asked_for_only_so_often_and_refused_alike() {
    let mut bench = bench();
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
    let many = usize::try_from(TENANT_READINGS.many).unwrap();
    for number in 0..10 * many {
        let refused = bench.deliver_to(Some(&format!("guess-{number}")), "guess");
        assert!(matches!(refused, Err(NotVerified::NoSuchTenant(_))));
    }
    assert_eq!(bench.drawer().readings(), many);
    let refused = bench.deliver_to(Some("umbrella"), "of umbrella");
    assert_eq!(refused, Err(NotVerified::NoSuchTenant(Some(Refresh::Suppressed))));
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok(), "who is known is not disturbed");
    bench.pass(TENANT_READINGS.per);
    assert!(bench.deliver_to(Some("umbrella"), "of umbrella").is_ok());
}

#[test]
fn guessed_names_push_out_each_other_and_not_the_tenants() {
    let mut bench = bench();
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
    for number in 0..MOST_TENANTS + 100 {
        bench.pass(Duration::from_millis(50));
        assert!(bench.deliver_to(Some(&format!("guess-{number}")), "guess").is_err());
    }
    assert_eq!(bench.keyring.tenants(), MOST_TENANTS);
    let before = bench.drawer().readings();
    bench.now = START;
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
    assert_eq!(bench.drawer().readings(), before, "it is still known");
}

#[test]
fn bad_signatures_of_one_tenant_do_not_keep_another_s_rotation_waiting() {
    let bench = bench();
    assert!(bench.deliver_to(Some("acme"), "of acme").is_ok());
    assert!(bench.deliver_to(Some("umbrella"), "of umbrella").is_ok());
    assert_eq!(refresh(bench.deliver_to(Some("acme"), "guess")), Some(Refresh::Refreshed));
    assert_eq!(refresh(bench.deliver_to(Some("acme"), "guess")), Some(Refresh::Suppressed));
    bench.drawer().put(&name("umbrella"), vec![current("anew"), previous("of umbrella")]);
    assert!(bench.deliver_to(Some("umbrella"), "anew").is_ok());
}

#[test]
fn a_secret_of_all_tenants_is_read_once_for_all() {
    let bench = Bench::with("tenant = \"path\"\nsecrets = [\"ssm:/prod/hub\"]");
    bench.drawer().put("ssm:/prod/hub", vec![current("shared")]);
    for tenant in ["acme", "umbrella"] {
        assert!(bench.deliver_to(Some(tenant), "shared").is_ok());
    }
    assert_eq!(bench.drawer().readings(), 1);
}

#[test]
fn nothing_of_tenants_is_read_before_a_delivery_names_one() {
    let bench = bench();
    bench.keyring.warm(&bench.config, bench.now).now_or_never().unwrap();
    assert_eq!(bench.drawer().readings(), 0);
}
