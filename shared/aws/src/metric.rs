//! Metrics in CloudWatch's embedded metric format: a line on standard output
//! for each invocation, and no call. `docs/metrics.md` lists the names.

use sekali::sweep::Swept;
use sekali::time::UnixMillis;
use serde_json::{Value, json};
use std::io::Write;

const NAMESPACE: &str = "Sekali";

/// What one number is.
type Metric = (&'static str, &'static str, u64);

/// Prints what a sweep did. A line that standard output does not take is lost:
/// a metric is no reason to fail what it counts.
pub fn print_sweep(stage: &str, swept: &Swept, now: UnixMillis) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{}", line(stage, &of_sweep(swept), now)));
}

/// `SweptMoved` and `SweptLeft` are left out where they are nought; an alarm or
/// a reader waits for the others.
fn of_sweep(swept: &Swept) -> Vec<Metric> {
    let mut metrics = vec![
        ("Sweeps", "Count", 1),
        ("SweptSent", "Count", swept.sent),
        ("OldestOpen", "Seconds", swept.oldest.as_secs()),
    ];
    let counted = [("SweptMoved", "Count", swept.moved), ("SweptLeft", "Count", swept.left)];
    metrics.extend(counted.into_iter().filter(|(.., value)| *value > 0));
    metrics
}

fn line(stage: &str, metrics: &[Metric], now: UnixMillis) -> Value {
    let declared: Vec<Value> =
        metrics.iter().map(|(name, unit, _)| json!({ "Name": name, "Unit": unit })).collect();
    let directive = json!({ "Namespace": NAMESPACE, "Dimensions": [["Stage"]], "Metrics": declared });
    let mut line = json!({
        "_aws": { "Timestamp": now.0, "CloudWatchMetrics": [directive] },
        "Stage": stage,
    });
    for (name, _, value) in metrics {
        line[*name] = json!(value);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const LIST: &str = include_str!("../../../docs/metrics.md");

    fn swept() -> Swept {
        Swept { sent: 2, moved: 1, left: 3, oldest: Duration::from_secs(90), ..Swept::default() }
    }

    #[test]
    fn a_line_declares_each_number_that_it_holds() {
        let line = line("prod", &of_sweep(&swept()), UnixMillis(1_800_000_000_123));
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(line["_aws"]["Timestamp"], 1_800_000_000_123_i64);
        assert_eq!((&directive["Namespace"], &line["Stage"]), (&json!("Sekali"), &json!("prod")));
        let declared = directive["Metrics"].as_array().unwrap();
        let values: Vec<&Value> =
            declared.iter().map(|metric| &line[metric["Name"].as_str().unwrap()]).collect();
        assert_eq!(values, [&json!(1), &json!(2), &json!(90), &json!(1), &json!(3)]);
    }

    #[test]
    fn a_sweep_that_found_nothing_says_so_and_leaves_out_what_nobody_waits_for() {
        let names: Vec<&str> = of_sweep(&Swept::default()).iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, ["Sweeps", "SweptSent", "OldestOpen"]);
    }

    #[test]
    fn every_metric_is_listed_with_its_unit_and_as_printed() {
        for (name, unit, _) in of_sweep(&swept()) {
            assert!(LIST.contains(&format!("| `{name}` | {unit} | |")), "{name}");
            let (_, printed) = LIST.split_once("Printed so far").unwrap();
            assert!(printed.contains(&format!("`{name}`")), "{name}");
        }
    }
}
