//! DynamoDB for the tests: where `AWS_ENDPOINT_URL_DYNAMODB` says, else an
//! emulator of our own from the project's tool folder.

use crate::contract::Inspected;
use crate::memory::Expiry;
use anyhow::{Context, anyhow, ensure};
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::key::{EventHash, EventKey};
use sekali::time::ExpiresAt;
use sekali_aws::client::Patience;
use sekali_aws::{Aws, DynamoStore, Tables};
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::{Emulator, any_port};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use tokio::sync::OnceCell;

/// The settings of the process that runs the tests, where they name a
/// DynamoDB, and otherwise of the emulator that it started.
static SETTINGS: OnceCell<Result<Settings, String>> = OnceCell::const_new();

enum Settings {
    Environment,
    /// The emulator ends with the process that holds it, however that ends.
    Own(Emulator),
}

impl Settings {
    async fn new(folder: &Path) -> anyhow::Result<Self> {
        if std::env::var_os("AWS_ENDPOINT_URL_DYNAMODB").is_some() {
            return Ok(Self::Environment);
        }
        let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
        std::fs::create_dir_all(folder)?;
        let emulator = Emulator::start(&checkout, folder, any_port()?).await;
        emulator.map(Self::Own).context("there is no DynamoDB to test with")
    }

    fn aws(&self) -> anyhow::Result<Aws> {
        let endpoint = match self {
            Self::Environment => return Ok(Aws::from_env(Patience::PERSON)?),
            Self::Own(emulator) => emulator.aws.endpoint(),
        };
        let aws = Aws::from_variables(Patience::PERSON, |name| match name {
            "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
            "AWS_REGION" => Some(sekali_cli::local::aws::REGION.to_owned()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("invented".to_owned()),
            _ => None,
        });
        Ok(aws?)
    }
}

/// A store with empty tables of its own. The emulator, if one is needed,
/// keeps its log in `folder`.
///
/// # Errors
/// One sentence says what is missing.
pub async fn fresh_store(folder: &Path) -> anyhow::Result<DynamoStore> {
    let settings =
        SETTINGS.get_or_init(|| async { Settings::new(folder).await.map_err(|error| format!("{error:#}")) });
    let settings = settings.await.as_ref().map_err(|error| anyhow!("{error}"))?;
    let client = settings.aws()?.dynamodb();
    let drawn = RandomState::new().hash_one("tables");
    let name = |table: &str| format!("contract-{drawn:016x}-{table}");
    let tables = Tables { events: name("events"), resources: name("resources"), actions: name("actions") };
    sekali_aws::tables::create_all(&client, &tables).await?;
    Ok(DynamoStore::new(client, tables))
}

/// The stored form of a payload's keys and of its TTL is pinned here: another
/// one would lose every payload that is stored already.
impl Inspected for DynamoStore {
    async fn payload_expiry(&self, key: &EventKey, hash: &EventHash) -> anyhow::Result<Expiry> {
        let pk = format!("payload|{}:{key}|{hash}", key.as_str().len());
        let Some(head) = raw(self, pk).await? else { return Ok(Expiry::Absent) };
        let expiry = ttl(&head)?;
        if let (Some(AttributeValue::S(digest)), Some(AttributeValue::N(parts))) =
            (head.get("digest"), head.get("parts"))
        {
            for part in 0..parts.parse::<usize>()? {
                let part = raw(self, format!("part|{digest}|{part}")).await?.context("a part is missing")?;
                // INV-9: no part goes before its head.
                let outlasts = match (ttl(&part)?, expiry) {
                    (Expiry::Kept, _) => true,
                    (Expiry::At(part), Expiry::At(head)) => part >= head,
                    _ => false,
                };
                ensure!(outlasts, "{part:?} goes before its head, {expiry:?}");
            }
        }
        Ok(expiry)
    }
}

async fn raw(store: &DynamoStore, pk: String) -> anyhow::Result<Option<HashMap<String, AttributeValue>>> {
    let request = store.client().get_item().table_name(&store.tables().events).consistent_read(true);
    Ok(request.key("pk", AttributeValue::S(pk)).send().await?.item)
}

fn ttl(item: &HashMap<String, AttributeValue>) -> anyhow::Result<Expiry> {
    match item.get("expires_at") {
        None => Ok(Expiry::Kept),
        Some(AttributeValue::N(seconds)) => Ok(Expiry::At(ExpiresAt(seconds.parse()?))),
        Some(other) => Err(anyhow!("a TTL that DynamoDB does not read: {other:?}")),
    }
}
