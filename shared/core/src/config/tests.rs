//! Good and bad files, each problem with its place.

use super::*;
use proptest::prelude::*;

/// The shape to aim at, as the design has it.
const EXAMPLE: &str = r#"[endpoint.stripe]                                # POST /webhooks/stripe
vendor = "stripe"
secrets = ["secretsmanager:prod/stripe-webhook"]
resource.payment = "/data/object/payment_intent" # kind = where this vendor keeps its key
[[endpoint.stripe.rule]]
type = ["checkout.session.completed", "checkout.session.async_payment_succeeded"]
when = { "/data/object/payment_status" = "paid" }
status = "paid"
action.pack = { order = "/data/object/metadata/order_id", amount = "/data/object/amount_total" }
late = "act"

[endpoint.replicate]                             # a second vendor of the same inner job would name the same action
vendor = "replicate"
secrets = ["secretsmanager:prod/replicate-webhook"]
resource.job = "/input/job"
[[endpoint.replicate.rule]]
type = "succeeded"
status = "completed"
action.finish = { job = "/input/job", ref = "/id" }
late = "skip"

[endpoint.github]                                # no resource, no states; no key: once per event
vendor = "github"
secrets = ["ssm:/prod/github-webhook"]
[[endpoint.github.rule]]
type = "push"
when = { "/ref" = "refs/heads/main" }
action.build = { repo = "/repository/full_name", commit = "/after" }

[resource.payment]
order = "time"
moves = ["pending -> paid -> refunded", "pending -> failed"]
[resource.job]
order = "rank"                                   # two vendors' clocks are not comparable
moves = ["queued -> processing -> completed", "queued -> failed", "processing -> failed"]

[action]
pack = { key = ["order"], to = "packing" }       # key names the action's own fields
finish = { key = ["job"], to = "jobs" }
build = { to = "builds" }

[destination]
packing = { http = "https://packing.example.com/tasks", secrets = ["secretsmanager:prod/packing"], honours_key_for = "24h", in_doubt = "retry" }
jobs = { function = "finish-job" }
builds = { sqs = "builds" }
"#;

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
fn the_example_asks_for_what_is_not_available_yet_and_has_no_problem() {
    let checked = check(("endpoints.toml", EXAMPLE), &[]);
    assert_eq!(shown(&checked.problems), [""; 0]);
    assert_eq!(
        shown(&checked.unavailable),
        [
            "3:12: a secret kept in `secretsmanager:`: not available yet",
            "14:12: a secret kept in `secretsmanager:`: not available yet",
            "24:12: a secret kept in `ssm:`: not available yet",
            "43:68: a secret kept in `secretsmanager:`: not available yet",
            "44:10: a destination of kind `function`: not available yet",
            "45:12: a destination of kind `sqs`: not available yet",
        ]
    );
    assert_eq!(load(("endpoints.toml", EXAMPLE), &[]).unwrap_err(), checked.unavailable);
    assert_eq!(checked.config.unwrap().endpoints.len(), 3);
}

#[test]
fn the_base_file_is_good() {
    assert_eq!(problems(BASE), [""; 0]);
    assert!(load(("endpoints.toml", BASE), &[]).is_ok());
}

#[test]
fn unknown_keys_are_shown_with_the_nearest_known_one() {
    every_case_has_its_problems(&[
        ("secrets =", "secretz =", &["3:1: `secretz` is no key of an endpoint (did you mean `secrets`?)"]),
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
fn one_endpoint_has_one_resource_and_one_rule_one_action() {
    every_case_has_its_problems(&[
        (
            "resource.payment = \"/data/object/id\"",
            "resource.payment = \"/a\"\nresource.job = \"/b\"",
            &["5:10: an endpoint has at most one kind of resource; `job` is one more"],
        ),
        ("late =", "action.ship = {}\nlate =", &["9:8: a rule has at most one action; `ship` is one more"]),
        (
            "resource.payment = \"/data/object/id\"\n",
            "",
            &[
                "6:1: a status, but the endpoint has no resource",
                "8:1: `late` says nothing where the endpoint has no resource",
            ],
        ),
        (
            "action.pack = { order = \"/order\" }\n",
            "",
            &["8:1: `late` says what becomes of an action, and the rule has none"],
        ),
    ]);
}

#[test]
fn words_of_the_rule_are_no_fields_of_an_action() {
    for (word, value) in [("type", "/type"), ("when", "/when"), ("status", "/status"), ("late", "/late")] {
        let fields = format!("{{ order = \"/order\", {word} = \"{value}\" }}");
        let found = changed("{ order = \"/order\" }", &fields);
        assert!(
            found.len() == 1
                && found[0].starts_with(&format!("8:35: `{word}` is a key of the rule and no field")),
            "{found:?}"
        );
    }
}

#[test]
fn a_place_is_a_place_and_a_literal_a_literal() {
    every_case_has_its_problems(&[
        ("order = \"/order\"", "order = \"order\"", &["8:25: `order` names no place"]),
        ("order = \"/order\"", "order = 5", &["8:25: `order` is text in quotes, not a whole number"]),
        (
            "resource.payment = \"/data/object/id\"",
            "resource.payment = \"header:\"",
            &["4:20: `header:` needs a name"],
        ),
        ("type = \"paid\"", "type = \"paid\"\nwhen = { mode = \"live\" }", &["7:10: `mode` names no place"]),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/a\" = [1] }",
            &["7:17: the right side of `when` is text, a number, true or false"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/a\" = 2026-01-01 }",
            &["7:17: the right side of `when`"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/a\" = true, \"/b\" = 1.5, \"/c\" = -2, \"/d\" = \"x\" }",
            &[],
        ),
    ]);
}

#[test]
fn types_are_named_in_full_and_once() {
    every_case_has_its_problems(&[
        ("type = \"paid\"", "type = []", &["6:8: `type` is empty"]),
        ("type = \"paid\"", "type = \"\"", &["6:8: \"\" is no event type"]),
        ("type = \"paid\"", "type = \"paid.*\"", &["6:8: \"paid.*\" is no event type"]),
        ("type = \"paid\"", "type = [\"a\", \"a\"]", &["6:14: type \"a\" stands twice"]),
        ("type = \"paid\"", "type = 5", &["6:8: `type` is text or a list of texts, not a whole number"]),
        ("type = \"paid\"", "type = \"*\"", &[]),
    ]);
}

#[test]
fn a_rule_that_can_never_match_is_a_problem() {
    let more = |rules: &str| changed("[resource.payment]", &format!("{rules}\n[resource.payment]"));
    let again = "[[endpoint.shop.rule]]\ntype = \"paid\"\nwhen = { \"/a\" = 1 }\nstatus = \"refunded\"";
    let found = more(again);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("10:1: this rule never matches: the one in line 5 takes all its events"),
        "{found:?}"
    );
    assert_eq!(more(&again.replace("\"paid\"", "[\"paid\", \"refunded\"]")), [""; 0]);
    assert_eq!(more(&again.replace("\"paid\"", "\"*\"")), [""; 0]);
}

#[test]
fn keys_and_moves_are_sound() {
    every_case_has_its_problems(&[
        ("key = [\"order\"]", "key = []", &["14:16: `key` is empty"]),
        ("key = [\"order\"]", "key = [\"order\", \"order\"]", &["14:26: `order` stands twice in the key"]),
        ("\"pending -> paid -> refunded\"", "", &["12:1: `moves` is empty"]),
        ("\"pending -> paid -> refunded\"", "\"paid\"", &["12:10: \"paid\" is no chain of moves"]),
        (
            "\"pending -> paid -> refunded\"",
            "\"pending -> -> paid\"",
            &["12:10: \"pending -> -> paid\" is no chain"],
        ),
        (
            "\"pending -> paid -> refunded\"",
            "\"pending -> paid\", \"pending -> paid -> refunded\"",
            &["12:29: the move pending -> paid is declared twice"],
        ),
        (
            "\"pending -> paid -> refunded\"",
            "\"pending -> pending -> paid\"",
            &["12:10: `pending` moves to itself"],
        ),
        (
            "order = \"time\"\nmoves = [\"pending -> paid -> refunded\"]",
            "order = \"rank\"\nmoves = [\"pending -> paid -> pending\"]",
            &["12:1: the moves lead around in a circle through pending, paid; with order = \"rank\""],
        ),
        ("moves = [\"pending -> paid -> refunded\"]", "moves = [\"pending -> paid -> pending\"]", &[]),
        ("order = \"time\"", "order = \"newest\"", &["11:9: \"newest\" is no `order` (one of \"time\""]),
    ]);
}

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
        "params = { webhook_id = \"8PT\" }",
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
        ("params = { webhook_id = 5 }", "4:25: `webhook_id` is text in quotes, not a whole number"),
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
fn every_problem_is_found_at_once() {
    let text = BASE.replace("secrets", "secretz").replace("\"paid\"", "5").replace("\"time\"", "\"tim\"");
    assert_eq!(
        problems(&text),
        [
            "3:1: `secretz` is no key of an endpoint (did you mean `secrets`?)",
            "6:8: `type` is text or a list of texts, not a whole number",
            "7:10: `status` is text in quotes, not a whole number",
            "11:9: \"tim\" is no `order` (did you mean \"time\"?)",
        ]
    );
}

#[test]
fn names_fit_in_a_path() {
    let found = problems(&BASE.replace("endpoint.shop", "endpoint.\"shop/eu\""));
    assert!(found.len() == 1 && found[0].starts_with("1:11: a name is made of"), "{found:?}");
}

proptest! {
    #[test]
    fn no_file_makes_the_reader_panic(
        edits in prop::collection::vec((0..EXAMPLE.len(), 0..EXAMPLE.len(), 0..40_usize), 1..6),
        noise in "[\\[\\]{}=\"',.# \n0-9a-zé-]{0,4}",
    ) {
        let mut text = EXAMPLE.as_bytes().to_vec();
        for (at, from, length) in edits {
            let piece = EXAMPLE.as_bytes()[from..(from + length).min(EXAMPLE.len())].to_vec();
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, piece.into_iter().chain(noise.bytes()));
        }
        let text = String::from_utf8_lossy(&text);
        let checked = check(("endpoints.toml", &text), &[]);
        for problem in checked.problems.iter().chain(&checked.unavailable) {
            prop_assert!(problem.place.line >= 1 && problem.place.column >= 1, "{problem}");
            prop_assert!(problem.place.line <= text.lines().count() + 1, "{problem}");
        }
        prop_assert_eq!(checked.config.is_some(), checked.problems.is_empty());
    }

    #[test]
    fn a_file_cut_short_never_claims_that_what_was_cut_is_undeclared(at in 0..EXAMPLE.len()) {
        if let Some(text) = EXAMPLE.get(..at) {
            let (_, errors) = toml::de::DeTable::parse_recoverable(text);
            let found = problems(text);
            if !errors.is_empty() {
                prop_assert!(!found.iter().any(|problem| problem.contains("is not declared")), "{:?}", found);
            }
        }
    }
}
