//! Good and bad files, each problem with its place.

mod calls;
mod destinations;
mod endpoints;
mod example;
mod fetch;
mod lists;
mod review;
mod rules;
mod vendors;
mod windows;

use super::*;

/// A small good file, in which the cases below change one thing each.
const BASE: &str = r#"[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
resource.payment = "/data/object/id"
[[endpoint.shop.rule]]
type = "paid"
status = "paid"
action.pack = { order = "/order" }
late = "act"
[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded"]
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks" }
"#;

/// A team's own description, of a vendor that states neither time nor sequence.
const PLAIN: &str = r#"confirmed = true
[[scheme]]
name = "v1"
kind = "hmac"
alg = "sha256"
signature = { from = "header:X-Signature" }
message = "{body}"
[[event]]
id = "/id"
type = "/status"
"#;

fn shown(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| problem.to_string().replace("endpoints.toml:", "")).collect()
}

fn problems(text: &str) -> Vec<String> {
    shown(&check(("endpoints.toml", text), &[]).problems)
}

/// The problems of the base file after `from` was replaced by `to`.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(BASE.contains(from), "`{from}` is not in the base file");
    problems(&BASE.replacen(from, to, 1))
}

/// Each case: what is replaced, by what, and how each problem begins.
fn every_case_has_its_problems(cases: &[(&str, &str, &[&str])]) {
    for (from, to, expected) in cases {
        let found = changed(from, to);
        let as_expected = found.len() == expected.len()
            && found.iter().zip(*expected).all(|(found, expected)| found.starts_with(expected));
        assert!(as_expected, "{from} -> {to}\nexpected {expected:#?}\nfound {found:#?}");
    }
}

#[test]
fn the_shipped_endpoints_hold_together() {
    let file = ("infra/endpoints.toml", include_str!("../../../../../infra/endpoints.toml"));
    let config = load(file, &[]).unwrap();
    let day = std::time::Duration::from_secs(86_400);
    assert_eq!(check_windows(&config, Retentions { queue: day * 4, dlq: day * 14 }), []);
}

const REFERENCE: &str = include_str!("../../../../../docs/configuration.md");

#[test]
fn the_whole_files_of_the_reference_hold_together() {
    let (_, after) = REFERENCE.split_once("\n## Two whole files\n").unwrap();
    let section = after.split("\n## ").next().unwrap();
    let files: Vec<&str> =
        section.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(files.len(), 2);
    let day = std::time::Duration::from_secs(86_400);
    for file in files {
        let checked = check(("endpoints.toml", file), &[]);
        let config = checked.config.unwrap();
        assert_eq!(check_windows(&config, Retentions { queue: day * 4, dlq: day * 14 }), []);
        let remarks = review(&config, &checked.mentions);
        assert!(remarks.is_empty(), "{remarks:?}");
    }
}

#[test]
fn the_reference_explains_every_key_and_no_other() {
    for (section, keys) in KEYS {
        let (_, after) = REFERENCE.split_once(&format!("\n## `{section}`\n")).expect(section);
        let text = after.split("\n## ").next().unwrap();
        let mut explained: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let mut known = keys.to_vec();
        explained.sort_unstable();
        known.sort_unstable();
        assert_eq!(explained, known, "{section}");
    }
}

#[test]
fn the_base_file_is_good() {
    assert_eq!(problems(BASE), [""; 0]);
    assert!(load(("endpoints.toml", BASE), &[]).is_ok());
}

#[test]
fn unknown_keys_are_shown_with_the_nearest_known_one() {
    every_case_has_its_problems(&[
        (
            "secrets =",
            "secretz =",
            &[
                "1:11: endpoint `shop` has no secret, and stripe signs its deliveries",
                "3:1: `secretz` is no key of an endpoint (did you mean `secrets`?)",
            ],
        ),
        (
            "late =",
            "lat =",
            &[
                "5:1: the rule does not say what becomes of its action when the event is late",
                "9:1: `lat` is no key of a rule (did you mean `late`?)",
            ],
        ),
        (
            "[action]",
            "[actions]",
            &[
                "8:8: action `pack` is not declared ([action] pack = { to = \"a destination\" })",
                "13:2: `actions` is no key of this file (did you mean `action`?)",
            ],
        ),
        (
            "order = \"time\"",
            "order = \"time\"\nbanana = 1",
            &["12:1: `banana` is no key of a resource (known here: order, moves)"],
        ),
        (
            "to = \"packing\"",
            "to = \"packing\", too = 1",
            &["14:43: `too` is no key of an action (did you mean `to`?)"],
        ),
        (
            "packing = { http",
            "packing = { timout = \"1s\", http",
            &["16:13: `timout` is no key of a destination (did you mean `timeout`?)"],
        ),
    ]);
}

#[test]
fn what_is_missing_is_named_where_it_should_be() {
    every_case_has_its_problems(&[
        ("vendor = \"stripe\"\n", "", &["1:11: endpoint `shop` does not say who sends"]),
        ("type = \"paid\"\n", "", &["5:1: the rule does not say for which type of event it is"]),
        (
            "late = \"act\"\n",
            "",
            &["5:1: the rule does not say what becomes of its action when the event is late"],
        ),
        ("order = \"time\"\n", "", &["10:11: resource `payment` does not say what orders its events"]),
        ("moves = [\"pending -> paid -> refunded\"]\n", "", &["10:11: resource `payment` has no moves"]),
        (", to = \"packing\"", "", &["14:1: action `pack` does not say where it goes"]),
        (
            "http = \"https://packing.example.com/tasks\"",
            "",
            &["16:1: destination `packing` does not say what is called"],
        ),
        (
            "status = \"paid\"\naction.pack = { order = \"/order\" }\nlate = \"act\"\n",
            "",
            &["5:1: the rule does nothing"],
        ),
    ]);
    assert_eq!(problems(""), ["1:1: the file declares no endpoint ([endpoint.NAME])"]);
}

#[test]
fn what_is_named_is_declared() {
    every_case_has_its_problems(&[
        (
            "vendor = \"stripe\"",
            "vendor = \"strip\"",
            &["2:10: no description of a vendor \"strip\" (did you mean \"stripe\"?)"],
        ),
        (
            "[resource.payment]",
            "[resource.payments]",
            &["4:10: resource `payment` is not declared (did you mean `payments`?)"],
        ),
        ("action.pack", "action.pac", &["8:8: action `pac` is not declared (did you mean `pack`?)"]),
        (
            "to = \"packing\"",
            "to = \"paking\"",
            &["14:32: destination \"paking\" is not declared (did you mean \"packing\"?)"],
        ),
        (
            "status = \"paid\"",
            "status = \"payed\"",
            &["7:10: no move of resource `payment` names the status \"payed\" (did you mean \"paid\"?)"],
        ),
        (
            "status = \"paid\"",
            "status = \"shipped\"",
            &[
                "7:10: no move of resource `payment` names the status \"shipped\" (its statuses are pending, paid, refunded)",
            ],
        ),
        (
            "{ order = \"/order\" }",
            "{ amount = \"/amount\" }",
            &["8:8: the key of action `pack` has the field `order`, which this rule does not give"],
        ),
    ]);
}

#[test]
fn every_problem_is_found_at_once() {
    let text = BASE.replace("secrets", "secretz").replace("\"paid\"", "5").replace("\"time\"", "\"tim\"");
    assert_eq!(
        problems(&text),
        [
            "1:11: endpoint `shop` has no secret, and stripe signs its deliveries (secrets = [\"env:NAME\"])",
            "3:1: `secretz` is no key of an endpoint (did you mean `secrets`?)",
            "6:8: `type` is text or a list of texts, not a whole number (type = \"..\" or [\"..\", \"..\"])",
            "7:10: `status` is text in quotes, not a whole number (status = \"..\")",
            "11:9: \"tim\" is no `order` (did you mean \"time\"?)",
        ]
    );
}
