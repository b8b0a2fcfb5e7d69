//! Alarms, dashboard and saved queries.

use super::super::metrics::{self, Listed as Metrics};
use super::super::template::{Template, objects};
use super::{Listed, Verdict, expect};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What must not go unnoticed.
const ALARMS: [&str; 18] = [
    "backlog",
    "conflicts",
    "dead-letters",
    "endpoint-offline",
    "enqueue-deferred",
    "failed",
    "held",
    "in-doubt",
    "ingest-errors",
    "old-secret",
    "oldest-open",
    "processor-errors",
    "secret-unusable",
    "signature-failures",
    "slow-ack",
    "sweeper-not-running",
    "throttles",
    "unavailable",
];

const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");

pub const ASSERTIONS: &[Listed] = &[
    ("there is an alarm for everything that must not go unnoticed", alarms_are_complete),
    ("every alarm leads to its section of the runbook", alarms_lead_to_the_runbook),
    ("every alarm goes to the topic, and says when it is over", alarms_notify),
    ("silence is alarming where something must be heard, and nowhere else", silence_is_understood),
    ("alarms watch metrics that exist, by their dimensions", alarms_watch_what_exists),
    ("the dashboard shows every alarm and metrics that exist", the_dashboard_is_right),
    ("saved queries ask the groups that there are", queries_ask_the_groups),
];

/// An alarm's name behind the stage.
fn name(alarm: &Value) -> &str {
    let name = alarm["Properties"]["AlarmName"]["Fn::Sub"].as_str().unwrap_or_default();
    name.strip_prefix("sekali-${Stage}-").unwrap_or_default()
}

fn alarms_are_complete(template: &Template) -> Verdict {
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    let names: BTreeSet<_> = alarms.iter().map(|(_, alarm)| name(alarm)).collect();
    expect(names == ALARMS.into() && alarms.len() == ALARMS.len(), format!("{names:?}"))
}

fn alarms_lead_to_the_runbook(template: &Template) -> Verdict {
    let sections: Vec<_> = RUNBOOK.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for (resource, alarm) in template.of_type("AWS::CloudWatch::Alarm") {
        let name = name(alarm);
        let description = alarm["Properties"]["AlarmDescription"]["Fn::Sub"].as_str().unwrap_or_default();
        let leads = description.ends_with(&format!(" ${{RunbookUrl}}#{name}"));
        expect(leads, format!("{resource}: {description}"))?;
        expect(sections.contains(&name), format!("docs/runbook.md has no section {name}"))?;
    }
    Ok(())
}

fn alarms_notify(template: &Template) -> Verdict {
    for (resource, alarm) in template.of_type("AWS::CloudWatch::Alarm") {
        for property in ["AlarmActions", "OKActions"] {
            let asked = &alarm["Properties"][property];
            let expected =
                json!([{ "Fn::If": ["Notifies", { "Ref": "AlarmTopicArn" }, { "Ref": "AWS::NoValue" }] }]);
            expect(*asked == expected, format!("{resource}: {property} {asked}"))?;
        }
    }
    Ok(())
}

fn silence_is_understood(template: &Template) -> Verdict {
    for (resource, alarm) in template.of_type("AWS::CloudWatch::Alarm") {
        let silence = match name(alarm) {
            "sweeper-not-running" => "breaching",
            _ => "notBreaching",
        };
        let stated = &alarm["Properties"]["TreatMissingData"];
        expect(stated == silence, format!("{resource}: {stated}"))?;
    }
    Ok(())
}

fn watched(alarm: &Value) -> Vec<&Map<String, Value>> {
    objects(&alarm["Properties"]).into_iter().filter(|object| object.contains_key("MetricName")).collect()
}

fn dimensions(metric: &Map<String, Value>) -> Vec<String> {
    let all = metric.get("Dimensions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|dimension| dimension["Name"].as_str()).map(str::to_owned).collect()
}

fn alarms_watch_what_exists(template: &Template) -> Verdict {
    let listed = Metrics::of_the_code();
    for (resource, alarm) in template.of_type("AWS::CloudWatch::Alarm") {
        let metrics = watched(alarm);
        expect(!metrics.is_empty(), format!("{resource} watches nothing"))?;
        for metric in metrics {
            let name = metric["MetricName"].as_str().unwrap_or_default();
            match metric["Namespace"].as_str() {
                Some(metrics::NAMESPACE) => listed.has(name, &dimensions(metric))?,
                Some("AWS/SQS" | "AWS/Lambda" | "AWS/ApiGateway" | "AWS/DynamoDB") => {}
                other => return Err(format!("{resource}: {other:?}")),
            }
        }
        let stage = objects(&alarm["Properties"])
            .iter()
            .filter(|object| object.get("Name") == Some(&json!("Stage")))
            .all(|object| object["Value"] == json!({ "Ref": "Stage" }));
        expect(stage, format!("{resource} watches another stage"))?;
    }
    Ok(())
}

fn the_dashboard_is_right(template: &Template) -> Verdict {
    let body = template.filled(&template.properties("Dashboard")["DashboardBody"]);
    let body: Value = serde_json::from_str(&body).map_err(|error| format!("no JSON: {error}"))?;
    let widgets = body["widgets"].as_array().ok_or("no widgets")?;
    let shown: BTreeSet<_> = widgets[0]["properties"]["alarms"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|arn| arn.as_str()?.split_once(":alarm:sekali-dev-").map(|(_, name)| name))
        .collect();
    expect(shown == ALARMS.into(), format!("the first row shows {shown:?}"))?;
    let listed = Metrics::of_the_code();
    for widget in &widgets[1..] {
        let title = &widget["properties"]["title"];
        for metric in widget["properties"]["metrics"].as_array().into_iter().flatten() {
            metrics::exists(&listed, metric).map_err(|problem| format!("{title}: {problem}"))?;
        }
        let right = widget["x"].as_u64().unwrap_or(99) + widget["width"].as_u64().unwrap_or(99);
        expect(right <= 24, format!("{title} stands beside the page"))?;
    }
    Ok(())
}

fn queries_ask_the_groups(template: &Template) -> Verdict {
    let queries = template.of_type("AWS::Logs::QueryDefinition");
    expect(queries.len() >= 5, format!("{} queries", queries.len()))?;
    for (resource, query) in queries {
        let groups = query["Properties"]["LogGroupNames"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known = |group: &Value| {
            group["Ref"].as_str().is_some_and(|name| template.section("Resources").contains_key(name))
        };
        expect(!groups.is_empty() && groups.iter().all(known), format!("{resource}: {groups:?}"))?;
        let asked = query["Properties"]["QueryString"].as_str().unwrap_or_default();
        expect(asked.contains("| "), format!("{resource} asks nothing"))?;
    }
    Ok(())
}
