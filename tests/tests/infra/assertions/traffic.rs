//! The API, the functions and what sets them going.

use super::super::template::Template;
use super::{Listed, Verdict, expect};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub const ASSERTIONS: &[Listed] = &[
    ("the API has the two routes of endpoints and no other", routes_are_explicit),
    ("the API calls the alias of ingest, and only its routes may", the_api_calls_the_alias),
    ("the API answers before it gives up on ingest", the_api_waits_for_ingest),
    ("the access log has neither headers nor query", the_access_log_tells_no_secret),
    ("the API is throttled", the_api_is_throttled),
    ("functions run on Lambda's own base, on arm64 unless said otherwise", functions_are_arm64),
    ("functions write JSON into groups that forget", functions_log),
    ("functions are traced", functions_are_traced),
    ("callers use an alias that every change moves", functions_have_an_alias),
    ("ingest and processor change gradually and go back at an alarm", functions_change_gradually),
    ("no function has reserved concurrency", no_reserved_concurrency),
    ("the queue hands out batches of which single messages may fail", the_event_source_is_right),
    ("the sweeper runs every minute and is not repeated", the_sweeper_is_scheduled),
    ("a domain of one's own can ask for certificates", the_domain_is_optional),
];

fn routes_are_explicit(template: &Template) -> Verdict {
    let routes: BTreeSet<_> = template
        .of_type("AWS::ApiGatewayV2::Route")
        .into_iter()
        .map(|(_, route)| {
            (route["Properties"]["RouteKey"].as_str(), route["Properties"]["Target"]["Fn::Sub"].as_str())
        })
        .collect();
    let target = Some("integrations/${IngestIntegration}");
    let expected =
        [(Some("ANY /webhooks/{endpoint}"), target), (Some("ANY /webhooks/{endpoint}/{tenant}"), target)];
    expect(routes == expected.into(), format!("{routes:?}"))?;
    expect(template.of_type("AWS::Serverless::HttpApi").is_empty(), "SAM's HttpApi hides its routes")
}

fn the_api_calls_the_alias(template: &Template) -> Verdict {
    let alias = json!({ "Ref": "Ingest.Alias" });
    expect(template.properties("IngestIntegration")["IntegrationUri"] == alias, "not the alias")?;
    let permission = template.properties("IngestPermission");
    let source = permission["SourceArn"]["Fn::Sub"].as_str().unwrap_or_default();
    expect(
        permission["FunctionName"] == alias && source.ends_with(":${Api}/*/*/webhooks/*"),
        "the permission is on something else",
    )?;
    expect(template.properties("IngestIntegration")["PayloadFormatVersion"] == "2.0", "another event format")
}

fn the_api_waits_for_ingest(template: &Template) -> Verdict {
    let waits = template.number(&template.properties("IngestIntegration")["TimeoutInMillis"])?;
    let works = 1000 * template.number(template.of_function("Ingest", "Timeout"))?;
    expect(works < waits && waits <= 30_000, format!("{waits} ms against {works} ms"))
}

fn the_access_log_tells_no_secret(template: &Template) -> Verdict {
    let settings = &template.properties("ApiStage")["AccessLogSettings"];
    let format = settings["Format"].as_str().unwrap_or_default();
    let fields: Value = serde_json::from_str(format).map_err(|error| error.to_string())?;
    let fields = fields.as_object().ok_or("no object")?;
    let secret = |value: &str| {
        ["header", "query", "domainName", "userAgent", "body", "authorizer"]
            .iter()
            .any(|word| value.contains(word))
    };
    let telling: Vec<_> = fields.values().filter_map(Value::as_str).filter(|value| secret(value)).collect();
    expect(fields.len() >= 6 && telling.is_empty(), format!("{telling:?} of {} fields", fields.len()))?;
    expect(settings["DestinationArn"].to_string().contains("${ApiLogs}"), "written elsewhere")
}

fn the_api_is_throttled(template: &Template) -> Verdict {
    let settings = &template.properties("ApiStage")["DefaultRouteSettings"];
    let rate = template.number(&settings["ThrottlingRateLimit"])?;
    let burst = template.number(&settings["ThrottlingBurstLimit"])?;
    expect(rate > 0 && burst >= rate, format!("{rate} a second, {burst} at once"))
}

fn each(template: &Template, holds: impl Fn(&str) -> bool, otherwise: &str) -> Verdict {
    expect(template.of_type("AWS::Serverless::Function").len() == 3, "three functions")?;
    let mut functions = template.functions().into_iter();
    functions.try_for_each(|(_, function)| expect(holds(function), format!("{function} {otherwise}")))
}

fn functions_are_arm64(template: &Template) -> Verdict {
    let right = |function: &str| {
        template.of_function(function, "Runtime") == "provided.al2023"
            && *template.of_function(function, "Architectures") == json!([{ "Ref": "Architecture" }])
            && template.number(template.of_function(function, "MemorySize")).is_ok_and(|memory| memory >= 128)
            && template.number(template.of_function(function, "Timeout")).is_ok()
    };
    each(template, right, "runs on something else")?;
    expect(template.section("Parameters")["Architecture"]["Default"] == "arm64", "not arm64")
}

/// Lambda itself filters by level and would drop our debug lines, and metrics,
/// which have none.
fn functions_log(template: &Template) -> Verdict {
    let groups = template.of_type("AWS::Logs::LogGroup");
    expect(groups.len() == 4, format!("{} groups", groups.len()))?;
    for (name, group) in groups {
        let days = template.number(&group["Properties"]["RetentionInDays"]);
        expect(days.is_ok(), format!("{name} keeps lines for ever"))?;
    }
    let logs = |function: &str| {
        let settings = template.of_function(function, "LoggingConfig");
        settings["LogFormat"] == "JSON"
            && settings["ApplicationLogLevel"] == "TRACE"
            && settings["LogGroup"] == json!({ "Ref": format!("{function}Logs") })
    };
    each(template, logs, "does not")
}

fn functions_are_traced(template: &Template) -> Verdict {
    let traced = |function: &str| *template.of_function(function, "Tracing") == json!({ "Ref": "Tracing" });
    each(template, traced, "is not")?;
    expect(template.section("Parameters")["Tracing"]["Default"] == "Active", "not unless asked for")
}

fn functions_have_an_alias(template: &Template) -> Verdict {
    let has = |function: &str| {
        template.of_function(function, "AutoPublishAlias") == "live"
            && *template.of_function(function, "AutoPublishAliasAllProperties") == true
    };
    each(template, has, "has none")
}

fn functions_change_gradually(template: &Template) -> Verdict {
    let alarms: [(&str, &[&str]); 2] =
        [("Ingest", &["IngestErrorsAlarm", "UnavailableAlarm"]), ("Processor", &["ProcessorErrorsAlarm"])];
    for (function, alarms) in alarms {
        let alarms: Vec<_> = alarms.iter().map(|alarm| json!({ "Ref": alarm })).collect();
        let stated = template.of_function(function, "DeploymentPreference");
        let expected = json!({
            "Enabled": { "Ref": "GradualDeployment" },
            "Type": { "Ref": "DeploymentSteps" },
            "Role": { "Fn::GetAtt": ["DeploymentRole", "Arn"] },
            "Alarms": alarms,
        });
        expect(*stated == expected, format!("{function}: {stated}"))?;
    }
    let default = |name: &str| template.section("Parameters")[name]["Default"].clone();
    expect(
        default("GradualDeployment") == "true" && default("DeploymentSteps") != "AllAtOnce",
        "not unless asked for",
    )
}

/// It would throttle receives, and throttled receives count towards the DLQ.
fn no_reserved_concurrency(template: &Template) -> Verdict {
    let none = |function: &str| template.of_function(function, "ReservedConcurrentExecutions").is_null();
    each(template, none, "has some")
}

fn the_event_source_is_right(template: &Template) -> Verdict {
    let source = &template.of_function("Processor", "Events")["Queue"]["Properties"];
    expect(source["Queue"] == json!({ "Fn::GetAtt": ["Queue", "Arn"] }), "of another queue")?;
    let batch = template.number(&source["BatchSize"])?;
    let window = template.number(&source["MaximumBatchingWindowInSeconds"])?;
    expect(batch <= 10 || window >= 1, format!("batches of {batch} need a window"))?;
    expect(source["FunctionResponseTypes"] == json!(["ReportBatchItemFailures"]), "one fails all")?;
    let at_once = template.number(&source["ScalingConfig"]["MaximumConcurrency"])?;
    expect((2..=1000).contains(&at_once), format!("{at_once} at once"))
}

fn the_sweeper_is_scheduled(template: &Template) -> Verdict {
    let events = template.of_function("Sweeper", "Events");
    expect(events["EveryMinute"]["Properties"]["Schedule"] == "rate(1 minute)", format!("{events}"))?;
    expect(template.number(template.of_function("Sweeper", "Timeout"))? < 60, "two would overlap")?;
    let invoked = template.of_function("Sweeper", "EventInvokeConfig");
    expect(invoked["MaximumRetryAttempts"] == 0, "repeated though the next minute repeats it")
}

fn the_domain_is_optional(template: &Template) -> Verdict {
    for kind in ["DomainName", "ApiMapping"] {
        let of_kind = template.of_type(&format!("AWS::ApiGatewayV2::{kind}"));
        let conditional = of_kind.iter().all(|(_, resource)| resource["Condition"] == "HasDomain");
        expect(of_kind.len() == 1 && conditional, format!("{kind} is not"))?;
    }
    let asks = &template.properties("Domain")["MutualTlsAuthentication"]["Fn::If"][0];
    let closed = &template.properties("Api")["DisableExecuteApiEndpoint"]["Fn::If"];
    expect(
        asks == "AsksForCertificates" && *closed == json!(["AsksForCertificates", true, false]),
        "the API's own address would ask nobody",
    )
}
