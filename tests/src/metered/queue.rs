//! A queue that keeps what it is sent until somebody takes it.

use serde_json::{Value, json};

/// One message as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent(Value);

impl Sent {
    pub(super) fn new(request: Value) -> Self {
        Self(request)
    }

    /// Its body.
    pub fn body(&self) -> &str {
        self.0["MessageBody"].as_str().unwrap_or_default()
    }

    /// As the poller hands it to a function, received for the first time, sent
    /// at this time in milliseconds.
    pub fn record(&self, id: &str, sent_at: i64) -> Value {
        json!({
            "messageId": id, "receiptHandle": id, "body": self.body(),
            "attributes": { "ApproximateReceiveCount": "1", "SentTimestamp": sent_at.to_string() },
            "messageAttributes": {}, "md5OfBody": "", "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:metered", "awsRegion": "us-east-1",
        })
    }
}
