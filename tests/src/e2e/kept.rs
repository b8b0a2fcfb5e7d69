//! What a receiver keeps: three tables, a queue and its dead-letter queue, as
//! somebody sees them who asks AWS and not the receiver.

use anyhow::{Context, Result};
use sekali::key::{ActionKey, DedupScope, EventKey, ResourceKey};
use sekali_aws::Tables;
use sekali_cli::local::aws::Aws;
use serde_json::{Value, json};

/// One stored item, in DynamoDB's own JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Item(pub Value);

impl Item {
    /// A text attribute; empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.0[name]["S"].as_str().unwrap_or_default()
    }

    /// A number attribute.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.0[name]["N"].as_str()?.parse().ok()
    }

    /// Where an event or action stands.
    pub fn status(&self) -> &str {
        self.text("status")
    }

    /// Whether it has this attribute at all.
    pub fn has(&self, name: &str) -> bool {
        !self.0[name].is_null()
    }

    /// Whether an event has come to an end, or to where people look.
    pub fn is_at_rest(&self) -> bool {
        !matches!(self.status(), "received" | "processing")
    }
}

/// One message as SQS hands it out.
#[derive(Debug, Clone)]
pub struct Received(pub Value);

impl Received {
    /// Its id.
    pub fn id(&self) -> &str {
        self.0["MessageId"].as_str().unwrap_or_default()
    }

    /// Its body.
    pub fn body(&self) -> &str {
        self.0["Body"].as_str().unwrap_or_default()
    }

    fn receipt(&self) -> &Value {
        &self.0["ReceiptHandle"]
    }

    /// As the poller hands it to the function.
    pub fn record(&self) -> Value {
        json!({
            "messageId": self.id(), "receiptHandle": self.receipt(), "body": self.body(),
            "attributes": self.0["Attributes"], "messageAttributes": {}, "md5OfBody": self.0["MD5OfBody"],
            "eventSource": "aws:sqs", "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:driven",
            "awsRegion": "us-east-1",
        })
    }
}

/// Tables and queues of one receiver.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Where they are.
    pub aws: Aws,
    /// The tables.
    pub tables: Tables,
    /// The queue's URL.
    pub queue: String,
    /// The dead-letter queue's URL.
    pub dead_letters: String,
}

impl Kept {
    /// An event by its endpoint and the vendor's id.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn event(&self, endpoint: &str, id: &str) -> Result<Option<Item>> {
        let key = EventKey::new(&DedupScope(endpoint.to_owned()), None, &[Some(id)]);
        self.item(&self.tables.events, key.as_str()).await
    }

    /// Whether the payload that an event points to is there.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn payload(&self, event: &Item) -> Result<Option<Item>> {
        let key = event.text("pk");
        let pk = format!("payload|{}:{key}|{}", key.len(), event.text("hash"));
        self.item(&self.tables.events, &pk).await
    }

    /// Every item in which the payload of an event lies: its head, and the
    /// parts that the head names.
    ///
    /// # Errors
    /// The table does not answer, or a part is missing.
    pub async fn payload_items(&self, event: &Item) -> Result<Vec<Item>> {
        let mut items: Vec<_> = self.payload(event).await?.into_iter().collect();
        let parts = items.first().and_then(|head| head.number("parts")).unwrap_or(0);
        for part in 0..parts {
            let pk = format!("part|{}|{part}", items[0].text("digest"));
            items.push(
                self.item(&self.tables.events, &pk).await?.with_context(|| format!("{pk} is missing"))?,
            );
        }
        Ok(items)
    }

    /// The action that an event remembers.
    ///
    /// # Errors
    /// It remembers none, or the table does not answer.
    pub async fn action_of(&self, event: &Item) -> Result<Item> {
        let key = event.text("action");
        let action = self.item(&self.tables.actions, key).await?;
        action.with_context(|| format!("the event {} has no action", event.text("pk")))
    }

    /// An action by its name and key fields.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn action(&self, name: &str, fields: &[&str]) -> Result<Option<Item>> {
        let key = ActionKey::from_fields(&name.into(), None, fields);
        self.item(&self.tables.actions, key.as_str()).await
    }

    /// A resource by its kind and id.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn resource(&self, kind: &str, id: &str) -> Result<Option<Item>> {
        let key = ResourceKey::new(&kind.into(), None, id);
        self.item(&self.tables.resources, key.as_str()).await
    }

    /// Every event.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn events(&self) -> Result<Vec<Item>> {
        let items = self.aws.scan(&self.tables.events).await?.into_iter().map(Item);
        // Payloads lie in the same table, as items without a status.
        Ok(items.filter(|item| item.has("status")).collect())
    }

    /// Any item by its key.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn item(&self, table: &str, pk: &str) -> Result<Option<Item>> {
        let request = json!({ "TableName": table, "ConsistentRead": true, "Key": { "pk": { "S": pk } } });
        let mut answer = self.aws.ask("dynamodb", "DynamoDB_20120810.GetItem", &request).await?;
        let item = answer["Item"].take();
        Ok((!item.is_null()).then_some(Item(item)))
    }

    /// Up to ten messages that are visible, in the queue or the dead-letter queue.
    ///
    /// # Errors
    /// The queue does not answer.
    pub async fn receive(&self, queue: &str) -> Result<Vec<Received>> {
        let request = json!({ "QueueUrl": queue, "MaxNumberOfMessages": 10, "AttributeNames": ["All"] });
        let mut answer = self.sqs("ReceiveMessage", &request).await?;
        let messages = answer["Messages"].take();
        Ok(messages.as_array().map(|all| all.iter().cloned().map(Received).collect()).unwrap_or_default())
    }

    /// Sends a body to the queue.
    ///
    /// # Errors
    /// The queue does not answer.
    pub async fn send(&self, body: &str) -> Result<()> {
        self.sqs("SendMessage", &json!({ "QueueUrl": self.queue, "MessageBody": body })).await.map(drop)
    }

    /// Deletes a message that was received.
    ///
    /// # Errors
    /// The queue does not answer.
    pub async fn delete(&self, queue: &str, message: &Received) -> Result<()> {
        let request = json!({ "QueueUrl": queue, "ReceiptHandle": message.receipt() });
        unless_it_moved(self.sqs("DeleteMessage", &request).await)
    }

    /// Makes a message that was received visible again, as the end of its
    /// visibility timeout would.
    ///
    /// # Errors
    /// The queue does not answer.
    pub async fn show(&self, queue: &str, message: &Received) -> Result<()> {
        let request =
            json!({ "QueueUrl": queue, "ReceiptHandle": message.receipt(), "VisibilityTimeout": 0 });
        unless_it_moved(self.sqs("ChangeMessageVisibility", &request).await)
    }

    async fn sqs(&self, operation: &str, request: &Value) -> Result<Value> {
        self.aws.ask("sqs", &format!("AmazonSQS.{operation}"), request).await
    }
}

/// A message that was shown again meanwhile, to another poller or to the
/// dead-letter queue, is no longer ours: a poller lets it go.
fn unless_it_moved(answer: Result<Value>) -> Result<()> {
    let moved = ["ReceiptHandleIsInvalid", "MessageNotInflight"];
    match answer {
        Err(error) if moved.iter().any(|code| format!("{error:#}").contains(code)) => Ok(()),
        other => other.map(drop),
    }
}
