//! Endpoints that ask their vendor's API.

use super::*;
use crate::source::Source;

/// The base file, asking the API about each payment.
fn asking() -> String {
    BASE.replace(
        "[[endpoint.shop.rule]]\n",
        r#"[endpoint.shop.fetch]
url = "https://api.example.com/v1/payments/{/data/object/id}?expand=order"
bearer = "secretsmanager:prod/api"
[[endpoint.shop.rule]]
when = { "fetch:/state" = "paid" }
"#,
    )
}

fn asking_with(from: &str, to: &str) -> Vec<String> {
    let text = asking();
    assert!(text.contains(from), "`{from}` is not in the file");
    problems(&text.replacen(from, to, 1))
}

#[test]
fn an_endpoint_says_whom_it_asks_and_as_whom() {
    let config = load(("endpoints.toml", &asking()), &[]).unwrap();
    let fetch = config.endpoints["shop"].fetch.as_ref().unwrap();
    assert_eq!(fetch.url.parts().map(Source::to_string).collect::<Vec<_>>(), ["/data/object/id"]);
    assert_eq!(fetch.auth.as_ref().unwrap().secret().to_string(), "secretsmanager:prod/api");
    assert_eq!(fetch.timeout, std::time::Duration::from_secs(5));
    let sources = config.endpoints["shop"].sources();
    assert!(sources.contains(&Source::parse("fetch:/state").unwrap()), "{sources:?}");
}

#[test]
fn order_status_key_and_fields_may_come_from_the_answer() {
    for (from, to) in [
        ("order = \"time\"", "order = \"fetch\""),
        ("order = \"/order\"", "order = \"fetch:/order\""),
        ("resource.payment = \"/data/object/id\"", "resource.payment = \"fetch:/id\""),
        ("status = \"paid\"", "status = \"fetch:/state\""),
        (
            "bearer = \"secretsmanager:prod/api\"",
            "basic = \"env:API\"\ntime = \"fetch:/at\"\nversion = \"fetch:/n\"",
        ),
        ("bearer = \"secretsmanager:prod/api\"", "api_key = { X-Api-Key = \"ssm:/api\" }\ntimeout = \"2s\""),
        ("bearer = \"secretsmanager:prod/api\"", "headers = { X-Version = \"2026-01-01\" }"),
    ] {
        assert_eq!(asking_with(from, to), [""; 0], "{to}");
    }
}

#[test]
fn what_is_wrong_with_a_fetch_is_said_at_its_place() {
    for (from, to, expected) in [
        ("{/data/object/id}", "1", "6:7: the URL is the same for everything"),
        ("api.example.com", "{/host}", "6:7: the host of a URL is fixed"),
        ("{/data/object/id}", "{id}", "6:7: `{id}` in a URL: `id` names no place"),
        ("{/data/object/id}", "{fetch:/id}", "6:7: `{fetch:/id}` in a URL: the answer is not there before"),
        ("https://api", "http://api", "6:7: plain http is only for a loopback address"),
        ("secretsmanager:prod/api", "sk_invented", "7:10: this does not say where the secret is kept"),
        (
            "bearer =",
            "basic = \"env:A\"\nbearer =",
            "8:1: `basic` says already who asks; `bearer` is one more",
        ),
        ("bearer = \"secretsmanager:prod/api\"", "api_key = {}", "7:11: `api_key` names one header field"),
        ("bearer =", "headers = { Host = \"a\" }\nbearer =", "7:13: `Host` is not set here"),
        ("bearer =", "headers = { A = \" \" }\nbearer =", "7:17: the value of a header field is plain ASCII"),
        ("bearer =", "timeout = \"2m\"\nbearer =", "7:11: `timeout` of a fetch is at most 1m"),
        ("bearer =", "time = \"/at\"\nbearer =", "7:8: `time` of a fetch is a place in the answer"),
        ("bearer =", "tokn = 1\nbearer =", "7:1: `tokn` is no key of a fetch"),
    ] {
        let found = asking_with(from, to);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{to}: {found:?}");
        assert!(!found[0].contains("invented"), "{found:?}");
    }
}

#[test]
fn what_nobody_asks_is_not_read() {
    every_case_has_its_problems(&[
        ("order = \"/order\"", "order = \"fetch:/order\"", &["8:25: the endpoint asks nobody"]),
        ("\"/data/object/id\"", "\"fetch:/id\"", &["4:20: the endpoint asks nobody"]),
        ("status = \"paid\"", "status = \"fetch:/state\"", &["7:10: the endpoint asks nobody"]),
        (
            "order = \"time\"",
            "order = \"fetch\"",
            &["4:1: resource `payment` is as its vendor's API says, and the endpoint does not ask it"],
        ),
    ]);
    let guard = "[[endpoint.shop.guard]]\nwhen = { \"fetch:/a\" = 1 }\nanswer = 200\n[endpoint.shop.fetch]";
    let found = asking_with("[endpoint.shop.fetch]", guard);
    assert!(found[0].starts_with("6:10: this is decided on the delivery alone"), "{found:?}");
    let found = asking_with("secrets", "tenant = \"fetch:/tenant\"\nsecrets");
    assert!(found[0].starts_with("3:10: this is decided on the delivery alone"), "{found:?}");
}
