//! Services, destinations and keepers answer with marks, as what they are sent
//! may come back in an answer; no error that is made of an answer has one
//! (INV-10). Errors end in logs, with events and in front of people on call.

mod http;

use crate::aws_destination::AwsDestinations;
use crate::client::{Aws, Patience};
use crate::connection::local_tls::server;
use crate::dynamodb::samples::{bare_event, event_key, full_action, full_event};
use crate::scripted::{Reply, answering, service};
use crate::{DynamoStore, Keepers, SqsQueue, Tables};
use sekali::config::{SecretName, SecretRef, load};
use sekali::ids::Generation;
use sekali::key::ActionKey;
use sekali::ports::{Call, Destination, Message, Outcome, Queue, Secrets, Store, StoreError};
use sekali::protocol::action::IdempotencyKey;
use sekali::protocol::transition::{ActionWrite, EventWrite, Transition};
use sekali::time::UnixMillis;
use serde_json::json;
use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

/// What every mark begins with.
const MARK: &str = "canary";
/// Long enough for a loopback call on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Nothing of a service's answer is in what is made of it.
fn is_free_of_marks(what: &str, error: &impl Debug) {
    let said = format!("{error:?}");
    assert!(!said.contains(MARK), "{what}: {said}");
    assert!(said.len() < 1000, "{what}: {said}");
}

/// Answers of a service of AWS that hold what it was sent.
fn refusals() -> Vec<Reply> {
    let quoting = "canary-body is no number; the Canonical String should have been x:canary-header";
    let coded = |status: u16, code: &str| {
        Reply::Answer(status, json!({ "__type": code, "message": quoting, "Message": quoting }))
    };
    let cancelled = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "message": quoting,
        "CancellationReasons": [
            { "Code": "ValidationError", "Message": quoting, "Item": { "note": { "S": "canary-body" } } },
            { "Code": "canary-code of a reason", "Message": quoting },
        ],
    });
    let without_reason = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "message": quoting,
        "CancellationReasons": [{ "Code": "canary-code of a reason", "Message": quoting }],
    });
    vec![
        coded(400, "com.amazonaws.invented#ValidationException"),
        coded(400, "InvalidSignatureException"),
        coded(400, "SerializationException"),
        coded(400, "InvalidMessageContents"),
        coded(400, "InvalidParameterException"),
        coded(400, "a canary-code"),
        coded(500, "InternalServerError"),
        coded(503, ""),
        Reply::Answer(400, cancelled),
        Reply::Answer(400, without_reason),
        Reply::Answer(400, json!("canary-body")),
        Reply::Answer(307, json!("canary-body")),
        Reply::Answer(200, json!("canary-body")),
        Reply::Answer(200, json!({ "Item": "canary-body", "Attributes": ["canary-body"], "MessageId": 1 })),
        Reply::Answer(200, json!({ "Item": { "pk": { "N": "canary-body" } } })),
        Reply::Answer(200, json!({ "Item": { "pk": { "S": "event|1:a" }, "note": { "S": "canary-body" } } })),
        Reply::Cut,
    ]
}

/// As [`refusals`] without the waits between many tries.
const ONCE: Patience = Patience { attempts: 1, ..Patience::FUNCTION };

fn claim() -> Transition {
    let (from, to) = (bare_event().guard(), full_event().progress);
    let event = Transition::event(EventWrite { key: event_key(), from, to, content: None });
    let put = ActionWrite::Put { from: full_action().held(), to: Box::new(full_action()) };
    Transition { action: Some(put), ..event }
}

#[tokio::test]
async fn no_error_of_the_tables_repeats_what_dynamodb_says_of_an_item() {
    let mut errors = 0;
    for reply in refusals() {
        let (url, _) = service(&[reply]).await;
        let tables = Tables { events: "e".into(), resources: "r".into(), actions: "a".into() };
        let store = DynamoStore::new(Aws::at(&url, ONCE).dynamodb(), tables);
        let ends = [
            store.event(&event_key()).await.err(),
            store.create_event(&bare_event()).await.err(),
            store.write(&claim()).await.err(),
            store.count_duplicate(&event_key(), None, UnixMillis(1)).await.err(),
        ];
        for error in ends.into_iter().flatten() {
            errors += 1;
            is_free_of_marks("the tables", &(error.to_string(), error));
        }
    }
    assert!(errors > 30, "{errors} errors");
    // What mends it is said.
    let denied =
        json!({ "__type": "AccessDeniedException", "message": "x may not perform: dynamodb:GetItem" });
    let (url, _) = service(&[Reply::Answer(400, denied)]).await;
    let tables = Tables { events: "e".into(), resources: "r".into(), actions: "a".into() };
    let error = DynamoStore::new(Aws::at(&url, ONCE).dynamodb(), tables).event(&event_key()).await;
    let Err(StoreError::Unknown(cause)) = error else { panic!("{error:?}") };
    assert!(cause.contains("may not perform: dynamodb:GetItem"), "{cause}");
}

#[tokio::test]
async fn no_error_of_the_queue_repeats_what_sqs_says_of_a_message() {
    let message = Message {
        event: event_key(),
        generation: Generation::FIRST,
        correlation: "c-1".into(),
        written_at: UnixMillis(1),
        trace: None,
    };
    for reply in refusals() {
        let (url, _) = service(&[reply]).await;
        let queue = SqsQueue::new(Aws::at(&url, ONCE).sqs(), "http://localhost/queues/events");
        is_free_of_marks("the queue", &queue.send(&message).await);
        is_free_of_marks("the queue", &queue.change_visibility("receipt", Duration::ZERO).await);
    }
}

fn secret(text: &str) -> SecretName {
    SecretRef::parse(text).unwrap().of(None).unwrap()
}

#[tokio::test]
async fn no_error_of_a_keeper_repeats_what_it_has() {
    let kept = |value: &str| {
        let parameter = json!({ "Value": value });
        Reply::Answer(200, json!({ "Name": "n", "SecretString": value, "Parameter": parameter }))
    };
    let unusable = ["canary-secret", r#"{"key":["canary-secret"]}"#, r#"{"other":"canary-secret"}"#];
    for reply in refusals().into_iter().chain(unusable.map(kept)) {
        let (url, _) = service(&[reply]).await;
        let keepers = Keepers::new(PathBuf::from("/"), Aws::at(&url, Patience::FUNCTION).caller());
        for name in ["secretsmanager:prod/hub#key", "ssm:/prod/hub"] {
            for (_, read) in keepers.read(&secret(name)).await {
                // A secret that was read shows nothing of itself either.
                is_free_of_marks(name, &read.map_err(|error| (error.to_string(), error)));
            }
        }
    }
}

fn key() -> IdempotencyKey {
    IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
}

async fn called(destination: &impl Destination, name: &str) -> Outcome {
    let call = Call {
        destination: &name.into(),
        action: &"pack".into(),
        key: &key(),
        body: br#"{"data":{"note":"canary-body"}}"#,
        resource: None,
        at: UnixMillis(1_700_000_000_000),
        attempt: 1,
        correlation: "c-1",
        trace: None,
        timeout: PATIENCE,
    };
    destination.call(call).await
}

/// A result is kept for people by intent; every other end says nothing of the
/// answer.
fn is_silent(what: &str, outcome: &Outcome) {
    match outcome {
        Outcome::Done(_) => {}
        other => is_free_of_marks(what, other),
    }
}

const IN_AWS: &str = r#"
[endpoint.hub]
vendor = "github"
secrets = ["env:HUB"]
[destination]
queue = { sqs = "builds" }
bus = { eventbridge = "orders" }
function = { function = "finish-job" }
"#;

#[tokio::test]
async fn no_outcome_of_a_destination_in_aws_repeats_what_it_says_of_a_request() {
    let config = load(("endpoints.toml", IN_AWS), &[]).unwrap();
    let entry = |code: &str| {
        let entry = json!({ "ErrorCode": code, "ErrorMessage": "canary-body" });
        Reply::Answer(200, json!({ "FailedEntryCount": 1, "Entries": [entry] }))
    };
    let more = ["MalformedDetail", "InternalFailure", "ThrottlingException", "a canary-code"].map(entry);
    for reply in refusals().into_iter().chain(more) {
        let url = answering(move |operation, _| match operation {
            "GetQueueUrl" => Reply::Answer(200, json!({ "QueueUrl": "https://queue.example.com/builds" })),
            _ => reply.clone(),
        });
        let destinations =
            AwsDestinations::new(config.destinations.values(), Aws::at(&url.await.0, ONCE).effects());
        for name in ["queue", "bus"] {
            is_silent(name, &called(&destinations, name).await);
        }
    }
    let failed = r#"{"errorType":"OutOfStock","errorMessage":"no canary-body","stackTrace":["canary-body"]}"#;
    for body in [failed, r#"{"errorType":"a canary-code"}"#, "canary-body"] {
        for head in ["200 OK\r\nx-amz-function-error: Unhandled", "400 No\r\nx-amzn-errortype: canary code"] {
            let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let (port, _served) = server(false, answer.into_bytes(), false).await;
            let aws = Aws::at(&format!("http://127.0.0.1:{port}"), ONCE);
            let destinations = AwsDestinations::new(config.destinations.values(), aws.effects());
            is_silent(body, &called(&destinations, "function").await);
        }
    }
}
