use super::*;

#[test]
fn a_mix_is_reckoned_by_service_beside_the_floor() {
    let run = Folder::new().sekali(&["cost"]);
    assert_eq!(run.code, 0, "{}", run.said());
    for service in ["API Gateway", "Lambda", "DynamoDB", "SQS", "CloudWatch Logs", "together"] {
        assert!(run.out.lines().any(|line| line.starts_with(service)), "{service}: {}", run.out);
    }
    assert!(run.out.contains("prices of 2026-"), "{}", run.out);
    assert!(run.out.contains("write units: with an effect 13 (11 without a resource)"), "{}", run.out);
}

#[test]
fn what_it_costs_to_watch_is_a_line_of_its_own_and_grows_with_the_endpoints() {
    let of = |endpoints: &str| Folder::new().sekali(&["cost", "--json", "--endpoints", endpoints]).json();
    let (one, three) = (of("1"), of("3"));
    let dollars = |json: &Value, what: &str| json["watching_dollars_per_month"][what].as_f64().unwrap();
    assert!((dollars(&three, "metrics_at_most") - 3.0 * dollars(&one, "metrics_at_most")).abs() < 1e-9);
    for what in ["metrics_always", "alarms", "dashboard"] {
        assert!(dollars(&one, what) > 1.0 && dollars(&one, what) == dollars(&three, what), "{what}");
    }
    let said = Folder::new().sekali(&["cost", "--endpoints", "3"]).out;
    for line in ["polling, sweeper", "metrics, always", "metrics, at most", "alarms", "dashboard"] {
        assert!(said.lines().any(|said| said.starts_with(line)), "{line}: {said}");
    }
}

#[test]
fn the_readme_shows_what_the_command_says() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let out = Folder::new().sekali(&["cost"]).out;
    assert!(
        readme.contains(&format!("<!-- cost:begin -->\n```\n{out}```\n<!-- cost:end -->")),
        "it says:\n{out}"
    );
}

#[test]
fn the_parts_are_the_whole_and_the_floor_is_below_it() {
    let json = Folder::new().sekali(&["cost", "--json", "--duplicates", "20%", "--body", "8KiB"]).json();
    let of = |bill: &str, service: &str, what: &str| json[bill][service][what].as_f64().unwrap();
    let services = ["api_gateway", "lambda", "dynamodb", "sqs", "cloudwatch_logs"];
    for bill in ["dollars", "floor"] {
        let sum = |what: &str| services.iter().map(|service| of(bill, service, what)).sum::<f64>();
        assert!((sum("dollars") - of(bill, "together", "dollars")).abs() < 1e-9);
        assert!((sum("share") - 1.0).abs() < 1e-9);
    }
    assert!(of("floor", "together", "dollars") < of("dollars", "together", "dollars"));
    assert_eq!(json["counted"]["repeated"]["write_units"], 11);
}

#[test]
fn other_prices_come_from_a_file() {
    let folder = Folder::new();
    let built_in = std::fs::read_to_string(repository().join("shared/cli/src/cost/prices.toml")).unwrap();
    folder.put("mine.toml", built_in.replace("million_write_units = 0.625", "million_write_units = 1.25"));
    let dynamodb = |arguments: &[&str]| {
        folder.sekali(arguments).json()["dollars"]["dynamodb"]["dollars"].as_f64().unwrap()
    };
    assert!(dynamodb(&["cost", "--json", "--prices", "mine.toml"]) > 1.5 * dynamodb(&["cost", "--json"]));
}

#[test]
fn what_cannot_be_reckoned_is_said() {
    let folder = Folder::new();
    folder.put("broken.toml", "date = 1\n");
    for (arguments, says) in [
        (&["cost", "--effects", "70", "--statuses", "40"][..], "more than all events"),
        (&["cost", "--duplicates", "120"], "from 0 to 100"),
        (&["cost", "--body", "2KB"], "one of B, KiB, MiB"),
        (&["cost", "--prices", "broken.toml"], "broken.toml is no list of prices"),
        (&["cost", "--prices", "none.toml"], "cannot read none.toml"),
    ] {
        let run = folder.sekali(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.said());
        assert!(run.error.contains(says), "{arguments:?}: {}", run.error);
    }
}
