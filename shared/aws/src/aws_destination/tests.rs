//! Calls to services of AWS that answer what no emulator can be made to.

use super::*;
use crate::client::{Aws, Patience};
use crate::scripted::{Reply, Tries, error, ok, operations, service};
use sekali::config::{Config, load};
use sekali::ids::Generation;
use sekali::key::{ActionKey, ResourceKey};
use sekali::ports::Call;
use sekali::protocol::action::{EffectResult, IdempotencyKey};
use sekali::time::UnixMillis;
use serde_json::{Value, json};
use std::time::Duration;

const BODY: &str = r#"{"event_id":"evt_1","data":{"order":"order_1"}}"#;
/// Long enough for a loopback call on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const ENDPOINTS: &str = r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination]
builds = { sqs = "builds" }
ordered = { sqs = "arn:aws:sqs:eu-west-1:111122223333:builds.fifo", in_doubt = "retry" }
orders = { eventbridge = "orders" }
"#;

fn config() -> Config {
    load(("endpoints.toml", ENDPOINTS), &[]).unwrap()
}

fn key() -> IdempotencyKey {
    IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
}

async fn called(url: &str, destination: &str, resource: Option<&ResourceKey>) -> Outcome {
    let destinations =
        AwsDestinations::new(config().destinations.values(), Aws::at(url, Patience::FUNCTION).effects());
    let call = Call {
        destination: &destination.into(),
        action: &"pack".into(),
        key: &key(),
        body: BODY.as_bytes(),
        resource,
        at: UnixMillis(1_700_000_000_000),
        attempt: 2,
        correlation: "0af7651916cd43dd8448eb211c80319c",
        trace: Some("00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"),
        timeout: PATIENCE,
    };
    destinations.call(call).await
}

fn last(tries: &Tries) -> Value {
    tries.lock().unwrap().last().unwrap().1.clone()
}

fn queue_then(reply: Reply) -> [Reply; 2] {
    [ok(json!({ "QueueUrl": "https://queue.example.com/builds" })), reply]
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Rejected { decisive: false, .. } => "rejected",
        Outcome::NotStarted { decisive: false, .. } => "not started",
        Outcome::Rejected { .. } | Outcome::NotStarted { .. } => "decisive",
        Outcome::Unknown { .. } => "unknown",
    }
}

#[tokio::test]
async fn a_message_carries_the_envelope_with_its_key() {
    let (url, tries) = service(&queue_then(ok(json!({ "MessageId": "m_1" })))).await;
    let outcome = called(&url, "builds", None).await;
    assert_eq!(outcome, Outcome::Done(EffectResult(r#"{"message_id":"m_1"}"#.to_owned())));
    assert_eq!(operations(&tries), ["GetQueueUrl", "SendMessage"]);
    let sent = last(&tries);
    assert_eq!(sent["QueueUrl"], "https://queue.example.com/builds");
    let body: Value = serde_json::from_str(sent["MessageBody"].as_str().unwrap()).unwrap();
    assert_eq!(body["idempotency_key"], key().as_str());
    assert_eq!((&body["event_id"], &body["data"]["order"]), (&json!("evt_1"), &json!("order_1")));
    assert_eq!(sent["MessageAttributes"]["sekali.key"]["StringValue"], key().as_str());
    assert!(sent["MessageSystemAttributes"]["AWSTraceHeader"]["StringValue"].is_string());
    assert!(sent["MessageGroupId"].is_null() && sent["MessageDeduplicationId"].is_null());
}

// INV-2: the queue itself takes a message of one id once.
#[tokio::test]
async fn a_fifo_message_is_grouped_by_resource_and_named_by_its_key() {
    let resource = ResourceKey::from_stored("resource|7:payment|-|4:pi_1");
    let mut groups = Vec::new();
    for resource in [Some(&resource), Some(&resource), None] {
        let (url, tries) = service(&queue_then(ok(json!({ "MessageId": "m_1" })))).await;
        assert_eq!(word(&called(&url, "ordered", resource).await), "done");
        let asked = tries.lock().unwrap().first().unwrap().1.clone();
        assert_eq!(asked["QueueOwnerAWSAccountId"], "111122223333");
        let sent = last(&tries);
        assert_eq!(sent["MessageDeduplicationId"], key().as_str());
        groups.push(sent["MessageGroupId"].as_str().unwrap().to_owned());
    }
    assert_eq!(groups[0], groups[1]);
    assert_eq!(groups[2], key().as_str());
    assert!(groups[0].len() <= 128 && groups[0].bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

#[tokio::test]
async fn an_event_is_put_under_the_name_of_its_action() {
    let answer = json!({ "FailedEntryCount": 0, "Entries": [{ "EventId": "e_1" }] });
    let (url, tries) = service(&[ok(answer)]).await;
    let outcome = called(&url, "orders", None).await;
    assert_eq!(outcome, Outcome::Done(EffectResult(r#"{"event_id":"e_1"}"#.to_owned())));
    let entry = last(&tries)["Entries"][0].clone();
    let said = (&entry["Source"], &entry["DetailType"], &entry["EventBusName"]);
    assert_eq!(said, (&json!("sekali"), &json!("pack"), &json!("orders")));
    let detail: Value = serde_json::from_str(entry["Detail"].as_str().unwrap()).unwrap();
    assert_eq!(detail["idempotency_key"], key().as_str());
}

#[tokio::test]
async fn an_entry_that_the_bus_did_not_take_is_not_done() {
    for (code, expected) in [
        ("ThrottlingException", "not started"),
        ("InternalFailure", "unknown"),
        ("MalformedDetail", "rejected"),
    ] {
        let entry = json!({ "ErrorCode": code, "ErrorMessage": "m" });
        let (url, _) = service(&[ok(json!({ "FailedEntryCount": 1, "Entries": [entry] }))]).await;
        assert_eq!(word(&called(&url, "orders", None).await), expected, "{code}");
    }
    let (url, _) = service(&[ok(json!({}))]).await;
    assert_eq!(word(&called(&url, "orders", None).await), "unknown");
}

// INV-2, INV-6: one call, and what became of it.
#[tokio::test]
async fn a_call_is_made_once_whatever_the_service_answers() {
    for (reply, expected) in [
        (error(400, "ThrottlingException"), "not started"),
        (error(403, "ExpiredTokenException"), "not started"),
        (error(400, "AWS.SimpleQueueService.NonExistentQueue"), "rejected"),
        (error(403, "AccessDeniedException"), "rejected"),
        (Reply::Answer(429, json!({})), "not started"),
        (error(500, "InternalFailure"), "unknown"),
        (Reply::Answer(503, json!("no object")), "unknown"),
        (Reply::Cut, "unknown"),
    ] {
        let (url, tries) = service(&queue_then(reply.clone())).await;
        assert_eq!(word(&called(&url, "builds", None).await), expected);
        assert_eq!(operations(&tries), ["GetQueueUrl", "SendMessage"]);
        let (url, tries) = service(std::slice::from_ref(&reply)).await;
        assert_eq!(word(&called(&url, "orders", None).await), expected);
        assert_eq!(operations(&tries), ["PutEvents"]);
    }
}

// INV-6: while the queue's address is looked up, nothing was sent.
#[tokio::test]
async fn a_queue_that_is_not_found_has_not_been_sent_to() {
    for (reply, expected) in [
        (error(400, "QueueDoesNotExist"), "rejected"),
        (error(403, "AccessDenied"), "rejected"),
        (error(500, "InternalFailure"), "not started"),
        (Reply::Cut, "not started"),
        (ok(json!({})), "not started"),
    ] {
        let (url, tries) = service(&[reply]).await;
        assert_eq!(word(&called(&url, "builds", None).await), expected);
        assert_eq!(operations(&tries), ["GetQueueUrl"]);
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_has_not_been_called() {
    for destination in ["builds", "orders"] {
        assert_eq!(word(&called("http://127.0.0.1:1", destination, None).await), "not started");
    }
    assert_eq!(word(&called("http://127.0.0.1:1", "nobody", None).await), "not started");
}

// A key of KMS that is throttled, a function that is being updated.
#[tokio::test]
async fn what_is_refused_for_now_is_tried_again() {
    for reply in [error(400, "KmsThrottled"), error(409, "ResourceConflictException")] {
        let (url, _) = service(&queue_then(reply.clone())).await;
        assert_eq!(word(&called(&url, "builds", None).await), "not started");
    }
}
