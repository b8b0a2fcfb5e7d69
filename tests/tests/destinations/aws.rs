//! The emulator's queues, buses and functions.

use super::{Asked, destinations, folder};
use anyhow::{Context, Result, anyhow, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sekali::key::ResourceKey;
use sekali::ports::Outcome;
use sekali_cli::local::aws::{Aws, REGION};
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::{Emulator, any_port};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tokio::sync::OnceCell;

const ACCOUNT: &str = "000000000000";

static EMULATOR: OnceCell<Result<Emulator, String>> = OnceCell::const_new();

async fn emulated() -> Result<Aws> {
    let started = EMULATOR.get_or_init(|| async {
        let start = async {
            let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
            Emulator::start(&checkout, &folder("emulator"), any_port()?).await
        };
        start.await.map_err(|error: anyhow::Error| format!("{error:#}"))
    });
    started.await.as_ref().map(|emulator| emulator.aws).map_err(|error| anyhow!("{error}"))
}

async fn queue(aws: Aws, name: &str, attributes: Value) -> Result<String> {
    let asked = json!({ "QueueName": name, "Attributes": attributes });
    let answer = aws.ask("sqs", "AmazonSQS.CreateQueue", &asked).await?;
    Ok(answer["QueueUrl"].as_str().context("a queue has an address")?.to_owned())
}

/// Takes every message of a queue.
async fn messages(aws: Aws, url: &str) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let asked = json!({
            "QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 60,
            "AttributeNames": ["All"], "MessageAttributeNames": ["All"],
        });
        let answer = aws.ask("sqs", "AmazonSQS.ReceiveMessage", &asked).await?;
        let taken = answer["Messages"].as_array().cloned().unwrap_or_default();
        if taken.is_empty() {
            return Ok(all);
        }
        for message in &taken {
            let asked = json!({ "QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"] });
            aws.ask("sqs", "AmazonSQS.DeleteMessage", &asked).await?;
        }
        all.extend(taken);
    }
}

fn body(message: &Value) -> Result<Value> {
    Ok(serde_json::from_str(message["Body"].as_str().context("a message has a body")?)?)
}

#[tokio::test]
async fn a_standard_queue_gets_the_envelope_and_recognises_no_key() -> Result<()> {
    let aws = emulated().await?;
    let url = queue(aws, "builds", json!({})).await?;
    let destinations = destinations("builds = { sqs = \"builds\" }", &aws.endpoint(), &folder("aws"));
    let asked = Asked::of("builds", "order_1");
    for _ in 0..2 {
        let outcome = asked.call(&destinations).await;
        ensure!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    let messages = messages(aws, &url).await?;
    ensure!(messages.len() == 2, "it promises nothing, and it keeps that: {messages:?}");
    let body = body(&messages[0])?;
    ensure!(body["idempotency_key"] == asked.key().as_str(), "{body}");
    ensure!(body["data"] == json!({ "order": "order_1", "note": "é\u{ffff}" }), "{body}");
    let attributes = &messages[0]["MessageAttributes"];
    ensure!(attributes["sekali.key"]["StringValue"] == asked.key().as_str(), "{attributes}");
    Ok(())
}

// INV-2: what `retry` relies on, for five minutes.
#[tokio::test]
async fn a_fifo_queue_takes_a_repeated_key_once_and_groups_by_resource() -> Result<()> {
    let aws = emulated().await?;
    let url = queue(aws, "ordered.fifo", json!({ "FifoQueue": "true" })).await?;
    let section = format!(
        "ordered = {{ sqs = \"arn:aws:sqs:{REGION}:{ACCOUNT}:ordered.fifo\", in_doubt = \"retry\" }}"
    );
    let destinations = destinations(&section, &aws.endpoint(), &folder("aws"));
    let resource = Some(ResourceKey::new(&"payment".into(), None, "pi_1"));
    for order in ["order_1", "order_1", "order_2"] {
        let asked = Asked { resource: resource.clone(), ..Asked::of("ordered", order) };
        let outcome = asked.call(&destinations).await;
        ensure!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    let messages = messages(aws, &url).await?;
    let orders: Vec<Value> =
        messages.iter().map(|message| Ok(body(message)?["data"]["order"].clone())).collect::<Result<_>>()?;
    ensure!(orders == [json!("order_1"), json!("order_2")], "{orders:?}");
    let group = |message: &Value| message["Attributes"]["MessageGroupId"].clone();
    ensure!(group(&messages[0]) == group(&messages[1]) && group(&messages[0]).is_string(), "{messages:?}");
    Ok(())
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_a_refusal() -> Result<()> {
    let aws = emulated().await?;
    let destinations = destinations("nowhere = { sqs = \"nowhere\" }", &aws.endpoint(), &folder("aws"));
    let outcome = Asked::of("nowhere", "order_1").call(&destinations).await;
    ensure!(matches!(outcome, Outcome::Rejected { .. }), "{outcome:?}");
    Ok(())
}

#[tokio::test]
async fn an_event_on_the_bus_reaches_whoever_its_rule_names() -> Result<()> {
    let aws = emulated().await?;
    let url = queue(aws, "news", json!({})).await?;
    let ask = async |operation: &str, asked: Value| {
        aws.ask("events", &format!("AWSEvents.{operation}"), &asked).await
    };
    ask("CreateEventBus", json!({ "Name": "orders" })).await?;
    let pattern = json!({ "source": ["sekali"], "detail-type": ["pack"] }).to_string();
    ask("PutRule", json!({ "Name": "packs", "EventBusName": "orders", "EventPattern": pattern })).await?;
    let target = json!({ "Id": "news", "Arn": format!("arn:aws:sqs:{REGION}:{ACCOUNT}:news") });
    ask("PutTargets", json!({ "Rule": "packs", "EventBusName": "orders", "Targets": [target] })).await?;
    let destinations = destinations("orders = { eventbridge = \"orders\" }", &aws.endpoint(), &folder("aws"));
    let asked = Asked::of("orders", "order_1");
    let outcome = asked.call(&destinations).await;
    ensure!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    let messages = messages(aws, &url).await?;
    ensure!(messages.len() == 1, "{messages:?}");
    let event = body(&messages[0])?;
    ensure!((&event["source"], &event["detail-type"]) == (&json!("sekali"), &json!("pack")), "{event}");
    ensure!(event["detail"]["idempotency_key"] == asked.key().as_str(), "{event}");
    ensure!(event["detail"]["data"]["order"] == "order_1", "{event}");
    Ok(())
}

/// A function that packs, is out of stock, or breaks. On Lambda's own protocol:
/// the emulator's Python runtime does not tell the type of an error.
const FUNCTION: &str = r#"#!/usr/bin/env python3
import json, os, urllib.request

RUNTIME = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation"

def handle(event):
    order = event["data"]["order"]
    if order == "order_gone":
        return "error", {"errorType": "OutOfStock", "errorMessage": "none left"}
    if order == "order_broken":
        return "error", {"errorType": "ValueError", "errorMessage": "it broke half way"}
    return "response", {"task": "t_" + order, "key": event["idempotency_key"]}

while True:
    with urllib.request.urlopen(f"{RUNTIME}/next") as invocation:
        request, event = invocation.headers["Lambda-Runtime-Aws-Request-Id"], json.load(invocation)
    end, body = handle(event)
    urllib.request.urlopen(f"{RUNTIME}/{request}/{end}", json.dumps(body).encode()).close()
"#;

async fn function(aws: Aws, name: &str) -> Result<()> {
    let folder = folder("function");
    let zip = folder.join("function.zip");
    let script = "import sys, zipfile\n\
                  bootstrap = zipfile.ZipInfo('bootstrap')\n\
                  bootstrap.external_attr = 0o755 << 16\n\
                  zipfile.ZipFile(sys.argv[1], 'w').writestr(bootstrap, sys.argv[2])";
    let python = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?.tool("python")?;
    let zipped = Command::new(python).args(["-c", script]).arg(&zip).arg(FUNCTION).status()?;
    ensure!(zipped.success(), "the function was not zipped");
    let asked = json!({
        "FunctionName": name, "Runtime": "provided.al2023", "Handler": "bootstrap",
        "Role": format!("arn:aws:iam::{ACCOUNT}:role/none"), "Timeout": 30,
        "Code": { "ZipFile": BASE64_STANDARD.encode(std::fs::read(&zip)?) },
    });
    let scope = format!("Credential=local/20260101/{REGION}/lambda/aws4_request");
    let request = http::Request::post("/2015-03-31/functions")
        .header("authorization", format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none"))
        .header("content-type", "application/json")
        .body(bytes::Bytes::from(asked.to_string()))?;
    let answer = sekali_cli::local::wire::exchange(aws.port, request).await?;
    ensure!(answer.status < 300, "the emulator made no function: {}", answer.text());
    Ok(())
}

#[tokio::test]
async fn a_function_is_invoked_and_its_answer_is_the_result() -> Result<()> {
    let aws = emulated().await?;
    function(aws, "finish-job").await?;
    let section = format!(
        "jobs = {{ function = \"finish-job\", decisive = [\"OutOfStock\"] }}\n\
         same = {{ function = \"arn:aws:lambda:{REGION}:{ACCOUNT}:function:finish-job\" }}\n\
         nowhere = {{ function = \"nobody\" }}"
    );
    let destinations = destinations(&section, &aws.endpoint(), &folder("aws"));
    for destination in ["jobs", "same"] {
        let asked = Asked::of(destination, "order_1");
        let Outcome::Done(result) = asked.call(&destinations).await else {
            anyhow::bail!("{destination} did not do it")
        };
        let result: Value = serde_json::from_str(&result.0)?;
        ensure!(result == json!({ "task": "t_order_1", "key": asked.key().as_str() }), "{result}");
    }
    let gone = Asked::of("jobs", "order_gone").call(&destinations).await;
    ensure!(matches!(gone, Outcome::Rejected { decisive: true, .. }), "{gone:?}");
    // INV-6: it may have acted before it broke.
    let broken = Asked::of("jobs", "order_broken").call(&destinations).await;
    ensure!(matches!(broken, Outcome::Unknown { .. }), "{broken:?}");
    let nobody = Asked::of("nowhere", "order_1").call(&destinations).await;
    ensure!(matches!(nobody, Outcome::Rejected { .. }), "{nobody:?}");
    Ok(())
}
