//! Endpoints: settings, limits, guards.

use super::{BASE, PLAIN, changed, check, problems, shown};

#[test]
fn endpoint_settings_are_read_with_their_limits() {
    let set = |line: &str| changed("resource.payment", &format!("{line}\nresource.payment"));
    for good in [
        "max_body = \"256KiB\"",
        "max_body = 1000",
        "content_types = [\"application/json\"]",
        "rate = \"100/s\"",
        "dedup_window = \"60d\"",
        "dedup_scope = \"main\"",
        "public_url = \"https://hooks.example.com/webhooks/shop\"",
        "tenant = \"path\"",
        "tenant = \"/account\"",
        "versions = [\"2024-06-20\"]\nunknown_version = \"refuse\"",
        "missing_key = \"refuse\"",
        "duplicate = \"result\"",
        "allow_unconfirmed = true",
    ] {
        assert_eq!(set(good), [""; 0], "{good}");
    }
    for (bad, problem) in [
        ("max_body = \"5MiB\"", "4:12: `max_body` is from 1 byte to 4500 KiB"),
        ("max_body = 0", "4:12: `max_body` is from 1 byte"),
        ("max_body = -1", "4:12: `max_body` is from 1 byte"),
        ("max_body = \"1MB\"", "4:12: a size is a whole number and one of B, KiB, MiB"),
        ("content_types = []", "4:17: `content_types` is empty"),
        ("content_types = [\"JSON\"]", "4:18: this is not a media type"),
        ("content_types = [\"text/plain\"]", "4:18: the vendor's description does not know \"text/plain\""),
        ("rate = 100", "4:8: `rate` is text in quotes"),
        ("rate = \"0/s\"", "4:8: a rate is a whole number from 1 on"),
        ("dedup_window = \"0d\"", "4:16: `dedup_window` is longer than nothing"),
        ("dedup_scope = \"a b\"", "4:15: a name is made of"),
        ("tenant = \"account\"", "4:10: `account` names no place"),
        ("unknown_version = \"refuse\"", "4:1: without `versions` no version is unknown"),
        ("versions = []", "4:12: `versions` is empty"),
        ("public_url = \"https://a.example.com/?b=c\"", "4:14: `public_url` has no query"),
        ("missing_key = \"drop\"", "4:15: \"drop\" is no `missing_key` (one of \"hold\", \"refuse\")"),
        ("allow_unconfirmed = \"yes\"", "4:21: `allow_unconfirmed` is true or false, not text"),
    ] {
        let found = set(bad);
        assert!(found.len() == 1 && found[0].starts_with(problem), "{bad}: {found:?}");
    }
}

#[test]
fn a_guard_demands_one_thing_and_says_what_is_answered() {
    let guard = |lines: &str| {
        changed(
            "[[endpoint.shop.rule]]",
            &format!("[[endpoint.shop.guard]]\n{lines}\n[[endpoint.shop.rule]]"),
        )
    };
    for good in [
        "networks = [\"192.0.2.0/24\", \"2001:db8::1\"]\nanswer = 403",
        "types = [\"paid\"]\nanswer = 200",
        "when = { \"/livemode\" = true }\nanswer = 200",
        "livemode = true\nanswer = 200",
        "livemode = false\nat = \"header:X-Live\"\nanswer = 403",
    ] {
        assert_eq!(guard(good), [""; 0], "{good}");
    }
    for (bad, problem) in [
        ("answer = 200", "5:1: the guard demands nothing"),
        ("types = [\"paid\"]", "5:1: the guard does not say what is answered"),
        ("types = [\"paid\"]\nnetworks = [\"192.0.2.1\"]\nanswer = 200", "7:1: a guard demands one thing"),
        ("networks = []\nanswer = 403", "6:12: `networks` is empty"),
        (
            "networks = [\"192.0.2.1/24\"]\nanswer = 403",
            "6:13: the address has bits beyond its network: it would be 192.0.2.0/24",
        ),
        ("networks = [\"example.com\"]\nanswer = 403", "6:13: a network is an address"),
        ("types = [\"paid\"]\nanswer = 401", "7:10: `answer` is 403 or 200"),
        ("types = [\"paid\"]\nanswer = \"refuse\"", "7:10: `answer` is 403 or 200"),
        ("livemode = \"yes\"\nanswer = 200", "6:12: `livemode` is true or false, not text"),
        ("livemode = true\nat = \"live\"\nanswer = 200", "7:6: `live` names no place"),
        ("types = [\"paid\"]\nat = \"/live\"\nanswer = 200", "7:1: `at` says where `livemode` is"),
    ] {
        let found = guard(bad);
        assert!(found.len() == 1 && found[0].starts_with(problem), "{bad}: {found:?}");
    }
}

#[test]
fn names_fit_in_a_path() {
    let found = problems(&BASE.replace("endpoint.shop", "endpoint.\"shop/eu\""));
    assert!(found.len() == 1 && found[0].starts_with("1:11: a name is made of"), "{found:?}");
}

#[test]
fn one_malformed_setting_does_not_hide_the_next() {
    let found = changed(
        "secrets = [\"env:SHOP\"]",
        "secrets = 1\ntenant = 2\nmax_body = 0\ndedup_window = 5\nmissing_key = 6\nduplicate = 7\nversions = 8",
    );
    let lines: Vec<_> = found.iter().filter_map(|problem| problem.split(':').next()).collect();
    assert_eq!(lines, ["3", "4", "5", "6", "7", "8", "9"], "{found:?}");
}

#[test]
fn a_secret_of_a_tenant_needs_the_tenant_in_the_url() {
    let own = |tenant: &str| {
        changed("secrets = [\"env:SHOP\"]", &format!("secrets = [\"ssm:/shop/{{tenant}}\"]{tenant}"))
    };
    assert_eq!(own("\ntenant = \"path\""), [""; 0]);
    for without in ["", "\ntenant = \"/account\""] {
        let found = own(without);
        assert!(
            found.len() == 1 && found[0].starts_with("3:12: the tenant of a secret comes from the URL"),
            "{found:?}"
        );
    }
    let found = own("\ntenant = \"accou nt\"");
    assert!(found.len() == 1 && found[0].starts_with("4:10:"), "{found:?}");
}

#[test]
fn where_live_mode_is_shown_is_the_vendor_s_or_the_guard_s_to_say() {
    let guard = |vendor: &str, more: &str| {
        let text = BASE
            .replace("\"stripe\"", vendor)
            .replace("order = \"time\"", "order = \"rank\"")
            .replace("secrets =", "dedup_window = \"60d\"\nsecrets =")
            .replace(
                "[[endpoint.shop.rule]]",
                &format!(
                    "[[endpoint.shop.guard]]\nlivemode = true\n{more}answer = 200\n[[endpoint.shop.rule]]"
                ),
            );
        shown(&check(("endpoints.toml", &text), &[("vendors/plain.toml", PLAIN)]).problems)
    };
    assert_eq!(guard("\"stripe\"", ""), [""; 0]);
    assert_eq!(guard("\"plain\"", "at = \"/live\"\n"), [""; 0]);
    let found = guard("\"plain\"", "");
    let problem = "7:1: the description of plain does not say how live mode is shown";
    assert!(found.len() == 1 && found[0].starts_with(problem), "{found:?}");
}

#[test]
fn what_is_answered_without_a_result_is_said_only_where_results_are_answered() {
    let vendor = "vendor = \"stripe\"";
    let with = |more: &str| changed(vendor, &format!("{vendor}\n{more}"));
    assert_eq!(with("duplicate = \"result\"\nunfinished = 202"), [""; 0]);
    for (more, expected) in [
        ("duplicate = \"result\"\nunfinished = 200", "4:14: `unfinished` is 409 or 202"),
        ("unfinished = 409", "3:1: `unfinished` says what is answered while there is no result"),
        ("duplicate = \"results\"", "3:13: \"results\" is no `duplicate` (did you mean \"result\"?)"),
    ] {
        let found = with(more);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
}
