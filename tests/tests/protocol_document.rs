//! `docs/protocol.md` shows what the code does. With `SEKALI_WRITE_DOCS=1` the
//! generated parts are written anew.

use sekali::protocol::action::ActionStatus;
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use sekali_tests::fault::{Fault, Menu, PortCall, Trouble};
use std::path::Path;
use std::time::Duration;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/protocol.md");

#[test]
fn the_document_shows_the_transitions_reasons_and_fault_points_of_the_code() {
    let path = Path::new(DOCUMENT);
    let text = std::fs::read_to_string(path).unwrap();
    let parts = [("event", events()), ("action", actions()), ("reasons", reasons()), ("points", points())];
    let expected =
        parts.into_iter().fold(text.clone(), |text, (part, content)| replaced(&text, part, &content));
    if std::env::var_os("SEKALI_WRITE_DOCS").is_some() {
        std::fs::write(path, &expected).unwrap();
    } else {
        assert_eq!(text, expected, "run this test with SEKALI_WRITE_DOCS=1 and read what changed");
    }
}

#[test]
fn the_document_names_only_tests_that_are_there() {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let tests = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/simulation.rs")).unwrap();
    let section =
        text.split("## Where a lock without an owner").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows = section.unwrap().lines().filter(|line| line.starts_with("| ")).skip(1);
    let named: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert!(named.len() >= 6, "five cases and their mirror: {named:?}");
    for test in named {
        assert!(tests.contains(&format!("\nfn {test}() {{")), "no test is called {test}");
    }
}

fn replaced(text: &str, part: &str, content: &str) -> String {
    let (begin, end) = (format!("<!-- {part}:begin -->\n"), format!("<!-- {part}:end -->"));
    let (Some(from), Some(to)) = (text.find(&begin), text.find(&end)) else {
        panic!("docs/protocol.md should have the marks of `{part}`");
    };
    let from = from + begin.len();
    format!("{}{content}{}", &text[..from], &text[to..])
}

fn events() -> String {
    diagram(&EventStatus::ALL, EventStatus::may_become, EventStatus::as_str)
}

fn actions() -> String {
    diagram(&ActionStatus::ALL, ActionStatus::may_become, ActionStatus::as_str)
}

fn diagram<S: Copy + PartialEq>(all: &[S], may: fn(S, S) -> bool, word: fn(S) -> &'static str) -> String {
    let mut text = String::from("```mermaid\nstateDiagram-v2\n");
    for &from in all {
        for &to in all.iter().filter(|to| **to != from && may(from, **to)) {
            text.push_str(&format!("    {} --> {}\n", word(from), word(to)));
        }
    }
    text + "```\n"
}

fn reasons() -> String {
    let words: Vec<String> = Slug::ALL.iter().map(|slug| format!("`{}`", slug.as_str())).collect();
    words.join(" · ") + "\n"
}

fn points() -> String {
    let menu = Menu { pause: Duration::ZERO, permanent: true };
    let mut text = String::from("| point | call | how it breaks |\n|---|---|---|\n");
    for (number, call) in (1..).zip(PortCall::all()) {
        let mut ways: Vec<&str> = menu.of(call).into_iter().map(way).collect();
        ways.dedup();
        text.push_str(&format!("| {number} | {} | {} |\n", name(call), ways.join(", ")));
    }
    text
}

fn name(call: PortCall) -> String {
    match call {
        PortCall::Store(call) => format!("store: {}", words(&format!("{call:?}"))),
        PortCall::Send => "queue: send".to_owned(),
        PortCall::Receive => "queue: receive".to_owned(),
        PortCall::Delete => "queue: delete".to_owned(),
        PortCall::ShowAgain => "queue: show again later".to_owned(),
        PortCall::Effect => "destination: call".to_owned(),
        PortCall::Probe => "destination: ask".to_owned(),
        PortCall::Ask => "vendor's API: ask".to_owned(),
        PortCall::Confirm => "vendor: confirm".to_owned(),
    }
}

/// `PutPayload` as `put payload`.
fn words(name: &str) -> String {
    let spaced = name.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain([c]));
    spaced.collect::<String>().trim().to_lowercase()
}

fn way(fault: Fault) -> &'static str {
    match fault {
        Fault::Refused(Trouble::Throttled) => "throttled",
        Fault::Refused(Trouble::Contended) => "contended",
        Fault::Refused(Trouble::Unanswered) => "request lost",
        Fault::Refused(Trouble::Invalid) => "refused for good",
        Fault::Refused(Trouble::Unreadable) => "unreadable",
        Fault::AnswerLost => "answer lost",
        Fault::Repeated => "repeated by the client library",
        Fault::PauseBefore(_) => "frozen before",
        Fault::PauseAfter(_) => "frozen after",
        Fault::CrashBefore => "crash before",
        Fault::CrashAfter => "crash after",
    }
}
