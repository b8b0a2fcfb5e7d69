//! A receiver without Lambda and API Gateway: tables and queues of its own,
//! and the real functions, each a process that the test drives. What the
//! poller of a queue does is done here.

use super::configuration;
use super::destination::Destination;
use super::kept::{Kept, Received};
use super::proxy::Proxy;
use super::runtime_api::Ended;
use super::vendors::{SECRETS, Signed, Vendors, unique};
use super::worker::Worker;
use anyhow::{Context, Result, ensure};
use sekali_aws::client::Patience;
use sekali_aws::{Tables, tables};
use sekali_cli::local::aws::{Aws, REGION};
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::any_port;
use sekali_cli::on_call::desk::Desk;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an invocation may last: enough for the slowest destination.
pub const INVOCATION: Duration = Duration::from_secs(30);

/// How long a message that was handed out is hidden.
const VISIBILITY: Duration = Duration::from_secs(60);

/// Receives before a message moves to the dead-letter queue, as in the template.
const MAX_RECEIVES: u32 = 20;

/// A driven receiver.
pub struct Driven {
    /// Its tables and queues.
    pub kept: Kept,
    /// Where its effects happen.
    pub destination: Destination,
    /// Who sends to it.
    pub vendors: Vendors,
    builds: PathBuf,
    folder: PathBuf,
    variables: BTreeMap<String, String>,
}

/// How a vendor was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as it came.
    pub text: String,
    /// The body as JSON; null where it is none.
    pub body: Value,
}

impl Answer {
    /// From its parts.
    pub fn new(status: u16, headers: BTreeMap<String, String>, text: String) -> Self {
        let body = serde_json::from_str(&text).unwrap_or_default();
        Self { status, headers, text, body }
    }
}

impl Driven {
    /// New tables and queues on this emulator, and a destination. Logs go to
    /// a folder of its own below `folder`. The functions must have been built.
    ///
    /// # Errors
    /// The emulator refuses.
    pub async fn new(checkout: &Checkout, aws: Aws, folder: &Path) -> Result<Self> {
        Self::with(checkout, aws, folder, configuration::ENDPOINTS).await
    }

    /// The same with endpoints of the test's own.
    ///
    /// # Errors
    /// As [`Driven::new`], and where the configuration does not hold together.
    pub async fn with(checkout: &Checkout, aws: Aws, folder: &Path, endpoints: &str) -> Result<Self> {
        let name = unique("driven");
        let folder = folder.join(&name);
        let destination = Destination::start(0, &configuration::HONOURING).await?;
        let absent = any_port()?;
        let configuration =
            configuration::write_these(&folder.join("config"), endpoints, destination.port(), absent)?;
        let kept = kept(aws, &name).await?;
        let mut variables = variables(&kept);
        variables.insert("SEKALI_CONFIG".to_owned(), folder.join("config").display().to_string());
        let vendors = Vendors::new(configuration.config);
        Ok(Self { kept, destination, vendors, builds: checkout.builds(), folder, variables })
    }

    /// Gives processes that are started later a variable more, e.g. a secret.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// A new process of a function.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn worker(&self, function: &str) -> Result<Worker> {
        let bootstrap = self.builds.join(function).join("bootstrap");
        let log = self.folder.join(format!("{function}.log"));
        Worker::start(&bootstrap, &self.variables, self.kept.aws.port, &log).await
    }

    /// Brings a delivery to an ingest. `None`: it died, and the vendor hears nothing.
    ///
    /// # Errors
    /// The function failed, which it never may.
    pub async fn deliver(&self, ingest: &Worker, signed: &Signed) -> Result<Option<Answer>> {
        self.request(ingest, &signed.gateway_event(true)).await
    }

    /// The same with a request as API Gateway hands it over.
    ///
    /// # Errors
    /// As [`Driven::deliver`].
    pub async fn request(&self, ingest: &Worker, event: &Value) -> Result<Option<Answer>> {
        match ingest.invoke(event, INVOCATION).await? {
            Ended::Answered(answer) => answered(&answer).map(Some),
            Ended::Failed(error) => anyhow::bail!("ingest failed: {error}"),
            Ended::Gone => Ok(None),
        }
    }

    /// Hands up to ten messages to a processor, and deletes those that it does
    /// not report. A message that it died over is seen again at once, as after
    /// its visibility timeout. Says how many messages there were.
    ///
    /// # Errors
    /// The function failed, which it never may.
    pub async fn hand_over(&self, processor: &Worker) -> Result<usize> {
        let messages = self.kept.receive(&self.kept.queue).await?;
        if messages.is_empty() {
            return Ok(0);
        }
        let records: Vec<Value> = messages.iter().map(Received::record).collect();
        match processor.invoke(&json!({ "Records": records }), INVOCATION).await? {
            Ended::Answered(answer) => {
                let failed = failures(&answer)?;
                for message in messages.iter().filter(|message| !failed.iter().any(|id| id == message.id())) {
                    self.kept.delete(&self.kept.queue, message).await?;
                }
            }
            Ended::Failed(error) => anyhow::bail!("the processor failed: {error}"),
            Ended::Gone => {
                for message in &messages {
                    self.kept.show(&self.kept.queue, message).await?;
                }
            }
        }
        Ok(messages.len())
    }

    /// Runs the sweeper once.
    ///
    /// # Errors
    /// It failed.
    pub async fn sweep(&self, sweeper: &Worker) -> Result<Value> {
        sweeper.answer(&json!({ "source": "aws.events" }), Duration::from_secs(50)).await
    }

    /// The desk of whoever is on call for it.
    ///
    /// # Errors
    /// See [`desk`](super::desk::desk).
    pub fn desk(&self) -> Result<Desk> {
        super::desk::desk(&self.kept, &self.folder.join("config"))
    }

    /// The same, of somebody whose calls to AWS go through this proxy.
    ///
    /// # Errors
    /// See [`desk`](super::desk::desk).
    pub fn desk_through(&self, proxy: &Proxy) -> Result<Desk> {
        super::desk::desk_at(&self.kept, &self.folder.join("config"), proxy.url())
    }

    /// What `sekali COMMAND --local=FILE` reads of it, where AWS is at this address.
    pub fn environment(&self, aws: &str) -> HashMap<String, String> {
        super::desk::environment(&self.kept, &self.folder.join("config"), aws.to_owned())
    }

    /// Hands messages to a processor until the queue is empty.
    ///
    /// # Errors
    /// As [`Driven::hand_over`].
    pub async fn drain(&self, processor: &Worker) -> Result<()> {
        while self.hand_over(processor).await? > 0 {}
        Ok(())
    }

    /// The folder with what the functions said.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The ids of the records that a processor reports.
///
/// # Errors
/// It answered something else.
pub fn failures(answer: &Value) -> Result<Vec<String>> {
    let failures = answer["batchItemFailures"].as_array().context("no partial batch response")?;
    Ok(failures.iter().filter_map(|failure| failure["itemIdentifier"].as_str().map(str::to_owned)).collect())
}

/// The answer of ingest, as API Gateway passes it on.
///
/// # Errors
/// It is none.
pub fn answered(answer: &Value) -> Result<Answer> {
    let status = answer["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.with_context(|| format!("ingest answered without a status: {answer}"))?;
    let mut headers = BTreeMap::new();
    for form in ["headers", "multiValueHeaders"] {
        for (name, value) in answer[form].as_object().into_iter().flatten() {
            let value = value.as_str().or_else(|| value[0].as_str()).unwrap_or_default();
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
    }
    Ok(Answer::new(status, headers, answer["body"].as_str().unwrap_or_default().to_owned()))
}

async fn kept(aws: Aws, name: &str) -> Result<Kept> {
    let table = |kind: &str| format!("{name}-{kind}");
    let names = Tables { events: table("events"), resources: table("resources"), actions: table("actions") };
    let client = sekali_aws::Aws::from_variables(Patience::PERSON, |variable| match variable {
        "AWS_ENDPOINT_URL" => Some(aws.endpoint()),
        "AWS_REGION" => Some(REGION.to_owned()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("invented".to_owned()),
        _ => None,
    })?;
    tables::create_all(&client.dynamodb(), &names).await?;
    let dead_letters = queue(aws, &format!("{name}-dlq"), &json!({})).await?;
    let policy = json!({
        "deadLetterTargetArn": format!("arn:aws:sqs:{REGION}:000000000000:{name}-dlq"),
        "maxReceiveCount": MAX_RECEIVES,
    });
    let attributes =
        json!({ "VisibilityTimeout": VISIBILITY.as_secs().to_string(), "RedrivePolicy": policy.to_string() });
    let queue = queue(aws, name, &attributes).await?;
    Ok(Kept { aws, tables: names, queue, dead_letters })
}

async fn queue(aws: Aws, name: &str, attributes: &Value) -> Result<String> {
    let request = json!({ "QueueName": name, "Attributes": attributes });
    let answer = aws.ask("sqs", "AmazonSQS.CreateQueue", &request).await?;
    let url = answer["QueueUrl"].as_str().unwrap_or_default();
    ensure!(!url.is_empty(), "the emulator made no queue {name}: {answer}");
    Ok(url.to_owned())
}

/// A function's environment, as the template and a team set it.
fn variables(kept: &Kept) -> BTreeMap<String, String> {
    let four_days = (4 * 24 * 3600).to_string();
    let visibility = VISIBILITY.as_secs().to_string();
    let of_the_template = [
        ("SEKALI_STAGE", "driven"),
        ("SEKALI_EVENTS_TABLE", &kept.tables.events),
        ("SEKALI_RESOURCES_TABLE", &kept.tables.resources),
        ("SEKALI_ACTIONS_TABLE", &kept.tables.actions),
        ("SEKALI_QUEUE_URL", &kept.queue),
        ("SEKALI_DLQ_URL", &kept.dead_letters),
        ("SEKALI_QUEUE_RETENTION_S", &four_days),
        ("SEKALI_DLQ_RETENTION_S", &four_days),
        ("SEKALI_VISIBILITY_S", &visibility),
        ("SEKALI_PROCESSOR_TIMEOUT_S", "60"),
        ("SEKALI_ALLOW_PRIVATE_DESTINATIONS", "1"),
        ("AWS_REGION", REGION),
        ("AWS_ACCESS_KEY_ID", "invented"),
        ("AWS_SECRET_ACCESS_KEY", "invented"),
    ];
    of_the_template
        .iter()
        .chain(&SECRETS)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
