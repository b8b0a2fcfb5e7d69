//! What is printed, read as CloudWatch reads it.

use super::*;
use sekali::config::{Retentions, load};
use sekali::happened::{CallEnd, Happened};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use sekali::sweep::Swept;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const LIST: &str = include_str!("../../../../docs/metrics.md");
const NOW: UnixMillis = UnixMillis(1_800_000_000_123);

fn printed(lines: &Lines<'_>) -> Vec<Value> {
    lines.print("prod", NOW).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every (metric, dimensions with values, values) that CloudWatch takes off the lines.
fn taken(lines: &Lines<'_>) -> BTreeSet<(String, String, String)> {
    let mut all = BTreeSet::new();
    for line in printed(lines) {
        for directive in line["_aws"]["CloudWatchMetrics"].as_array().unwrap() {
            assert_eq!(directive["Namespace"], NAMESPACE);
            for metric in directive["Metrics"].as_array().unwrap() {
                let name = metric["Name"].as_str().unwrap();
                for set in directive["Dimensions"].as_array().unwrap() {
                    let names = set.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    let by: Vec<String> =
                        names.map(|name| format!("{name}={}", line[name].as_str().unwrap())).collect();
                    assert!(line[name] != Value::Null, "{line}");
                    all.insert((name.to_owned(), by.join(" "), line[name].to_string()));
                }
            }
        }
    }
    all
}

fn ended(endpoint: &str, status: EventStatus, reason: Option<Slug>) -> Happened {
    Happened::Ended { endpoint: endpoint.into(), status, reason, after: Duration::from_millis(1500) }
}

fn called(end: CallEnd, again: bool) -> Happened {
    Happened::Called { destination: "packing".into(), end, again, took: Duration::from_micros(12_345) }
}

fn one_of_each() -> Vec<Happened> {
    vec![
        ended("shop", EventStatus::Processed, None),
        ended("shop", EventStatus::Ignored, Some(Slug::NoRule)),
        ended("shop", EventStatus::Held, Some(Slug::NoOrder)),
        ended("shop", EventStatus::Failed, Some(Slug::Rejected)),
        called(CallEnd::Done, false),
        called(CallEnd::Unknown, true),
        Happened::Prevented("pack".into()),
        Happened::InDoubt("packing".into()),
    ]
}

#[test]
fn a_line_declares_each_number_that_it_holds_and_every_dimension_has_a_value() {
    let happened = [ended("shop", EventStatus::Processed, None), called(CallEnd::Done, false)];
    let lines = of_batch(&happened);
    assert_eq!(printed(&lines).len(), 1, "one record is one line");
    let line = &printed(&lines)[0];
    assert_eq!(line["_aws"]["Timestamp"], 1_800_000_000_123_i64);
    assert_eq!((&line["Stage"], &line["DestinationTime"]), (&json!("prod"), &json!(12.345)));
    let taken = taken(&lines);
    for (name, by) in [
        ("Ended", "Stage=prod"),
        ("Ended", "Stage=prod Endpoint=shop Status=processed"),
        ("TimeToProcessed", "Stage=prod Endpoint=shop"),
        ("Attempts", "Stage=prod Destination=packing"),
    ] {
        assert!(
            taken.iter().any(|(known, under, _)| (known.as_str(), under.as_str()) == (name, by)),
            "{taken:?}"
        );
    }
}

#[test]
fn what_happened_under_other_values_stands_in_another_line_and_adds_up_under_the_stage() {
    let happened = [
        ended("shop", EventStatus::Processed, None),
        ended("jobs", EventStatus::Processed, None),
        ended("shop", EventStatus::Processed, None),
        ended("shop", EventStatus::Failed, None),
    ];
    let lines = of_batch(&happened);
    let of = |by: &str| -> Vec<String> {
        let all = printed(&lines);
        let alike = all.iter().filter(|line| {
            by.split(' ').all(|part| {
                let (name, value) = part.split_once('=').unwrap();
                line[name] == value
            })
        });
        alike.map(|line| line["Ended"].to_string()).collect()
    };
    assert_eq!(of("Endpoint=shop Status=processed"), ["2"]);
    assert_eq!(of("Endpoint=jobs Status=processed"), ["1"]);
    assert_eq!(of("Endpoint=shop Status=failed"), ["1"]);
    assert_eq!(of("Stage=prod").iter().map(|sum| sum.parse::<u64>().unwrap()).sum::<u64>(), 4);
}

#[test]
fn no_line_has_more_values_of_a_metric_than_cloudwatch_takes() {
    let happened: Vec<_> = (0..250).map(|_| called(CallEnd::Done, false)).collect();
    let lens: Vec<usize> = printed(&of_batch(&happened))
        .iter()
        .map(|line| line["DestinationTime"].as_array().map_or(1, Vec::len))
        .collect();
    assert_eq!(lens, [100, 100, 50]);
}

#[test]
fn a_sweep_that_found_nothing_says_so_and_leaves_out_what_nobody_waits_for() {
    let mut swept = Swept::default();
    let names = |swept: &Swept| -> BTreeSet<String> {
        taken(&of_sweep(swept)).into_iter().map(|(name, ..)| name).collect()
    };
    assert_eq!(names(&swept), ["OldestOpen", "Sweeps", "SweptSent"].map(str::to_owned).into());
    for (_, many) in &mut swept.needs_human {
        *many = Some(0);
    }
    let taken = taken(&of_sweep(&swept));
    for status in ["failed", "held", "in_doubt"] {
        let waited_for = ("NeedsHuman".to_owned(), format!("Stage=prod Status={status}"), "0".to_owned());
        assert!(taken.contains(&waited_for), "{taken:?}");
    }
}

/// The table of the document: name, unit, sets of dimensions.
fn listed() -> Vec<(String, String, Vec<String>)> {
    let rows = LIST.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let sets = cells[3].split(';').map(|set| set.trim().trim_matches('`').to_owned());
        let sets = sets.filter(|set| !set.is_empty()).collect();
        (cells[1].trim_matches('`').to_owned(), cells[2].to_owned(), sets)
    })
    .collect()
}

#[test]
fn the_document_lists_every_metric_with_its_unit_and_dimensions_and_no_other() {
    let coded: Vec<_> = Metric::ALL
        .iter()
        .map(|metric| {
            let sets = metric
                .sets()
                .iter()
                .map(|set| set.iter().map(|dimension| dimension.as_str()).collect::<Vec<_>>().join(", "));
            (metric.name().to_owned(), metric.unit().as_str().to_owned(), sets.collect())
        })
        .collect();
    assert_eq!(listed(), coded);
}

/// What one kind of work or another prints, all together.
#[test]
fn every_metric_of_the_list_is_printed_by_something() {
    let happened = one_of_each();
    let swept = Swept {
        moved: 1,
        left: 1,
        needs_human: [
            (EventStatus::Failed, Some(1)),
            (EventStatus::Held, Some(2)),
            (EventStatus::InDoubt, Some(3)),
        ],
        ..Swept::default()
    };
    let mut names: BTreeSet<String> =
        taken(&of_batch(&happened)).into_iter().map(|(name, ..)| name).collect();
    names.extend(taken(&of_sweep(&swept)).into_iter().map(|(name, ..)| name));
    names.extend(deliveries::names());
    let all: BTreeSet<String> = Metric::ALL.iter().map(|metric| metric.name().to_owned()).collect();
    assert_eq!(names, all);
}

mod deliveries {
    //! Deliveries as ingest tells of them.

    use super::*;
    use sekali::deployment::Deployment;
    use sekali::ingest::tally::{Signature, Tally, TypeOf};
    use sekali::secret::{SecretPlace, Stage};

    const SHOP: &str = r#"
[endpoint.shop]
vendor = "standard-webhooks"
secrets = ["env:SHOP"]
dedup_window = "60d"
resource.payment = "/data/customer"
[[endpoint.shop.rule]]
type = "payment.paid"
status = "paid"

[resource.payment]
order = "rank"
moves = ["pending -> paid"]
"#;

    fn deployment() -> Deployment {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        let config = load(("endpoints.toml", SHOP), &[]).unwrap();
        let retentions = Retentions { queue: days(4), dlq: days(14) };
        Deployment { config, retentions, visibility: Duration::from_secs(360) }
    }

    fn tally(deployment: &Deployment) -> Tally<'_> {
        let endpoint = &deployment.config.endpoints["shop"];
        let mut tally = Tally::beginning(sekali::time::Monotonic(Duration::ZERO));
        let sekali::config::Types::These(types) = &endpoint.rules[0].types else { panic!("one type") };
        tally.endpoint = Some(endpoint);
        tally.answer = 202;
        tally.new = 1;
        tally.event_type = Some(TypeOf::Declared(&types[0]));
        tally.signature = Some(Signature::Matched(Some(SecretPlace { position: 0, stage: Stage::Current })));
        tally.verified_after = Some(Duration::from_micros(250));
        tally.answered_after = Duration::from_micros(7_125);
        tally
    }

    pub fn names() -> BTreeSet<String> {
        let deployment = deployment();
        let mut full = tally(&deployment);
        (full.duplicates, full.conflicts, full.filtered, full.deferred) = (1, 1, 1, 1);
        (full.handshake, full.secret_unusable) = (true, true);
        full.held.insert(Slug::NoOrder, 1);
        let mut names = BTreeSet::new();
        let old = Signature::Matched(Some(SecretPlace { position: 1, stage: Stage::Previous }));
        for (answer, signature) in
            [(202, old), (401, Signature::Refused("mismatch")), (503, old), (503, Signature::Offline)]
        {
            (full.answer, full.signature) = (answer, Some(signature));
            names.extend(taken(&of_delivery(&full)).into_iter().map(|(name, ..)| name));
        }
        names
    }

    #[test]
    fn an_ordinary_delivery_is_one_line_below_the_budget() {
        let deployment = deployment();
        let tally = tally(&deployment);
        let lines = of_delivery(&tally);
        let text = lines.print("prod", NOW);
        assert_eq!(text.lines().count(), 1);
        // Log volume can cost more than all the rest: `docs/metrics.md` states it.
        assert!(text.len() <= 1000, "{} bytes: {text}", text.len());
        let taken = taken(&lines);
        for by in [
            "Stage=prod",
            "Stage=prod Endpoint=shop Vendor=standard-webhooks Answer=202",
            "Stage=prod Endpoint=shop Type=payment.paid",
        ] {
            assert!(taken.contains(&("Deliveries".to_owned(), by.to_owned(), "1".to_owned())), "{taken:?}");
        }
        let acked = ("AckTime".to_owned(), "Stage=prod Endpoint=shop".to_owned(), "7.125".to_owned());
        assert!(taken.contains(&acked), "{taken:?}");
        assert!(!text.contains("SignatureFailures") && !text.contains("OldSecretMatched"), "{text}");
    }

    #[test]
    fn what_is_no_endpoint_s_is_counted_as_unknown_and_by_nobody_s_word() {
        let mut tally = Tally::beginning(sekali::time::Monotonic(Duration::ZERO));
        tally.answer = 404;
        let taken = taken(&of_delivery(&tally));
        let by = "Stage=prod Endpoint=unknown Vendor=unknown Answer=404".to_owned();
        assert!(taken.contains(&("Deliveries".to_owned(), by, "1".to_owned())), "{taken:?}");
    }

    /// Whoever mends an endpoint's secret by a deployment must not have it taken
    /// back because the endpoint was offline meanwhile.
    #[test]
    fn what_an_offline_endpoint_answers_is_not_counted_as_unavailable() {
        let deployment = deployment();
        let mut tally = tally(&deployment);
        let old = tally.signature;
        let told = [(202, old), (401, None), (503, old), (503, None), (503, Some(Signature::Offline))].map(
            |(answer, signature)| {
                (tally.answer, tally.signature) = (answer, signature);
                taken(&of_delivery(&tally)).iter().any(|(name, ..)| name == "Unavailable")
            },
        );
        assert_eq!(told, [false, false, true, true, false]);
    }

    #[test]
    fn an_older_secret_is_told_from_the_newest() {
        let deployment = deployment();
        let mut tally = tally(&deployment);
        for (position, stage, secret, old) in [
            (0, Stage::Current, "1", false),
            (0, Stage::Previous, "1-previous", true),
            (1, Stage::Current, "2", true),
        ] {
            tally.signature = Some(Signature::Matched(Some(SecretPlace { position, stage })));
            let taken = taken(&of_delivery(&tally));
            let by = format!("Stage=prod Endpoint=shop Secret={secret}");
            assert!(taken.contains(&("SecretMatched".to_owned(), by, "1".to_owned())), "{taken:?}");
            assert_eq!(taken.iter().any(|(name, ..)| name == "OldSecretMatched"), old);
        }
    }
}
