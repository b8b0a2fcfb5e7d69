use super::*;

/// The remarks about the base file after `from` was replaced by `to`.
fn remarks(from: &str, to: &str) -> Vec<String> {
    assert!(BASE.contains(from), "`{from}` is not in the base file");
    let checked = check(("endpoints.toml", &BASE.replacen(from, to, 1)), &[]);
    assert_eq!(shown(&checked.problems), [""; 0], "{from} -> {to}");
    let remarks = review(&checked.parts, &checked.mentions);
    remarks
        .iter()
        .map(|remark| {
            format!(
                "{} {}",
                remark.severity.as_str(),
                remark.problem.to_string().replace("endpoints.toml:", "")
            )
        })
        .collect()
}

fn every_case_has_its_remarks(cases: &[(&str, &str, &[&str])]) {
    for (from, to, expected) in cases {
        // What the base file itself calls for is not what is asked about.
        let found: Vec<String> =
            remarks(from, to).into_iter().filter(|remark| !remark.contains("no rule gives")).collect();
        let as_expected = found.len() == expected.len()
            && found.iter().zip(*expected).all(|(found, expected)| found.starts_with(expected));
        assert!(as_expected, "{from} -> {to}\nexpected {expected:#?}\nfound {found:#?}");
    }
}

#[test]
fn rules_that_never_fire_are_problems() {
    every_case_has_its_remarks(&[
        (
            "[resource.payment]",
            r#"[[endpoint.shop.rule]]
type = "later"
when = { "/a" = 1 }
status = "paid"
[[endpoint.shop.rule]]
type = "later"
when = { "/b" = 2, "/a" = 1 }
status = "refunded"
[resource.payment]"#,
            &["problem 14:1: this rule never fires: the one in line 10 takes all its events (the first rule"],
        ),
        (
            "[[endpoint.shop.rule]]",
            "[[endpoint.shop.guard]]\ntypes = [\"other\"]\nanswer = 200\n[[endpoint.shop.rule]]",
            &["problem 8:1: this rule never fires: the guard in line 5 lets none of its events pass"],
        ),
        (
            "[[endpoint.shop.rule]]\ntype = \"paid\"",
            "[[endpoint.shop.guard]]\nwhen = { \"/mode\" = \"live\" }\nanswer = 403\n[[endpoint.shop.rule]]\nwhen = { \"/mode\" = \"test\" }\ntype = \"paid\"",
            &["problem 8:1: this rule never fires: the guard in line 5"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"header:x-a\" = \"1\", \"header:X-A\" = \"2\" }",
            &["problem 5:1: this rule never fires: header:x-a and header:X-A cannot both be so"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/a\" = \"1\", \"/a/b\" = \"2\" }",
            &["problem 5:1: this rule never fires: /a and /a/b cannot both be so"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/type/name\" = \"1\" }",
            &["problem 5:1: this rule never fires: /type/name is never there"],
        ),
    ]);
}

#[test]
fn keys_that_cannot_be_or_that_change_are_problems_and_other_reads_are_warnings() {
    every_case_has_its_remarks(&[
        (
            "order = \"/order\"",
            "order = \"/pending_webhooks\"",
            &["problem 5:1: the key's field `order` of action `pack` is /pending_webhooks, which changes"],
        ),
        (
            "order = \"/order\"",
            "order = \"/order\", left = \"/pending_webhooks\"",
            &["warning 5:1: field `left` of action `pack` is /pending_webhooks, which changes"],
        ),
        (
            "type = \"paid\"",
            "type = \"paid\"\nwhen = { \"/pending_webhooks\" = 1 }",
            &["warning 5:1: the rule asks for /pending_webhooks, which changes"],
        ),
        (
            "order = \"/order\"",
            "order = \"/id/order\"",
            &[
                "problem 5:1: the key's field `order` of action `pack` cannot exist: nothing is ever at /id/order",
            ],
        ),
        (
            "order = \"/order\"",
            "order = \"/order\", n = \"/items/*/n\"",
            &["warning 5:1: field `n` of action `pack` is always null: /items/*/n is never there"],
        ),
        (
            "\"/data/object/id\"",
            "\"/type/id\"",
            &["problem 1:11: the key of resource `payment` cannot exist: nothing is ever at /type/id"],
        ),
    ]);
}

#[test]
fn statuses_that_no_rule_gives_and_what_nothing_uses_are_warnings() {
    assert_eq!(
        remarks("late =", "late ="),
        [
            "warning 10:11: no rule gives resource `payment` the status \"pending\" (moves begin there, so it may only name where a resource stands before its first event)",
            "warning 10:11: no rule gives resource `payment` the status \"refunded\" (write the rule that gives it, or leave it out of the moves)",
        ]
    );
    every_case_has_its_remarks(&[
        (
            "[action]",
            "[action]\nspare = { to = \"packing\" }",
            &["warning 14:1: no rule asks for the action `spare`"],
        ),
        (
            "[destination]",
            "[destination]\nspare = { http = \"https://spare.example.com\" }",
            &["warning 16:1: no action goes to the destination `spare`"],
        ),
        (
            "[resource.payment]",
            "[resource.spare]\norder = \"rank\"\nmoves = [\"a -> b\"]\n[resource.payment]",
            &["warning 10:11: no endpoint has the resource `spare`"],
        ),
    ]);
}

/// Whether the remarks about the changed base file have one with this text.
fn has(text: &str, remark: &str) -> bool {
    let checked = check(("endpoints.toml", text), &[]);
    assert!(!checked.problems.is_empty(), "{text}");
    let remarks = review(&checked.parts, &checked.mentions);
    remarks.iter().any(|found| found.problem.message.contains(remark))
}

#[test]
fn warnings_do_not_wait_for_problems_to_be_mended() {
    let spare =
        BASE.replace("[destination]", "[destination]\nspare = { http = \"https://spare.example.com\" }");
    for (from, to) in [
        ("late = \"act\"", "late = \"maybe\""),
        ("late = \"act\"", ""),
        ("vendor = \"stripe\"", "vendor = \"nobody\""),
        ("resource.payment = \"/data/object/id\"", "resource.payment = \"data\""),
        ("type = \"paid\"", "type = 5"),
        ("type = \"paid\"", "type = \"paid\"\nwhen = { \"a\" = 1 }"),
        ("action.pack = { order = \"/order\" }", "action.pack = { order = \"order\" }"),
    ] {
        let text = spare.replacen(from, to, 1);
        assert!(has(&text, "the status \"refunded\""), "{from} -> {to}");
        assert!(has(&text, "no action goes to the destination `spare`"), "{from} -> {to}");
        // What is mentioned, if only by what is malformed, is used.
        for used in ["the status \"paid\"", "no rule asks for the action `pack`", "destination `packing`"] {
            assert!(!has(&text, used), "{from} -> {to}: {used}");
        }
    }
}

#[test]
fn a_slip_in_a_name_does_not_make_what_was_meant_unused() {
    for (from, to) in [
        ("action.pack", "action.pac"),
        ("to = \"packing\"", "to = \"paking\""),
        ("status = \"paid\"", "status = \"payed\""),
        ("resource.payment =", "resource.paymant ="),
    ] {
        let text = BASE.replacen(from, to, 1);
        for unused in ["no rule asks", "no action goes", "the status \"paid\"", "no endpoint has"] {
            assert!(!has(&text, unused), "{from} -> {to}: {unused}");
        }
    }
}

#[test]
fn behind_an_error_of_syntax_nothing_is_said_to_be_unused() {
    assert!(!has(&BASE.replace("late = \"act\"", "late = "), "no rule"));
}

#[test]
fn a_rule_or_guard_that_cannot_be_read_whole_takes_nothing_from_others() {
    for (first, guard) in [
        ("type = \"later\"\nwhen = { \"amount\" = 1 }", ""),
        ("type = [\"*\", \"x*\"]", ""),
        ("type = \"later\"\nwhen = { \"/a\" = [1] }", ""),
        ("type = \"other\"", "[[endpoint.shop.guard]]\ntypes = [\"x*\"]\nanswer = 200\n"),
    ] {
        let rule = |head: &str| format!("[[endpoint.shop.rule]]\n{head}\nstatus = \"refunded\"\n");
        let rules = format!("{guard}{}{}[resource.payment]", rule(first), rule("type = \"later\""));
        let text = BASE.replacen("[resource.payment]", &rules, 1);
        let checked = check(("endpoints.toml", &text), &[]);
        let remarks = review(&checked.parts, &checked.mentions);
        let never = |message: &String| message.contains("never");
        assert_eq!(
            checked.problems.len(),
            if first.contains("x*") { 2 } else { 1 },
            "{:?}",
            checked.problems
        );
        assert!(
            !checked.problems.iter().map(|problem| &problem.message).any(never),
            "{:?}",
            checked.problems
        );
        assert!(!remarks.iter().map(|remark| &remark.problem.message).any(never), "{remarks:?}");
        assert_eq!(
            explain(&checked.parts).iter().filter(|one| one.text.contains("becomes refunded")).count(),
            if guard.is_empty() { 1 } else { 2 }
        );
    }
}

#[test]
fn the_shipped_endpoints_call_for_no_remark() {
    let file = ("infra/endpoints.toml", include_str!("../../../../../infra/endpoints.toml"));
    let checked = check(file, &[]);
    assert_eq!(review(&checked.parts, &checked.mentions), []);
}

const README: &str = include_str!("../../../../../README.md");

#[test]
fn the_example_of_the_readme_calls_for_no_remark() {
    let example = README.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(example.lines().filter(|line| !line.is_empty()).count(), 20);
    let checked = check(("README.md", example), &[]);
    assert_eq!(shown(&checked.problems), [""; 0]);
    assert_eq!(review(&checked.parts, &checked.mentions), []);
}
