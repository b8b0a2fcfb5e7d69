//! Destinations and secrets: what a policy needs to be kept.

use super::{BASE, changed, check, every_case_has_its_problems, load, shown};

#[test]
fn a_destination_keeps_what_its_policy_needs() {
    let http = "http = \"https://packing.example.com/tasks\"";
    let with = |more: &str| format!("{http}, {more}");
    every_case_has_its_problems(&[
        (
            http,
            &with("in_doubt = \"retry\""),
            &["16:68: destination `packing` may be called again only while it honours the key"],
        ),
        (
            http,
            &with("in_doubt = \"retry\", honours_key_for = \"10s\""),
            &["16:68: a call of 10s never fits twice into the 10s"],
        ),
        (
            http,
            &with("in_doubt = \"retry\", honours_key_for = \"24\""),
            &["16:95: a span of time is a whole number and one of"],
        ),
        (
            http,
            &with("in_doubt = \"guess\""),
            &["16:68: \"guess\" is no `in_doubt` (one of \"retry\", \"probe\", \"park\")"],
        ),
        (
            http,
            &with("sqs = \"queue\""),
            &["16:57: destination `packing` is one of http, sqs, function, eventbridge"],
        ),
        (http, &with("timeout = \"15m\""), &["16:67: `timeout` is at most 14m"]),
        (http, &with("timeout = \"0s\""), &["16:67: `timeout` is longer than nothing"]),
        (
            http,
            &with("decisive = [409, 200, \"x\"]"),
            &["16:74: `decisive` lists HTTP statuses", "16:79: `decisive` lists"],
        ),
        (http, &with("secrets = []"), &["16:67: `secrets` is empty"]),
        (
            http,
            "http = \"http://packing.example.com\"",
            &["16:20: plain http is only for a loopback address"],
        ),
        (http, "http = \"http://127.0.0.1:9000/tasks\"", &[]),
        (
            http,
            &with(
                "in_doubt = \"retry\", honours_key_for = \"24h\", settling = \"5m\", timeout = \"20s\", decisive = [409, 422]",
            ),
            &[],
        ),
    ]);
}

#[test]
fn a_secret_never_stands_in_the_file_nor_in_a_problem() {
    let found = changed("env:SHOP", "whsec_invented");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("3:12: this does not say where the secret is kept"), "{found:?}");
    assert!(!found[0].contains("whsec"), "{found:?}");
    every_case_has_its_problems(&[
        ("[\"env:SHOP\"]", "[\"env:SHOP\", \"env:SHOP\"]", &["3:24: `env:SHOP` stands twice"]),
        ("[\"env:SHOP\"]", "[]", &["3:11: `secrets` is empty"]),
        ("[\"env:SHOP\"]", "\"env:SHOP\"", &["3:11: `secrets` is a list of texts, not text"]),
    ]);
}

#[test]
fn what_is_not_built_yet_is_one_problem_with_its_place() {
    let http = "http = \"https://packing.example.com/tasks\"";
    for (from, to, unavailable) in [
        (http, "eventbridge = \"bus\"", "16:13: a destination of kind `eventbridge`"),
        (http, &format!("{http}, in_doubt = \"probe\""), "16:68: in_doubt = \"probe\""),
        (
            http,
            &format!("{http}, secrets = [\"file:packing\"]"),
            "16:68: a destination's secret kept in `file:`",
        ),
    ] {
        let text = BASE.replace(from, to);
        let checked = check(("endpoints.toml", &text), &[]);
        assert_eq!(shown(&checked.problems), [""; 0], "{to}");
        assert_eq!(shown(&checked.unavailable), [format!("{unavailable}: not available yet")], "{to}");
        assert!(load(("endpoints.toml", &text), &[]).is_err(), "{to}");
    }
}
