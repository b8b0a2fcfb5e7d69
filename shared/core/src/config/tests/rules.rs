//! Rules, keys and moves.

use super::{changed, every_case_has_its_problems};

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
