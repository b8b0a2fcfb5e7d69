//! Who is measured: which command line, and what it is handed.

use super::process::Program;
use super::shop;
use crate::e2e::destination::Destination;
use crate::e2e::vendors::{SECRETS, Vendors, unique};
use crate::metered::Metered;
use anyhow::{Context, Result, ensure};
use sekali::time::Clock;
use sekali_aws::client::Patience;
use sekali_aws::tables::create_all;
use sekali_aws::{Aws, SystemClock, Tables};
use sekali_cli::local::emulator::Emulator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tables, as the functions' environment names them.
const TABLES: [(&str, &str); 3] = [
    ("SEKALI_EVENTS_TABLE", "bench-events"),
    ("SEKALI_RESOURCES_TABLE", "bench-resources"),
    ("SEKALI_ACTIONS_TABLE", "bench-actions"),
];

/// Everything around the subjects of one run.
pub struct Ground {
    /// AWS with a meter.
    pub metered: Metered,
    /// Where effects happen.
    pub destination: Destination,
    /// Who signs.
    pub vendors: Vendors,
    folder: PathBuf,
    called: Called,
}

/// Where the functions find AWS.
#[derive(Debug, Clone)]
struct Called {
    url: String,
    queue_url: String,
}

/// What a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Behind API Gateway: a delivery in, 2xx out.
    Receiver,
    /// Behind SQS: a message in, no failure out.
    Processor,
}

/// One subject.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its name in the report.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// How it is started.
    pub program: Program,
}

impl Ground {
    /// With empty tables and a shop of so many endpoints; files go to `folder`.
    ///
    /// # Errors
    /// Something cannot be started or written.
    pub async fn new(folder: &Path, endpoints: usize) -> Result<Self> {
        let destination = Destination::start(0, &["packing"]).await?;
        let vendors = shop::open(&folder.join("config"), endpoints, destination.port())?;
        let metered = Metered::start().await?;
        let called =
            Called { url: metered.url(), queue_url: "http://127.0.0.1/000000000000/bench".to_owned() };
        Ok(Self { metered, destination, vendors, folder: folder.to_owned(), called })
    }

    /// The same on an emulator of AWS, which takes its time and is not counted.
    ///
    /// # Errors
    /// Something cannot be started, made or written.
    pub async fn on(emulator: &Emulator, folder: &Path) -> Result<Self> {
        let url = emulator.aws.endpoint();
        let variables = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(url.clone()),
            "AWS_REGION" => Some("us-east-1".to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("invented".to_owned()),
            _ => None,
        };
        let aws = Aws::from_variables(Patience::PERSON, variables)?;
        let [events, resources, actions] = TABLES.map(|(_, name)| name.to_owned());
        create_all(&aws.dynamodb(), &Tables { events, resources, actions }).await?;
        let queue = aws.sqs().create_queue().queue_name("bench").send().await?;
        let queue_url = queue.queue_url.context("the emulator gave the queue no address")?;
        let ground = Self::new(folder, 1).await?;
        Ok(Self { called: Called { url, queue_url }, ..ground })
    }

    /// A subject with this command line.
    pub fn subject(&self, name: &str, kind: Kind, command: Vec<String>) -> Subject {
        let log = self.folder.join(format!("{name}.log"));
        Subject {
            name: name.to_owned(),
            kind,
            program: Program { command, variables: self.variables(), log },
        }
    }

    /// A function's environment, as the template sets it.
    fn variables(&self) -> BTreeMap<String, String> {
        let (days, visibility) = ("345600", "360");
        let config = self.folder.join("config").display().to_string();
        let of_the_template = [
            ("SEKALI_QUEUE_URL", self.called.queue_url.as_str()),
            ("SEKALI_QUEUE_RETENTION_S", days),
            ("SEKALI_DLQ_RETENTION_S", days),
            ("SEKALI_VISIBILITY_S", visibility),
            ("SEKALI_PROCESSOR_TIMEOUT_S", "60"),
            ("SEKALI_STAGE", "bench"),
            ("SEKALI_ALLOW_PRIVATE_DESTINATIONS", "1"),
            ("SEKALI_CONFIG", &config),
            ("AWS_ENDPOINT_URL", &self.called.url),
            ("AWS_REGION", "us-east-1"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "invented"),
            ("AWS_SECRET_ACCESS_KEY", "invented"),
            // What a team sets beside its own receiver.
            ("POWERTOOLS_SERVICE_NAME", "bench"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ];
        let all = of_the_template.iter().chain(&TABLES).chain(&SECRETS);
        all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// A new delivery with so many bytes of text in it, as the gateway hands
    /// it on.
    ///
    /// # Errors
    /// Nobody can sign it.
    pub fn delivery(&self, filler: usize) -> Result<Value> {
        let id = unique("evt_1PInventedEvent");
        Ok(self.vendors.sign(shop::delivery(&id, filler))?.gateway_event(false))
    }

    /// The messages that were sent meanwhile, each as a batch of its own.
    pub fn batches(&self) -> Vec<Value> {
        let sent = self.metered.take_sent();
        let batch = |(number, sent): (usize, &crate::metered::Sent)| json!({ "Records": [sent.record(&format!("message-{number}"), SystemClock.now().0)] });
        sent.iter().enumerate().map(batch).collect()
    }
}

impl Kind {
    /// Whether this is the answer of one that did its work.
    ///
    /// # Errors
    /// It is not; what it is.
    pub fn check(self, answer: &Value) -> Result<()> {
        match self {
            Self::Receiver => {
                let status = answer["statusCode"].as_u64().with_context(|| format!("no status: {answer}"))?;
                ensure!((200..300).contains(&status), "answered {answer}");
            }
            Self::Processor => {
                let failures = answer["batchItemFailures"].as_array();
                ensure!(failures.is_none_or(Vec::is_empty), "answered {answer}");
            }
        }
        Ok(())
    }
}
