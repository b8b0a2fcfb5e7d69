use super::*;

const TEMPLATE: &str = include_str!("../../../../infra/template.yaml");

pub const GOOD: &str = r#"[endpoint.shop]
vendor = "stripe"
secrets = ["env:SHOP"]
resource.payment = "/data/object/id"
[[endpoint.shop.rule]]
type = "paid"
status = "paid"
action.pack = { order = "/data/object/order", amount = "/data/object/amount" }
late = "act"
[[endpoint.shop.rule]]
type = "refunded"
status = "refunded"
[resource.payment]
order = "time"
moves = ["paid -> refunded"]
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks" }
"#;

fn with(text: &str) -> Folder {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", text);
    folder.put("infra/template.yaml", TEMPLATE);
    folder
}

fn remarks(run: &Run) -> Vec<String> {
    let json = run.json();
    let remarks = json["remarks"].as_array().unwrap();
    remarks
        .iter()
        .map(|remark| {
            let text = |name: &str| remark[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}:{}: {} ({})",
                text("severity"),
                remark["line"],
                remark["column"],
                text("message"),
                text("remedy")
            )
        })
        .filter(|remark| !remark.contains("needs the variable SHOP, which `make run` gives"))
        .collect()
}

#[test]
fn a_good_configuration_has_no_problem() {
    let run = with(GOOD).sekali(&["check"]);
    assert_eq!(run.code, 0, "{}", run.said());
    assert!(
        run.out.ends_with("infra/endpoints.toml: 1 endpoint, 2 rules: 0 problems, 0 warnings, 1 note\n"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("an endpoint that is renamed forgets"), "{}", run.out);
    let explained = with(GOOD).sekali(&["check", "--explain"]);
    assert!(explained.out.contains("an endpoint that is renamed forgets"), "{}", explained.out);
}

#[test]
fn what_works_on_one_machine_only_is_said_before_it_is_deployed() {
    let run = with(GOOD).sekali(&["check", "--json"]);
    let json = run.json();
    let note =
        "endpoint `shop` needs the variable SHOP, which `make run` gives Ingest and this template does not";
    assert!(json["remarks"].as_array().unwrap().iter().any(|remark| remark["message"] == note), "{json}");
    let kept = with(&GOOD.replace("env:SHOP", "secretsmanager:prod/shop")).sekali(&["check"]);
    assert!(kept.out.ends_with("0 problems, 0 warnings, 0 notes\n"), "{}", kept.out);

    for host in ["127.0.0.1:7001", "localhost", "[::1]:80"] {
        let folder = with(&GOOD.replace("https://packing.example.com", &format!("http://{host}")));
        for arguments in
            [&["check", "--strict"][..], &["check", "--strict", "--template", "infra/template.yaml"]]
        {
            let run = folder.sekali(arguments);
            assert_eq!(run.code, 1, "{}", run.said());
            assert!(run.out.contains("destination `packing` is on a loopback address"), "{}", run.out);
        }
    }
}

/// One thing wrong with the good configuration each, and how its remark begins.
const CASES: &[(&str, &str, &str)] = &[
    ("secrets = [", "secrets = \n[", "problem 3:"),
    ("secrets =", "secretz =", "problem 3:1: `secretz` is no key of an endpoint (did you mean `secrets`?)"),
    ("order = \"time\"", "order = \"fetch\"", "problem 4:1: resource `payment` is as its vendor's API says"),
    (
        "vendor = \"stripe\"",
        "vendor = \"stripe\"\ndedup_window = \"20d\"",
        "problem 3:16: dedup_window 20d of endpoint `shop` is too short",
    ),
    ("\"env:SHOP\"", "\"whsec_invented\"", "problem 3:12: this does not say where the secret is kept"),
    ("type = \"refunded\"", "type = \"paid\"", "problem 5:1: "),
    (
        "type = \"refunded\"",
        "type = \"paid\"",
        "problem 10:1: this rule never matches: the one in line 5 takes all its events",
    ),
    (
        "type = \"refunded\"\nstatus = \"refunded\"",
        "type = \"refunded\"\nstatus = \"paid\"",
        "warning 13:11: no rule gives resource `payment` the status \"refunded\"",
    ),
    (
        "order = \"time\"\nmoves = [",
        "order = \"rank\"\nmoves = [\"refunded -> paid\", ",
        "problem 15:1: the moves lead around in a circle",
    ),
    (
        "late = \"act\"\n",
        "",
        "problem 5:1: the rule does not say what becomes of its action when the event is late",
    ),
    (
        "amount = \"/data/object/amount\"",
        "amount = \"/pending_webhooks\"",
        "warning 5:1: field `amount` of action `pack` is /pending_webhooks, which changes",
    ),
    (
        "{ order = \"/data/object/order\"",
        "{ order = \"/pending_webhooks\"",
        "problem 5:1: the key's field `order` of action `pack` is /pending_webhooks, which changes",
    ),
    (
        "{ order = \"/data/object/order\"",
        "{ order = \"/id/order\"",
        "problem 5:1: the key's field `order` of action `pack` cannot exist",
    ),
    (
        "to = \"packing\"",
        "to = \"packin\"",
        "problem 17:32: destination \"packin\" is not declared (did you mean \"packing\"?)",
    ),
];

#[test]
fn every_problem_is_shown_with_its_place_and_its_remedy() {
    for (from, to, expected) in CASES {
        assert!(GOOD.contains(from), "{from}");
        let run = with(&GOOD.replacen(from, to, 1)).sekali(&["check", "--json"]);
        let found = remarks(&run);
        // One case is there to show that this list can fail.
        if *expected == "problem 5:1: " {
            assert!(!found.iter().any(|remark| remark.starts_with(expected)), "{found:#?}");
            continue;
        }
        assert!(found.iter().any(|remark| remark.starts_with(expected)), "{from} -> {to}: {found:#?}");
        assert_eq!(run.code, i32::from(expected.starts_with("problem")), "{from} -> {to}: {found:#?}");
    }
}

#[test]
fn every_problem_is_shown_at_once() {
    let mut text = GOOD.to_owned();
    for (from, to) in [
        ("vendor = \"stripe\"", "vendor = \"stripe\"\ndedup_window = \"20d\"\nmax_bodi = 1"),
        ("late = \"act\"\n", ""),
        ("{ order = \"/data/object/order\"", "{ order = \"/id/order\""),
        ("to = \"packing\"", "to = \"packin\""),
    ] {
        text = text.replacen(from, to, 1);
    }
    let found = remarks(&with(&text).sekali(&["check", "--json"]));
    for expected in
        ["dedup_window 20d", "`max_bodi`", "is late", "cannot exist", "\"packin\" is not declared"]
    {
        assert_eq!(
            found.iter().filter(|remark| remark.contains(expected)).count(),
            1,
            "{expected}: {found:#?}"
        );
    }
}

#[test]
fn warnings_the_sum_and_the_totals_do_not_wait_for_other_problems_to_be_mended() {
    let mut text = GOOD.to_owned();
    for (from, to) in [
        ("vendor = \"stripe\"", "vendor = \"stripe\"\ndedup_window = \"20d\""),
        ("resource.payment = \"/data/object/id\"", "resource.payment = \"data.object.id\""),
        (
            "type = \"refunded\"\nstatus = \"refunded\"",
            "type = \"refunded\"\nstatus = 5\n[[endpoint.shop.rule]]\ntype = \"x\"\nwhen = { amount = 1 }\nstatus = \"paid\"",
        ),
        (
            "moves = [\"paid -> refunded\"]",
            "moves = [\"paid -> refunded -> gone\"]\n[resource.spare]\norder = \"rank\"\nmoves = [\"a -> b\"]",
        ),
        (
            "[destination]",
            "[destination]\nspare = { http = \"http://spare.example.com\" }\nother = { http = \"https://other.example.com\", timeout = \"5 seconds\" }",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let run = with(&text).sekali(&["check", "--json"]);
    let found = remarks(&run);
    for expected in [
        "dedup_window 20d of endpoint `shop` is too short",
        "(\"/data/object/id\")",
        "no endpoint has the resource `spare`",
        "(\"/amount\")",
        "plain http is only for a loopback address (https://spare.example.com",
        "(\"5s\")",
    ] {
        assert_eq!(
            found.iter().filter(|remark| remark.contains(expected)).count(),
            1,
            "{expected}: {found:#?}"
        );
    }
    assert!(!found.iter().any(|remark| remark.contains("never")), "{found:#?}");
    assert_eq!((run.json()["endpoints"].as_u64(), run.json()["rules"].as_u64()), (Some(1), Some(3)));
}

#[test]
fn an_error_of_syntax_has_a_remedy() {
    for (from, to, remedy) in [
        ("vendor = \"stripe\"", "vendor = stripe", "text stands in quotes"),
        ("vendor = \"stripe\"", "vendor =", "text stands in quotes"),
        ("vendor = \"stripe\"", "vendor = \"stripe\"\nvendor = \"github\"", "keep one of the two"),
        ("vendor = \"stripe\"", "vendor = \"stripe", "close it"),
        ("vendor = \"stripe\"", "vendor \"stripe\"", "a line is key = value"),
    ] {
        let found = remarks(&with(&GOOD.replacen(from, to, 1)).sekali(&["check", "--json"]));
        assert!(found.iter().any(|remark| remark.contains(remedy)), "{to}: {found:#?}");
        assert!(found.iter().any(|remark| remark.contains("Mend this first")), "{to}: {found:#?}");
    }
}

#[test]
fn secrets_in_aws_are_said_not_to_be_looked_at_and_how_they_can_be() {
    let folder = with(&GOOD.replacen("\"env:SHOP\"", "\"ssm:/prod/shop\", \"secretsmanager:prod/shop\"", 1));
    let run = folder.sekali(&["check", "--secrets", "--json"]);
    let found = remarks(&run);
    for place in ["ssm:/prod/shop", "secretsmanager:prod/shop"] {
        let expected =
            format!("note 1:11: the secret {place} of endpoint `shop` was not looked at: it is kept in AWS");
        assert!(found.iter().any(|remark| remark.starts_with(&expected)), "{found:#?}");
    }
    assert!(found.iter().all(|remark| remark.contains("--secret env:VARIABLE")), "{found:#?}");
    assert_eq!(run.code, 0);
}

#[test]
fn the_sum_of_the_dedup_window_is_shown_with_the_templates_own_numbers() {
    let folder = with(&GOOD.replacen("vendor =", "dedup_window = \"20d\"\nvendor =", 1));
    let sum = |run: Run| run.json()["remarks"].to_string();
    let shipped = sum(folder.sekali(&["check", "--json"]));
    assert!(shipped.contains("queue 4d + DLQ 14d + margin 1d = 49d"), "{shipped}");
    let shorter = sum(folder.sekali(&["check", "--json", "--parameter", "DlqRetentionSeconds=86400"]));
    assert!(shorter.contains("queue 4d + DLQ 1d + margin 1d = 36d"), "{shorter}");
    folder.put("infra/template.yaml", TEMPLATE.replace("Default: 1209600", "Default: 172800"));
    let changed = sum(folder.sekali(&["check", "--json"]));
    assert!(changed.contains("DLQ 2d"), "{changed}");
}

#[test]
fn without_a_template_the_retentions_of_the_shipped_one_count_and_that_is_said() {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", GOOD);
    let run = folder.sekali(&["check"]);
    assert_eq!(run.code, 0);
    assert!(
        run.out
            .contains("warning: there is no infra/template.yaml: queues are taken to keep messages for 4d"),
        "{}",
        run.out
    );
    assert_eq!(folder.sekali(&["check", "--strict"]).code, 1);
    let short = GOOD.replacen("vendor = \"stripe\"", "vendor = \"stripe\"\ndedup_window = \"1d\"", 1);
    folder.put("infra/endpoints.toml", short);
    let run = folder.sekali(&["check"]);
    assert!(run.code == 1 && run.out.contains("queue 4d + DLQ 14d"), "{}", run.said());
}

#[test]
fn a_status_that_only_begins_is_a_warning_and_strict_refuses_it() {
    let folder = with(&GOOD.replacen("paid -> refunded", "pending -> paid -> refunded", 1));
    let run = folder.sekali(&["check", "--json"]);
    assert_eq!(run.code, 0);
    assert!(
        remarks(&run)[0]
            .starts_with("warning 13:11: no rule gives resource `payment` the status \"pending\"")
    );
    assert_eq!(folder.sekali(&["check", "--strict"]).code, 1);
}

#[test]
fn each_rule_is_explained_as_a_sentence() {
    let run = with(GOOD).sekali(&["check", "--explain"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("infra/endpoints.toml:5:1: When stripe sends `paid` to shop, the payment that /data/object/id names becomes paid"), "{}", run.out);
    assert!(
        run.out.contains("An event of shop is recognised when it comes again within 49d."),
        "{}",
        run.out
    );
}

// INV-10, and no output holds the secret.
#[test]
fn a_secret_that_is_not_there_is_said_by_its_place_and_what_follows() {
    let run = with(&GOOD.replacen("\"env:SHOP\"", "\"env:SHOP\", \"file:keys/shop\"", 1)).sekali(&[
        "check",
        "--secrets",
        "--json",
    ]);
    let found = remarks(&run).join("\n");
    for says in [
        "cannot be used: the variable SHOP is not set here (without a usable secret the endpoint answers 503)",
        "cannot be used: there is no file keys/shop (without",
    ] {
        assert!(found.contains(says), "{says}: {found}");
    }
}

/// A remedy says which part of a description is to be filled in.
#[test]
fn what_nobody_knows_of_a_vendors_repeats_is_named_with_its_place() {
    let own = "confirmed = true\n[[scheme]]\nkind = \"hmac\"\nalg = \"sha256\"\nsignature = { from = \"header:Acme\" }\nmessage = \"{body}\"\n\
               [[event]]\nid = \"/id\"\ntype = \"/type\"\n[retry]\nhorizon = \"3d\"\n";
    let folder = with(&GOOD.replace("vendor = \"stripe\"", "vendor = \"acme\""));
    folder.put("infra/vendors/acme.toml", own);
    let found = remarks(&folder.sekali(&["check", "--json"])).join("\n");
    assert!(found.contains("it is not known how long people can send an event again by hand"), "{found}");
    assert!(found.contains("say `resend` under [retry] in the description of acme"), "{found}");
}

#[test]
fn secrets_are_checked_for_their_form_and_never_shown() {
    let folder = with(GOOD);
    for (secret, expected) in [
        (
            "whsec_canary_7f3a\n",
            "problem 1:11: the secret env:SHOP of endpoint `shop` is not in the form of stripe: there is white space around it",
        ),
        (
            "\"whsec_canary_7f3a\"",
            "problem 1:11: the secret env:SHOP of endpoint `shop` is not in the form of stripe: it is in quotes",
        ),
        ("canary_7f3a", "warning 1:11: the secret env:SHOP of endpoint `shop` does not begin with `whsec_`"),
        (
            "  ",
            "problem 1:11: the secret env:SHOP of endpoint `shop` cannot be used: it cannot be used: the secret is blank",
        ),
        ("", "problem 1:11: the secret env:SHOP of endpoint `shop` cannot be used"),
    ] {
        let run = folder.sekali_with(&["check", "--secrets", "--json"], &[("SHOP", secret)]);
        let found = remarks(&run);
        assert!(found.iter().any(|remark| remark.starts_with(expected)), "{secret:?}: {found:#?}");
        assert!(!run.said().contains("canary"), "{}", run.said());
    }
    let good = folder.sekali_with(&["check", "--secrets", "--json"], &[("SHOP", "whsec_canary_7f3a")]);
    assert_eq!((good.code, remarks(&good)), (0, Vec::new()));
    let unread = folder.sekali_with(&["check", "--json"], &[("SHOP", "\"whsec_canary\"")]);
    assert_eq!(remarks(&unread), [""; 0]);
    let unset = folder.sekali(&["check", "--secrets", "--json"]);
    assert!(remarks(&unset)[0].contains("env:SHOP of endpoint `shop` cannot be used"));
}

#[test]
fn a_secret_of_standard_webhooks_with_the_version_of_signatures_is_found() {
    let text =
        GOOD.replacen("vendor = \"stripe\"", "vendor = \"standard-webhooks\"\ndedup_window = \"60d\"", 1);
    let run = with(&text).sekali_with(
        &["check", "--secrets", "--json"],
        &[("SHOP", "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
    );
    assert!(remarks(&run)[0].contains("it begins with `v1,` as signatures do"), "{}", run.out);
    assert!(!run.said().contains("MfKQ9r8G"));
}

#[test]
fn an_endpoint_that_was_renamed_is_found_with_what_keeps_its_history() {
    let folder = with(&GOOD.replace("endpoint.shop", "endpoint.store"));
    folder.put("was.toml", GOOD);
    let found = remarks(&folder.sekali(&["check", "--json", "--was", "was.toml"]));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("warning 1:11: endpoint `store` looks like `shop` under a new name"),
        "{found:#?}"
    );
    assert!(found[0].contains("dedup_scope = \"shop\" keeps its history"), "{found:#?}");
    let kept = GOOD.replace("endpoint.shop", "endpoint.store").replacen(
        "vendor =",
        "dedup_scope = \"shop\"\nvendor =",
        1,
    );
    folder.put("infra/endpoints.toml", kept);
    assert_eq!(remarks(&folder.sekali(&["check", "--json", "--was", "was.toml"])), [""; 0]);
}

#[test]
fn a_teams_own_description_is_read_from_the_folder_beside() {
    let folder = with(&GOOD.replacen("vendor = \"stripe\"", "vendor = \"acme\"\ndedup_window = \"60d\"", 1));
    assert_eq!(folder.sekali(&["check"]).code, 1);
    let stripe = std::fs::read_to_string(repository().join("shared/core/vendors/stripe.toml")).unwrap();
    folder.put("infra/vendors/acme.toml", &stripe);
    let run = folder.sekali(&["check"]);
    assert_eq!(run.code, 0, "{}", run.said());
    folder.put("infra/vendors/acme.toml", stripe.replace("kind = ", "kined = "));
    let run = folder.sekali(&["check"]);
    assert!(run.out.contains("infra/vendors/acme.toml:"), "{}", run.said());
}

#[test]
fn the_configuration_of_the_checkout_around_is_found() {
    let folder = with(GOOD);
    folder.put("infra/deep/er/x", "");
    let below = folder.0.join("infra/deep/er");
    let run = run(&below, &["check"], &[]);
    assert_eq!(run.code, 0, "{}", run.said());
}

#[test]
fn the_shipped_configuration_has_no_problem() {
    let run = run(&repository(), &["check", "--strict"], &[]);
    assert_eq!(run.code, 0, "{}", run.said());
}
