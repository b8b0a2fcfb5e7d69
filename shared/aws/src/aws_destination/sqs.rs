//! A queue: standard, or FIFO.

use super::AwsDestinations;
use super::answer::not_done;
use super::caller::{Asked, Came, Service};
use crate::trace::Trace;
use sekali::config::AwsTarget;
use sekali::key::EventHash;
use sekali::ports::{Call, Outcome};
use sekali::protocol::action::EffectResult;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

const SEND: &str = "AmazonSQS.SendMessage";
const LOOK_UP: &str = "AmazonSQS.GetQueueUrl";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Sent {
    message_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Found {
    queue_url: String,
}

impl AwsDestinations {
    /// Sends the message.
    pub(super) async fn send(
        &self,
        queue: &AwsTarget,
        call: &Call<'_>,
        body: String,
        deadline: Instant,
    ) -> Outcome {
        let url = match self.queue_url(queue, deadline).await {
            Ok(url) => url,
            Err(outcome) => return outcome,
        };
        let message = message(&url, queue.resource().ends_with(".fifo"), call, &acceptable(&body));
        let came = self.ask_sqs(SEND, &message, deadline).await;
        match &came {
            // Whatever becomes of the rest of such an answer, it was taken.
            Came::Answered { status: 200, body, .. } => {
                let id = serde_json::from_slice::<Sent>(body).map(|sent| sent.message_id);
                Outcome::Done(EffectResult(json!({ "message_id": id.unwrap_or_default() }).to_string()))
            }
            other => not_done("SQS", other),
        }
    }

    /// The queue's address, looked up once. Without it nothing is sent, which
    /// is certain, and a queue that is not there is a mistake in the
    /// configuration or in the permissions.
    async fn queue_url(&self, queue: &AwsTarget, deadline: Instant) -> Result<String, Outcome> {
        if let Some(url) = self.known_queue(queue) {
            return Ok(url);
        }
        let mut asked = json!({ "QueueName": queue.resource() });
        if let Some(account) = queue.account() {
            asked["QueueOwnerAWSAccountId"] = Value::from(account);
        }
        let came = self.ask_sqs(LOOK_UP, &asked, deadline).await;
        let answered = match &came {
            Came::Answered { status: 200, body, .. } => serde_json::from_slice::<Found>(body).ok(),
            _ => None,
        };
        match (answered, not_done("SQS", &came)) {
            (Some(found), _) => {
                self.remember(queue, found.queue_url.clone());
                Ok(found.queue_url)
            }
            (None, Outcome::Unknown { cause, not_before }) => {
                Err(Outcome::NotStarted { cause, not_before, decisive: false })
            }
            (None, outcome) => Err(outcome),
        }
    }

    async fn ask_sqs(&self, operation: &str, asked: &Value, deadline: Instant) -> Came {
        let headers = [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", operation)];
        let asked = Asked {
            service: Service::Sqs,
            path: "/",
            headers: &headers,
            body: asked.to_string().into_bytes(),
        };
        self.effects.call(asked, deadline).await
    }
}

fn message(url: &str, fifo: bool, call: &Call<'_>, body: &str) -> Value {
    let text = |value: &str| json!({ "DataType": "String", "StringValue": value });
    let mut attributes = json!({ "sekali.key": text(call.key.as_str()) });
    // SQS refuses other characters; an id of ours never has them.
    if !call.correlation.is_empty() && call.correlation.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        attributes["sekali.correlation"] = text(call.correlation);
    }
    let mut message = json!({ "QueueUrl": url, "MessageBody": body, "MessageAttributes": attributes });
    if fifo {
        message["MessageGroupId"] = Value::from(group(call));
        // The queue takes one message of this id within five minutes (INV-2).
        message["MessageDeduplicationId"] = Value::from(call.key.as_str());
    }
    if let Some(trace) = call.trace.and_then(Trace::parse) {
        message["MessageSystemAttributes"] = json!({ "AWSTraceHeader": text(&trace.xray()) });
    }
    message
}

/// Messages of one resource stay in order; those of none stand for themselves.
/// A digest, since a resource's key has characters that a group's id may not.
fn group(call: &Call<'_>) -> String {
    match call.resource {
        Some(resource) => EventHash::of([resource.as_str().as_bytes()]).as_str().to_owned(),
        None => call.key.as_str().to_owned(),
    }
}

/// SQS refuses two characters of Unicode that JSON may hold as they are;
/// escaped, the same JSON passes.
fn acceptable(body: &str) -> String {
    body.replace('\u{fffe}', "\\ufffe").replace('\u{ffff}', "\\uffff")
}
