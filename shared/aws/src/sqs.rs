//! The queue on SQS.

use crate::refusal;
use crate::trace::Trace;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    MessageAttributeValue, MessageSystemAttributeNameForSends, MessageSystemAttributeValue,
    QueueAttributeName,
};
use sekali::ports::{Message, Queue, QueueError};
use std::time::Duration;

/// The message attribute that carries the correlation id, so that people can
/// find a message in the console without reading bodies.
pub const CORRELATION_ATTRIBUTE: &str = "sekali.correlation";

/// SQS takes no longer visibility timeout.
const LONGEST_VISIBILITY: Duration = Duration::from_secs(12 * 60 * 60);

/// A queue of messages, with its dead-letter queue set up in the template.
#[derive(Debug, Clone)]
pub struct SqsQueue {
    client: Client,
    url: String,
}

impl SqsQueue {
    /// The queue at this URL.
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self { client, url: url.into() }
    }

    /// Opens the connection before the first delivery needs it, as
    /// [`DynamoStore::warm_up`](crate::DynamoStore::warm_up) does.
    pub async fn warm_up(&self) {
        let asked = self.client.get_queue_attributes().queue_url(&self.url);
        // Only that somebody answers matters.
        drop(asked.attribute_names(QueueAttributeName::QueueArn).send().await);
    }

    /// Lets a message that was received come back after `wait`, rounded up to
    /// whole seconds and at most twelve hours; zero: at once.
    ///
    /// # Errors
    /// The queue did not do it. The message comes back when its present
    /// visibility timeout ends, so the caller may go on.
    pub async fn change_visibility(&self, receipt_handle: &str, wait: Duration) -> Result<(), QueueError> {
        self.client
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(receipt_handle)
            .visibility_timeout(visibility_seconds(wait))
            .send()
            .await
            .map(drop)
            .map_err(|error| QueueError(refusal::of_call(&error)))
    }
}

fn visibility_seconds(wait: Duration) -> i32 {
    let wait = wait.min(LONGEST_VISIBILITY);
    let rounded_up = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    i32::try_from(rounded_up).unwrap_or(i32::MAX)
}

impl Queue for SqsQueue {
    async fn send(&self, message: &Message) -> Result<(), QueueError> {
        let mut request = self.client.send_message().queue_url(&self.url).message_body(body(message)?);
        if let Some(correlation) = correlation_attribute(message) {
            request = request.message_attributes(CORRELATION_ATTRIBUTE, correlation);
        }
        if let Some(trace) = trace_attribute(message) {
            request =
                request.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, trace);
        }
        request.send().await.map(drop).map_err(|error| QueueError(refusal::of_call(&error)))
    }
}

/// The body: JSON in ASCII. SQS refuses some characters of Unicode, and a
/// vendor's id may hold them; escaped, none of them can keep an event from
/// its queue (INV-1).
fn body(message: &Message) -> Result<String, QueueError> {
    let json = serde_json::to_string(message).map_err(|error| QueueError(error.to_string()))?;
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    Ok(ascii)
}

/// `None` for an id that SQS would refuse; the body carries it anyway.
fn correlation_attribute(message: &Message) -> Option<MessageAttributeValue> {
    let text = message.correlation.as_str();
    let printable = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    printable
        .then(|| MessageAttributeValue::builder().data_type("String").string_value(text).build().ok())
        .flatten()
}

fn trace_attribute(message: &Message) -> Option<MessageSystemAttributeValue> {
    let trace = Trace::parse(message.trace.as_deref()?)?;
    MessageSystemAttributeValue::builder().data_type("String").string_value(trace.xray()).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Aws, Patience};
    use crate::scripted::{Reply, Tries, error, ok, service};
    use sekali::ids::Generation;
    use sekali::key::EventKey;
    use sekali::time::UnixMillis;
    use serde_json::json;

    fn message(event: &str) -> Message {
        Message {
            event: EventKey::from_stored(event),
            generation: Generation::FIRST,
            correlation: "0af7651916cd43dd8448eb211c80319c".into(),
            written_at: UnixMillis(1_700_000_000_000),
            trace: None,
        }
    }

    #[test]
    fn a_body_is_ascii_and_reads_back_as_the_same_message() {
        let message = message("event|6:stripe|-|9:é\u{ffff}😀\u{1}");
        let body = body(&message).unwrap();
        assert!(body.is_ascii());
        assert_eq!(serde_json::from_str::<Message>(&body).unwrap(), message);
    }

    #[test]
    fn a_trace_travels_in_the_form_that_sqs_knows() {
        let mut message = message("event|1:a");
        assert_eq!(trace_attribute(&message), None);
        message.trace = Some("00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01".into());
        let expected = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
        assert_eq!(trace_attribute(&message).unwrap().string_value(), Some(expected));
        message.trace = Some("something else".into());
        assert_eq!(trace_attribute(&message), None);
    }

    #[test]
    fn an_id_that_sqs_would_refuse_does_not_keep_the_message_back() {
        let mut message = message("event|1:a");
        assert!(correlation_attribute(&message).is_some());
        message.correlation = "é".into();
        assert_eq!(correlation_attribute(&message), None);
    }

    #[test]
    fn a_wait_is_rounded_up_and_bounded() {
        assert_eq!(visibility_seconds(Duration::ZERO), 0);
        assert_eq!(visibility_seconds(Duration::from_millis(1)), 1);
        assert_eq!(visibility_seconds(Duration::from_secs(20)), 20);
        assert_eq!(visibility_seconds(Duration::MAX), 43_200);
    }

    async fn queue(reply: Reply) -> (SqsQueue, Tries) {
        let (url, tries) = service(&[reply]).await;
        let client = Aws::at(&url, Patience::FUNCTION).sqs();
        (SqsQueue::new(client, "http://localhost/queues/events"), tries)
    }

    #[tokio::test]
    async fn a_message_is_sent_with_its_ids_beside_it() {
        let (queue, tries) = queue(ok(json!({ "MessageId": "m_1" }))).await;
        let trace = Some("00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01".to_owned());
        let message = Message { trace, ..message("event|1:a") };
        assert_eq!(queue.send(&message).await, Ok(()));
        let (operation, sent) = tries.lock().unwrap().remove(0);
        assert_eq!(
            (operation.as_str(), &sent["QueueUrl"]),
            ("SendMessage", &json!("http://localhost/queues/events"))
        );
        assert_eq!(serde_json::from_str::<Message>(sent["MessageBody"].as_str().unwrap()).unwrap(), message);
        let attribute = &sent["MessageAttributes"]["sekali.correlation"]["StringValue"];
        assert_eq!(attribute, message.correlation.as_str());
        assert!(sent["MessageSystemAttributes"]["AWSTraceHeader"]["StringValue"].is_string());
    }

    // INV-1: whoever enqueues must know that the queue did not take it.
    #[tokio::test]
    async fn a_queue_that_refuses_says_why() {
        let (queue, _) = queue(error(400, "QueueDoesNotExist")).await;
        let QueueError(cause) = queue.send(&message("event|1:a")).await.unwrap_err();
        assert!(cause.contains("QueueDoesNotExist"), "{cause}");
        assert!(queue.change_visibility("receipt", Duration::ZERO).await.is_err());
    }

    #[tokio::test]
    async fn a_message_is_brought_back_by_its_receipt() {
        let (queue, tries) = queue(ok(json!({}))).await;
        assert_eq!(queue.change_visibility("receipt", Duration::from_millis(1500)).await, Ok(()));
        let (operation, sent) = tries.lock().unwrap().remove(0);
        assert_eq!(operation, "ChangeMessageVisibility");
        assert_eq!((&sent["ReceiptHandle"], &sent["VisibilityTimeout"]), (&json!("receipt"), &json!(2)));
    }
}
