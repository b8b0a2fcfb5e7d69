//! SQS's form of a batch, and ours: which records are reported as failed, and
//! when they are seen again.

use aws_lambda_events::event::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use lambda_runtime::LambdaEvent;
use sekali::happened::Happenings;
use sekali::ports::{Destination, Entropy, Message, Outbound, PauseRecord, Secrets, Store};
use sekali::process::{Deadline, Disposition, Processor, Record};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SqsQueue;
use std::time::Duration;

/// Processes a batch. Partial batch response: a record that is not listed is
/// deleted, so whatever cannot be read is listed and never lost (INV-1).
pub async fn run<S: Store + PauseRecord, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy>(
    processor: &Processor<S, D, A, C, E>,
    queue: &SqsQueue,
    event: LambdaEvent<SqsEvent>,
    happenings: &Happenings,
) -> SqsBatchResponse {
    let deadline = deadline(event.context.deadline);
    let messages = event.payload.records;
    let mut readable = Vec::with_capacity(messages.len());
    let mut records = Vec::with_capacity(messages.len());
    let mut failures = Vec::new();
    for message in messages {
        match record(&message) {
            Some(record) => {
                records.push(record);
                readable.push(message);
            }
            None => {
                tracing::error!(
                    message.id = message.message_id.as_deref(),
                    "a message that is not ours goes to the dead-letter queue"
                );
                show_again(queue, &message, Duration::ZERO).await;
                failures.push(failure(message));
            }
        }
    }
    let dispositions = processor.batch_telling(&records, deadline, happenings).await;
    for (message, disposition) in readable.into_iter().zip(dispositions) {
        let wait = match disposition {
            Disposition::Delete => continue,
            Disposition::Return(wait) => wait,
            Disposition::Fail => Duration::ZERO,
        };
        show_again(queue, &message, wait).await;
        failures.push(failure(message));
    }
    let mut response = SqsBatchResponse::default();
    response.batch_item_failures = failures;
    response
}

/// A deadline of 0 was never set by the runtime: that is not "no time left".
fn deadline(millis: u64) -> Deadline {
    match i64::try_from(millis) {
        Ok(0) | Err(_) => Deadline::Unknown,
        Ok(millis) => Deadline::At(UnixMillis(millis)),
    }
}

fn record(message: &SqsMessage) -> Option<Record> {
    let attribute = |name: &str| message.attributes.get(name)?.parse::<i64>().ok();
    let body: Message = serde_json::from_str(message.body.as_deref()?).ok()?;
    // Without a stamp the message counts as never moved.
    let stamped_at = attribute("SentTimestamp").map_or(body.written_at, UnixMillis);
    let receive_count = attribute("ApproximateReceiveCount").and_then(|count| u32::try_from(count).ok());
    Some(Record { message: body, stamped_at, receive_count: receive_count.unwrap_or(1) })
}

fn failure(message: SqsMessage) -> BatchItemFailure {
    let mut failure = BatchItemFailure::default();
    failure.item_identifier = message.message_id.unwrap_or_default();
    failure
}

/// Where it cannot be set, the queue's own visibility timeout ends the wait.
async fn show_again(queue: &SqsQueue, message: &SqsMessage, wait: Duration) {
    let Some(receipt) = message.receipt_handle.as_deref() else { return };
    if let Err(error) = queue.change_visibility(receipt, wait).await {
        tracing::warn!(message.id = message.message_id.as_deref(), %error, "visibility was not changed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_never_set_is_not_one_that_has_passed() {
        assert_eq!(deadline(0), Deadline::Unknown);
        assert_eq!(deadline(5), Deadline::At(UnixMillis(5)));
    }

    #[test]
    fn a_foreign_message_is_no_record() {
        let mut message = SqsMessage::default();
        assert_eq!(record(&message), None);
        message.body = Some("hello".to_owned());
        assert_eq!(record(&message), None);
    }

    // While versions take over step by step, each reads the other's messages.
    #[test]
    fn a_message_of_a_newer_release_is_read_as_far_as_it_is_known() {
        let mut message = SqsMessage::default();
        message.body = Some(
            r#"{"event":"event|1:a","generation":1,"correlation":"c","written_at":5,"added_later":{"a":1}}"#
                .to_owned(),
        );
        let record = record(&message).unwrap();
        assert_eq!((record.message.event.as_str(), record.message.trace), ("event|1:a", None));
    }

    #[test]
    fn stamp_and_receive_count_come_from_sqs() {
        let mut message = SqsMessage::default();
        message.body =
            Some(r#"{"event":"event|1:a","generation":2,"correlation":"c","written_at":5}"#.to_owned());
        message.attributes.insert("SentTimestamp".to_owned(), "9".to_owned());
        message.attributes.insert("ApproximateReceiveCount".to_owned(), "3".to_owned());
        let record = record(&message).unwrap();
        assert_eq!((record.stamped_at, record.receive_count), (UnixMillis(9), 3));
        assert_eq!(record.message.generation.get(), 2);
    }
}
