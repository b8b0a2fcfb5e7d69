//! The contract on the tables with a meter: what they count is counted of
//! calls that end as DynamoDB ends them.

use sekali_aws::{DynamoStore, Tables};
use sekali_tests::metered::Metered;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::OnceCell;

static METERED: OnceCell<Option<Metered>> = OnceCell::const_new();
static OPENED: AtomicU32 = AtomicU32::new(0);

async fn open() -> anyhow::Result<DynamoStore> {
    let metered = METERED.get_or_init(|| async { Metered::start().await.ok() }).await;
    let metered = metered.as_ref().ok_or_else(|| anyhow::anyhow!("there is no port"))?;
    // Tables of its own: what stands in the index is all that a case put there.
    let number = OPENED.fetch_add(1, Ordering::Relaxed);
    let name = |table: &str| format!("{table}-{number}");
    let tables = Tables { events: name("events"), resources: name("resources"), actions: name("actions") };
    Ok(DynamoStore::new(metered.aws()?.dynamodb(), tables))
}

sekali_tests::contract_tests!(open);
