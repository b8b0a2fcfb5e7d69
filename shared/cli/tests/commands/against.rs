use super::check::GOOD;
use super::*;

fn with(text: &str) -> Folder {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", text);
    folder.put("paid.json", r#"{"id":"evt_1","type":"paid","created":1750000000,"data":{"object":{"id":"pi_1","order":"o-7","amount":10.50}}}"#);
    folder
}

#[test]
fn a_payload_shows_which_rule_it_fires_with_which_keys() {
    let run = with(GOOD).sekali(&["check", "--against", "paid.json"]);
    assert_eq!(run.code, 0, "{}", run.said());
    for line in [
        "event evt_1 of type paid",
        "  fires the rule in infra/endpoints.toml:5:1",
        "  the payment pi_1 becomes paid, in the order time:1750000000000",
        "  packing is asked to pack",
        "    key action|4:pack|-|6:fields|3:o-7",
        "    amount = 10.50",
    ] {
        assert!(run.out.lines().any(|own| own == line), "{line}: {}", run.out);
    }
    let json = with(GOOD).sekali(&["check", "--against", "paid.json", "--json"]).json();
    let event = &json["events"][0];
    assert_eq!(event["action"]["key"], "action|4:pack|-|6:fields|3:o-7");
    assert_eq!(event["resource"]["key"], "resource|7:payment|-|4:pi_1");
    assert_eq!(event["rule"], "infra/endpoints.toml:5:1");
}

#[test]
fn what_no_rule_takes_what_is_held_and_what_a_guard_stops_is_said() {
    let folder = with(GOOD);
    let other = folder.sekali(&["check", "--against", "paid.json", "--type", "other"]);
    assert!(other.out.contains("no rule takes it: it would be ignored"), "{}", other.out);
    folder.put(
        "held.json",
        r#"{"id":"evt_1","type":"paid","created":1,"data":{"object":{"id":"pi_1","order":null}}}"#,
    );
    let held = folder.sekali(&["check", "--against", "held.json"]);
    assert!(
        held.out.contains(
            "it would be held: missing_key_part, key field order of action pack: /data/object/order is null"
        ),
        "{}",
        held.out
    );
    let guard =
        "[[endpoint.shop.guard]]\ntypes = [\"paid\", \"refunded\"]\nanswer = 403\n[[endpoint.shop.rule]]";
    let guarded = with(&GOOD.replacen("[[endpoint.shop.rule]]", guard, 1));
    let stopped = guarded.sekali(&["check", "--against", "paid.json", "--type", "other"]);
    assert!(stopped.out.contains("the guard in infra/endpoints.toml:5:1 stops it: 403"), "{}", stopped.out);
}

const HUB: &str = r#"[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[[endpoint.hub.rule]]
type = "push"
when = { "/ref" = "refs/heads/main" }
action.build = { commit = "/after" }
[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
[action]
build = { to = "builds" }
[destination]
builds = { http = "https://builds.example.com" }
"#;

#[test]
fn headers_of_a_payload_are_given_beside_it_or_with_it() {
    let folder = with(HUB);
    folder.put("push.json", r#"{"ref":"refs/heads/main","after":"2a7d"}"#);
    let told = folder.sekali(&["check", "--against", "push.json"]);
    assert_eq!(told.code, 2);
    assert!(told.error.contains("--endpoint NAME: hub, shop"), "{}", told.error);
    let hub = ["check", "--against", "push.json", "--endpoint", "hub"];
    let bare = folder.sekali(&hub);
    assert!(bare.out.contains("give it with --type, or the header"), "{}", bare.out);
    assert!(
        bare.out.contains("its id is in the header X-GitHub-Delivery: --header 'X-GitHub-Delivery: ..'"),
        "{}",
        bare.out
    );
    let typed = folder.sekali(&[&hub[..], &["--type", "push"]].concat());
    assert!(typed.out.contains("event of an unknown id, of type push"), "{}", typed.out);
    assert!(typed.out.contains("key unknown: it is made of the event's id"), "{}", typed.out);
    folder.put("headers.txt", "X-GitHub-Event: push\nX-GitHub-Delivery: 72d3\n");
    let header = |name: &str| ["--header", name].map(str::to_owned);
    let [event, delivery] = [header("X-GitHub-Event: push"), header("X-GitHub-Delivery: 72d3")];
    let by_line: Vec<&str> =
        hub.into_iter().chain(event.iter().chain(&delivery).map(String::as_str)).collect();
    for arguments in [
        by_line,
        // As the help says it: the type is known where the id is not.
        hub.into_iter().chain(event.iter().map(String::as_str)).collect(),
        hub.into_iter().chain(["--headers", "headers.txt"]).collect(),
        hub.into_iter().chain(["--type", "push"]).collect(),
    ] {
        let run = folder.sekali(&arguments);
        assert!(
            run.out.contains("fires the rule in infra/endpoints.toml:4:1"),
            "{arguments:?}: {}",
            run.said()
        );
        assert!(run.out.contains("commit = \"2a7d\""), "{}", run.out);
    }
    folder.put("push.http", "POST / HTTP/1.1\nX-GitHub-Event: push\nX-GitHub-Delivery: 72d3\n\n{\"ref\":\"refs/heads/main\",\"after\":\"2a7d\"}");
    let run = folder.sekali(&["check", "--against", "push.http", "--endpoint", "hub"]);
    assert!(
        run.out.contains("event 72d3 of type push") && run.out.contains("fires the rule"),
        "{}",
        run.said()
    );
}

#[test]
fn a_payload_against_a_configuration_with_problems_is_not_judged() {
    let folder = with(&GOOD.replacen("late = \"act\"\n", "", 1));
    let run = folder.sekali(&["check", "--against", "paid.json"]);
    assert_eq!(run.code, 2);
    assert!(run.error.contains("infra/endpoints.toml:5:1: the rule does not say"), "{}", run.error);
}
