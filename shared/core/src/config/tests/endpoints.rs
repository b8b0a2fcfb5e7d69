//! Endpoints: settings, limits, guards.

use super::{BASE, changed, problems};

#[test]
fn endpoint_settings_are_read_with_their_limits() {
    let set = |line: &str| changed("resource.payment", &format!("{line}\nresource.payment"));
    for good in [
        "max_body = \"256KiB\"",
        "max_body = 1000",
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
        ("max_body = \"5MiB\"", "4:12: `max_body` is from 1 byte to 4 MiB"),
        ("max_body = 0", "4:12: `max_body` is from 1 byte"),
        ("max_body = -1", "4:12: `max_body` is from 1 byte"),
        ("max_body = \"1MB\"", "4:12: a size is a whole number and one of B, KiB, MiB"),
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
        "networks = [\"192.0.2.0/24\", \"2001:db8::1\"]\nanswer = \"refuse\"",
        "types = [\"paid\"]\nanswer = \"filter\"",
        "when = { \"/livemode\" = true }\nanswer = \"filter\"",
    ] {
        assert_eq!(guard(good), [""; 0], "{good}");
    }
    for (bad, problem) in [
        ("answer = \"filter\"", "5:1: the guard demands nothing"),
        ("types = [\"paid\"]", "5:1: the guard does not say what is answered"),
        (
            "types = [\"paid\"]\nnetworks = [\"192.0.2.1\"]\nanswer = \"filter\"",
            "7:1: a guard demands one thing",
        ),
        ("networks = []\nanswer = \"refuse\"", "6:12: `networks` is empty"),
        (
            "networks = [\"192.0.2.1/24\"]\nanswer = \"refuse\"",
            "6:13: the address has bits beyond its network: it would be 192.0.2.0/24",
        ),
        ("networks = [\"example.com\"]\nanswer = \"refuse\"", "6:13: a network is an address"),
        ("types = [\"paid\"]\nanswer = \"drop\"", "7:10: \"drop\" is no `answer`"),
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
