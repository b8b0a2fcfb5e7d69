//! Destinations and secrets: what a policy needs to be kept.

use super::{changed, every_case_has_its_problems};
use crate::config::{Expected, Probe, ProbePart, Says, Telling, load};
use crate::json::Literal;
use crate::source::Pointer;
use crate::url_template::UrlTemplate;

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
            &["16:57: destination `packing` is one of http, sqs, function, eventbridge, code"],
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

// INV-2: nothing of ours makes a queue or a bus recognise a key for longer.
#[test]
fn a_kind_promises_what_it_can_keep_and_no_more() {
    let http = "http = \"https://packing.example.com/tasks\"";
    every_case_has_its_problems(&[
        (http, "sqs = \"builds\"", &[]),
        (http, "sqs = \"builds.fifo\", in_doubt = \"retry\"", &[]),
        (http, "sqs = \"builds.fifo\", honours_key_for = \"2m\", in_doubt = \"retry\"", &[]),
        (
            http,
            "sqs = \"builds.fifo\", honours_key_for = \"1h\"",
            &["16:52: a FIFO queue recognises a repeated key for 5m and no longer"],
        ),
        (
            http,
            "sqs = \"builds\", honours_key_for = \"5m\"",
            &["16:29: a standard queue recognises no repeated key"],
        ),
        (
            http,
            "eventbridge = \"orders\", honours_key_for = \"5m\"",
            &["16:37: an event bus recognises no repeated key"],
        ),
        (
            http,
            "sqs = \"builds\", in_doubt = \"retry\"",
            &["16:40: destination `packing` may be called again only while it honours the key"],
        ),
        (http, "function = \"finish-job\", honours_key_for = \"1h\", in_doubt = \"retry\"", &[]),
        (http, "function = \"finish-job\", decisive = [\"OutOfStock\"]", &[]),
        (http, "code = \"packing-slips\", honours_key_for = \"24h\", in_doubt = \"retry\"", &[]),
    ]);
}

#[test]
fn a_probe_says_whom_to_ask_and_what_the_answers_mean() {
    let http = "http = \"https://packing.example.com/tasks\"";
    let with = |more: &str| format!("{http}, {more}");
    let asked = |more: &str| {
        with(&format!(
            "in_doubt = \"probe\", probe = {{ url = \"https://packing.example.com/tasks/{{key}}\"{more} }}"
        ))
    };
    every_case_has_its_problems(&[
        (http, &asked(""), &[]),
        (http, &asked(", done = [200, 303], not_done = [404, 410]"), &[]),
        (http, &with("in_doubt = \"probe\""), &["16:68: destination `packing` does not say how it is asked"]),
        (http, &asked(", done = [404]"), &["16:85: 404 alone cannot mean both"]),
        (http, &asked(", not_done_when = { \"/data\" = [] }"), &["16:85: 200 alone cannot mean both"]),
        (
            http,
            &asked(
                ", done_when = { \"/data/0/key\" = \"{key}\" }, not_done_when = { \"/data\" = [], \"/more\" = false }",
            ),
            &[],
        ),
        (http, &asked(", done_when = { \"data\" = 1 }"), &["16:150: `data` is not a pointer"]),
        (
            http,
            &asked(", done_when = { \"/data\" = [1] }"),
            &["16:160: the right side of `done_when` is text, a number, true or false"],
        ),
        (http, &asked(", not_done = [503]"), &["16:148: `not_done` lists HTTP statuses from 200 to 499"]),
        (
            http,
            &with("probe = { url = \"https://packing.example.com/{key}\" }"),
            &["16:57: `probe` is asked only where"],
        ),
        (
            http,
            &with("in_doubt = \"probe\", probe = { url = \"https://packing.example.com/{order}\" }"),
            &["16:93: `{order}` in a URL: only `{key}`"],
        ),
        (
            http,
            &with("in_doubt = \"probe\", probe = { url = \"https://{key}.example.com/\" }"),
            &["16:93: the host of a URL is fixed"],
        ),
    ]);
}

#[test]
fn an_answer_says_what_its_status_and_its_body_say_together() {
    let toml = r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination.packing]
http = "https://packing.example.com/tasks"
in_doubt = "probe"
probe.url = "https://packing.example.com/tasks?reference={key}"
probe.done_when = { "/data/0/reference" = "{key}", "/data/0/state" = "packed" }
probe.not_done_when = { "/data" = [] }
"#;
    let config = load(("endpoints.toml", toml), &[]).unwrap();
    let probe = config.destinations["packing"].probe.as_ref().unwrap();
    for (status, body, expected) in [
        (200, r#"{"data":[{"reference":"k1","state":"packed"}]}"#, Says::Done),
        (200, r#"{"data":[{"reference":"k2","state":"packed"}]}"#, Says::Neither),
        (200, r#"{"data":[{"reference":"k1","state":"waiting"}]}"#, Says::Neither),
        (200, r#"{"data":[]}"#, Says::NotDone),
        (200, r#"{"items":[]}"#, Says::Neither),
        (200, r#"{"data":[]"#, Says::Neither),
        (200, "", Says::Neither),
        (404, r#"{"data":[]}"#, Says::Neither),
        (500, r#"{"data":[]}"#, Says::Neither),
    ] {
        assert_eq!(probe.says(status, body.as_bytes(), "k1"), expected, "{status} {body}");
    }
}

// INV-6
#[test]
fn an_answer_that_says_both_says_nothing() {
    let asked = |when: &[(&str, Literal)]| Telling {
        statuses: vec![200],
        when: when
            .iter()
            .map(|(place, literal)| (Pointer::parse(place).unwrap(), Expected::Literal(literal.clone())))
            .collect(),
    };
    let probe = Probe {
        url: UrlTemplate::with_parts("https://packing.example.com/{key}", |_| Ok(ProbePart::Key)).unwrap(),
        done: asked(&[("/packed", Literal::Truth(true))]),
        not_done: asked(&[("/canceled", Literal::Truth(true))]),
    };
    assert_eq!(probe.says(200, br#"{"packed":true,"canceled":true}"#, "k1"), Says::Neither);
    assert_eq!(probe.says(200, br#"{"packed":true,"canceled":false}"#, "k1"), Says::Done);
}

#[test]
fn what_is_called_is_named_as_its_kind_names_things() {
    let http = "http = \"https://packing.example.com/tasks\"";
    every_case_has_its_problems(&[
        (
            http,
            "sqs = \"https://sqs.example.com/1/builds\"",
            &["16:19: \"https://sqs.example.com/1/builds\" is not the name of a queue"],
        ),
        (http, "function = \"\"", &["16:24: \"\" is not the name of a function"]),
        (
            http,
            "eventbridge = \"arn:aws:sqs:eu-west-1:111122223333:a\"",
            &["16:27: \"arn:aws:sqs:eu-west-1:111122223333:a\" is not the name of an event bus"],
        ),
        (http, "code = \"packing slips\"", &["16:20: a name is made of"]),
        (http, "sqs = \"builds\", secrets = [\"env:A\"]", &["16:29: only calls over HTTP are signed"]),
        (
            http,
            "sqs = \"builds\", decisive = [400]",
            &["16:29: AWS's own answers are read by what they mean"],
        ),
        (http, "function = \"a\", decisive = [400]", &["16:41: "]),
        (http, &format!("{http}, secrets = [\"file:packing\", \"ssm:/packing\"]"), &[]),
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
