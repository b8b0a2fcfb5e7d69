//! How a run ends when not everything is delivered.

use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

fn text<'j>(json: &'j serde_json::Value, pointer: &str) -> &'j str {
    json.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default()
}

#[test]
fn what_is_refused_for_good_is_sent_once_and_listed_with_the_reason() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}\n{\"n\":2}\nnonsense\n{\"n\":3}\n");
    let server = Server::start(|heard, _| match heard.body.as_slice() {
        b"{\"n\":2}" => Behaviour::Answer(422, String::new(), "{\"error\":\"no such order\"}".to_owned()),
        _ => answer(200),
    });
    let run = send(&folder, &server, &["--secret", "env:HOOK"]);
    assert_eq!((run.code, server.heard().len()), (1, 3), "{}", run.said());
    assert!(run.out.contains("refused for good: 1\n  msg_"), "{}", run.out);
    assert!(run.out.contains("(line 2): answered 422: {\"error\":\"no such order\"}\n"), "{}", run.out);
    assert!(run.out.contains("not readable: 1\n  line 3: it is not JSON"), "{}", run.out);
}

#[test]
fn a_redirect_is_not_followed() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}");
    let server = Server::start(|_, _| {
        Behaviour::Answer(308, "location: /elsewhere?token=invented\r\n".to_owned(), String::new())
    });
    let run = send(&folder, &server, &SIGNED);
    assert_eq!((run.code, server.heard().len()), (1, 1), "{}", run.said());
    let json = run.json();
    let why = text(&json, "/refused/0/why");
    assert_eq!(why, "answered 308: it is at /elsewhere, and redirects are not followed");
}

#[test]
fn where_nobody_receives_any_more_the_rest_is_left_and_can_be_sent_later() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}\n{\"n\":2}\n{\"n\": 3.0}\n");
    let server = Server::start(|heard, _| answer(if heard.body == b"{\"n\":2}" { 410 } else { 200 }));
    let run = send(&folder, &server, &[&["--left", "left"], &SIGNED[..]].concat());
    let json = run.json();
    assert_eq!((run.code, text(&json, "/stopped")), (1, "gone"), "{}", run.said());
    assert_eq!((server.heard().len(), &json["all_read"]), (2, &true.into()));
    assert_eq!(
        (text(&json, "/refused/0/at"), text(&json, "/left/0/at"), text(&json, "/left/0/why")),
        ("line 2", "line 3", "not sent")
    );
    let later = Server::start(|_, _| answer(200));
    let url = later.url();
    let arguments = ["send", "left", "--as", "deliveries", "--url", &url, "--secret", "env:HOOK"];
    let run = folder.sekali_with(&arguments, &[("HOOK", SECRET)]);
    assert_eq!(run.code, 0, "{}", run.said());
    let (first, later) = (server.heard(), later.heard());
    assert!(later.iter().all(verifies));
    assert!(later.iter().any(|heard| heard.body == b"{\"n\": 3.0}"));
    // The one that was refused keeps its id.
    assert!(ids(&later).contains(first[1].header("webhook-id")));
}

#[test]
fn neither_a_secret_nor_a_signature_is_shown_even_if_the_receiver_repeats_it() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}");
    let server =
        Server::start(|heard, _| Behaviour::Answer(400, String::new(), format!("got {:?}", heard.headers)));
    for form in [&SIGNED[..], &SIGNED[..2]] {
        let run =
            send(&folder, &server, &[form, &["--header", "Authorization: Bearer invented-token"]].concat());
        assert_eq!(run.code, 1);
        let said = run.said();
        assert!(said.contains("answered 400: (not shown: it repeats what was sent)"), "{said}");
        assert!(!said.contains(SECRET) && !said.contains("invented-token"), "{said}");
        let heard = server.heard();
        let signature = heard[0].header("webhook-signature").trim_start_matches("v1,");
        assert!(signature.len() > 12 && !said.contains(signature), "{said}");
    }
}

/// A run that goes on, ended with its test.
struct Going(Child);

impl Going {
    fn begin(folder: &Folder, server: &Server, arguments: &[&str]) -> Self {
        let url = server.url();
        let arguments = [&["send", "--url", &url, "--secret", "env:HOOK", "--json"], arguments].concat();
        let child = Command::new(env!("CARGO_BIN_EXE_sekali"))
            .args(arguments)
            .current_dir(&folder.0)
            .env_clear()
            .env("HOOK", SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn press_ctrl_c(&self) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    fn ended(&mut self) -> (i32, serde_json::Value) {
        let mut out = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (self.0.wait().unwrap().code().unwrap(), serde_json::from_str(&out).unwrap())
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn lines_of_a_stream_are_sent_as_they_come() {
    let folder = Folder::new();
    let server = Server::start(|_, _| answer(200));
    let mut going = Going::begin(&folder, &server, &["-"]);
    let mut input = going.0.stdin.take().unwrap();
    for number in 1..=3 {
        writeln!(input, "{{\"n\":{number}}}").unwrap();
        server.heard_at_least(number);
    }
    drop(input);
    let (code, json) = going.ended();
    assert_eq!((code, &json["delivered"]), (0, &3.into()));
}

#[test]
fn ctrl_c_begins_nothing_more_awaits_what_is_under_way_and_says_what_is_left() {
    let folder = Folder::new();
    folder.put("events", "{\"n\":1}\n{\"n\":2}\n");
    let server = Server::start(|_, _| Behaviour::Hang);
    let mut going = Going::begin(
        &folder,
        &server,
        &["events", "--concurrency", "1", "--timeout", "10m", "--left", "left"],
    );
    server.heard_at_least(1);
    going.press_ctrl_c();
    let mut said = String::new();
    let mut error = BufReader::new(going.0.stderr.take().unwrap());
    error.read_line(&mut said).unwrap();
    assert_eq!(said, "ending; 1 under way are awaited, again ends at once\n");
    going.press_ctrl_c();
    let (code, json) = going.ended();
    assert_eq!((code, text(&json, "/stopped"), &json["attempts"]), (1, "interrupted", &0.into()));
    let left = [text(&json, "/left/0/why"), text(&json, "/left/1/why")];
    assert_eq!(left, ["sent, and its answer not awaited", "not sent"]);
    let kept = std::fs::read_to_string(folder.0.join("left")).unwrap();
    assert_eq!(kept.lines().count(), 2);
    assert_eq!(server.heard().len(), 1);
}

#[test]
fn a_silent_stream_does_not_hold_back_the_end() {
    let folder = Folder::new();
    let server = Server::start(|_, _| answer(200));
    let mut going = Going::begin(&folder, &server, &["-"]);
    writeln!(going.0.stdin.as_mut().unwrap(), "{{\"n\":1}}").unwrap();
    server.heard_at_least(1);
    going.press_ctrl_c();
    let (code, json) = going.ended();
    assert_eq!((code, text(&json, "/stopped")), (1, "interrupted"));
    assert_eq!((&json["delivered"], &json["all_read"]), (&1.into(), &false.into()));
}
