//! `sekali send` against a receiver that misbehaves.

mod canary;
mod ends;
mod server;

use super::{Folder, Run};
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::Clock;
use sekali::vendor::{Params, Vendor, builtin};
use sekali_aws::SystemClock;
use server::{Behaviour, Heard, Server, answer};
use std::collections::BTreeSet;

const SECRET: &str = "whsec_aW52ZW50ZWQgZm9yIHRoZSBjb21tYW5k";

/// Retries within milliseconds, one after the other.
const QUICK: [&str; 6] = ["--first-wait", "1ms", "--longest-wait", "2ms", "--concurrency", "1"];

fn send(folder: &Folder, server: &Server, more: &[&str]) -> Run {
    let url = server.url();
    let mut arguments = vec!["send", "events", "--url", &url];
    arguments.extend(QUICK);
    arguments.extend(more);
    folder.sekali_with(&arguments, &[("HOOK", SECRET)])
}

const SIGNED: [&str; 3] = ["--secret", "env:HOOK", "--json"];

/// Whether a receiver of Standard Webhooks takes it now.
fn verifies(heard: &Heard) -> bool {
    let name = "standard-webhooks";
    let vendor = Vendor::parse(name, name, builtin::text(name).unwrap()).unwrap();
    let keys = vendor.keys(&[Secret::new(SECRET).unwrap()]).unwrap();
    let request = Request {
        method: "POST".to_owned(),
        path: heard.path.clone(),
        query: String::new(),
        headers: Headers::new(heard.headers.iter().map(|(name, value)| (name.clone(), value))),
        body: heard.body.clone(),
    };
    vendor.verify(&request, &keys, &Params::default(), SystemClock.now()).is_ok()
}

fn ids(heard: &[Heard]) -> BTreeSet<&str> {
    heard.iter().map(|heard| heard.header("webhook-id")).collect()
}

#[test]
fn an_event_whose_type_the_vendor_says_in_a_header_is_not_sent_without_it() {
    let folder = Folder::new();
    folder.put("events", "{\"ref\": \"refs/heads/main\"}");
    let server = Server::start(|_, _| answer(200));
    let github = ["--secret", "env:HOOK", "--vendor", "github"];
    let run = send(&folder, &server, &github);
    assert_eq!((run.code, server.heard().len()), (1, 0), "{}", run.said());
    assert!(run.out.contains("--header 'X-GitHub-Event: ..'"), "{}", run.said());
    let run = send(&folder, &server, &[&github[..], &["--header", "X-GitHub-Event: push"]].concat());
    assert_eq!((run.code, server.heard().len()), (0, 1), "{}", run.said());
}

#[test]
fn a_vendor_of_the_teams_own_is_found_in_the_checkout() {
    let folder = Folder::new();
    folder.put("infra/vendors/acme.toml", builtin::text("standard-webhooks").unwrap());
    folder.put("events", "{}");
    let server = Server::start(|_, _| answer(200));
    let run = send(&folder, &server, &["--secret", "env:HOOK", "--vendor", "acme"]);
    assert_eq!((run.code, server.heard().len()), (0, 1), "{}", run.said());
    assert!(verifies(&server.heard()[0]));
    // It is asked what is wrong with a request by the same name.
    folder.put("captured.http", "POST / HTTP/1.1\nAccept: */*\n\n{}");
    let run = folder.sekali_with(
        &["doctor", "captured.http", "--vendor", "acme", "--secret", "env:HOOK"],
        &[("HOOK", SECRET)],
    );
    assert_eq!(run.code, 1, "{}", run.said());
    assert!(run.out.contains("capture the request with all of its headers"), "{}", run.said());
}

#[test]
fn what_is_refused_for_a_while_is_sent_again_under_one_id_and_with_the_same_bytes() {
    let folder = Folder::new();
    folder.put("events", "{\"n\": 1.0}");
    let server = Server::start(|_, before| if before < 2 { answer(503) } else { answer(200) });
    let run = send(&folder, &server, &SIGNED);
    assert_eq!(run.code, 0, "{}", run.said());
    let heard = server.heard();
    assert_eq!((heard.len(), ids(&heard).len()), (3, 1));
    assert!(heard.iter().all(|heard| heard.body == b"{\"n\": 1.0}" && verifies(heard)));
    let json = run.json();
    assert_eq!((&json["attempts"], &json["delivered"]), (&3.into(), &1.into()));
    assert_eq!(json["answers"], serde_json::json!({ "200": 1, "503": 2 }));
    assert_eq!(json["as_expected"], true);
}

#[test]
fn one_series_goes_out_for_each_id_however_often_the_input_has_it() {
    let folder = Folder::new();
    let lines = [r#"{"id":"a","n":1}"#, r#"{"id":"b","n":1}"#, r#"{"id":"a","n":1}"#, r#"{"id":"b","n":2}"#];
    folder.put("events", lines.join("\n"));
    let server = Server::start(|_, before| if before == 0 { answer(500) } else { answer(204) });
    let run = send(&folder, &server, &[&["--id", "/id"], &SIGNED[..]].concat());
    let heard = server.heard();
    assert_eq!((heard.len(), ids(&heard)), (4, BTreeSet::from(["a", "b"])));
    assert!(heard.iter().all(|heard| !heard.body.ends_with(b"2}")));
    // The second content of `b` was not sent, and somebody has to know.
    assert_eq!(run.code, 1, "{}", run.said());
    let json = run.json();
    assert_eq!((&json["events"], &json["repeated"], &json["delivered"]), (&2.into(), &1.into(), &2.into()));
    assert_eq!((&json["differing"][0]["id"], &json["differing"][0]["at"]), (&"b".into(), &"line 4".into()));
}

#[test]
fn a_wait_that_is_asked_for_is_honoured_and_one_beyond_the_age_is_not_waited_for() {
    let folder = Folder::new();
    folder.put("events", "[{\"n\":1}]");
    for (asks, code, attempts) in
        [("0", 0, 2), ("Wed, 25 Feb 2015 06:14:20 GMT", 0, 2), ("nonsense", 0, 2), ("86400", 1, 1)]
    {
        let server = Server::start(move |_, before| match before {
            0 => Behaviour::Answer(429, format!("retry-after: {asks}\r\n"), String::new()),
            _ => answer(200),
        });
        let run = send(&folder, &server, &SIGNED);
        assert_eq!((run.code, server.heard().len()), (code, attempts), "{asks}: {}", run.said());
        if code == 1 {
            let json = run.json();
            let why = json["given_up"][0]["why"].as_str().unwrap();
            assert!(why.contains("answered 429; given up: the receiver asks to wait longer"), "{why}");
        }
    }
}

#[test]
fn a_wait_that_is_asked_for_holds_back_every_other_event() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    // The first asks for longer than there is, so nobody is sent anything meanwhile.
    let server =
        Server::start(|_, _| Behaviour::Answer(503, "retry-after: 3600\r\n".to_owned(), String::new()));
    let run = send(&folder, &server, &[&["--max-age", "1ms", "--attempts", "5"], &SIGNED[..]].concat());
    assert_eq!(run.code, 1);
    // Each was sent once, when the pause of one --max-age was over.
    assert_eq!((server.heard().len(), run.json()["given_up"].as_array().unwrap().len()), (3, 3));
}

#[test]
fn a_hanging_and_a_cut_connection_are_tried_again() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}");
    let server = Server::start(|_, before| match before {
        0 => Behaviour::Hang,
        1 => Behaviour::Cut,
        _ => answer(202),
    });
    let run = send(&folder, &server, &[&["--timeout", "300ms"], &SIGNED[..]].concat());
    assert_eq!((run.code, server.heard().len()), (0, 3), "{}", run.said());
    assert_eq!(run.json()["answers"], serde_json::json!({ "202": 1, "none": 2 }));
}

#[test]
fn a_receiver_that_is_not_there_is_tried_as_often_as_was_said() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/in");
    let arguments =
        [&["send", "events", "--url", &url, "--attempts", "3", "--secret", "env:HOOK", "--json"], &QUICK[..]];
    let run = folder.sekali_with(&arguments.concat(), &[("HOOK", SECRET)]);
    assert_eq!(run.code, 1, "{}", run.said());
    let given_up = &run.json()["given_up"][0];
    assert_eq!((&given_up["attempts"], &given_up["status"]), (&3.into(), &serde_json::Value::Null));
    assert!(given_up["why"].as_str().unwrap().contains("no connection"), "{given_up}");
}

#[test]
fn a_vendors_own_way_of_signing_is_kept_on_every_attempt() {
    let folder = Folder::new();
    folder.put("events", r#"{"event_id":"Ev1","event":{"type":"message"}}"#);
    let server =
        Server::start(
            |heard, _| if heard.header("x-slack-retry-num") == "1" { answer(200) } else { answer(500) },
        );
    let run = send(&folder, &server, &["--vendor", "slack", "--secret", "env:HOOK", "--header", "X-Team: a"]);
    assert_eq!(run.code, 0, "{}", run.said());
    let heard = server.heard();
    assert_eq!(heard.len(), 2);
    for heard in heard {
        assert!(heard.header("x-slack-signature").starts_with("v0="));
        assert_eq!((heard.header("x-team"), heard.header("content-type")), ("a", "application/json"));
    }
    assert!(run.out.starts_with("delivered 1 of 1 events to http://127.0.0.1:"), "{}", run.out);
}

/// A receiver that verifies must refuse all three, and the command says so.
#[test]
fn a_receiver_is_tested_with_what_it_must_refuse() {
    let folder = Folder::new();
    folder.put("events", r#"{"n":1}"#);
    let verifying = || Server::start(|heard, _| answer(if verifies(heard) { 200 } else { 401 }));
    let careless = || Server::start(|_, _| answer(200));
    for how in [&["--unsigned"][..], &["--stale"], &["--stale", "6m"], &["--tamper"]] {
        let mut arguments = [how, &["--expect", "refused"]].concat();
        if how != ["--unsigned"] {
            arguments.extend(["--secret", "env:HOOK"]);
        }
        let run = send(&folder, &verifying(), &arguments);
        assert_eq!(run.code, 0, "{how:?}: {}", run.said());
        assert!(run.out.contains("answered 401 ×1"), "{}", run.out);
        let run = send(&folder, &careless(), &arguments);
        assert_eq!(run.code, 1, "{how:?}: {}", run.said());
        assert!(run.out.contains("taken though it should have been refused: msg_"), "{}", run.out);
    }
    let run = send(&folder, &verifying(), &SIGNED);
    assert_eq!(run.code, 0, "{}", run.said());
    // As JSON, what is sent and what was signed are the same.
    let server = careless();
    send(&folder, &server, &["--tamper", "--secret", "env:HOOK"]);
    assert_eq!(server.heard()[0].body, br#"{"n":1}"#);
}

#[test]
fn what_cannot_be_sent_is_said_before_anything_is() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}");
    folder.put("broken", "{\"n\":");
    let server = Server::start(|_, _| answer(200));
    let url = server.url();
    for (arguments, says) in [
        (&["send", "none", "--url", &url, "--secret", "env:HOOK"][..], "cannot read none"),
        (&["send", "broken", "--url", &url, "--secret", "env:HOOK"], "neither a JSON value"),
        (&["send", "events", "--url", &url], "--secret"),
        (&["send", "events", "--url", &url, "--secret", SECRET], "--secret env:NAME"),
        (&["send", "events", "--url", &url, "--secret", "env:UNSET"], "env:UNSET"),
        (&["send", "events", "--url", "hooks.example.com", "--secret", "env:HOOK"], "https://"),
        (&["send", "events", "--url", &url, "--secret", "env:HOOK", "--vendor", "sendgrid"], "shared secret"),
        (
            &["send", "events", "--url", &url, "--secret", "env:HOOK", "--vendor", "github", "--stale"],
            "does not sign the time",
        ),
        (
            &["send", "events", "--url", &url, "--secret", "env:HOOK", "--vendor", "strippe"],
            "did you mean \"stripe\"",
        ),
        (&["send", "events", "--url", &url, "--unsigned", "--tamper"], "cannot be used with"),
        (&["send", "events", "--url", &url, "--secret", "env:HOOK", "--max-age", "1 hour"], "span of time"),
    ] {
        let run = folder.sekali_with(arguments, &[("HOOK", SECRET)]);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.said());
        assert!(run.error.contains(says), "{arguments:?}: {}", run.error);
        assert!(run.out.is_empty() && !run.said().contains(SECRET), "{arguments:?}: {}", run.said());
    }
    assert_eq!(server.heard().len(), 0);
}
