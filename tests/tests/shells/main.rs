//! The thin loops around `decide`, alone: what a processor makes of the time
//! that it has, and what a sweeper makes of what it finds.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod leases;
mod sweeper;

use sekali::config::{Retentions, load};
use sekali::deployment::Deployment;
use std::sync::Arc;
use std::time::Duration;

const ENDPOINTS: &str = r#"
[endpoint.stripe]
vendor = "stripe"
secrets = ["env:STRIPE"]
[[endpoint.stripe.rule]]
type = "checkout.session.completed"
action.pack = { order = "/data/object/metadata/order_id" }
[action]
pack = { key = ["order"], to = "packing" }
[destination]
packing = { http = "https://packing.example.com/tasks", timeout = "10s", in_doubt = "park" }
reports = { http = "https://reports.example.com/make", timeout = "14m" }
"#;

/// A call takes ten seconds at most. That of another destination may take
/// longer than any of these invocations lasts, and is in nobody's way.
const LONGEST_CALL: Duration = Duration::from_secs(10);

fn deployment() -> Arc<Deployment> {
    let config = load(("endpoints.toml", ENDPOINTS), &[]).unwrap();
    let days = |days: u64| Duration::from_secs(days * 86_400);
    let retentions = Retentions { queue: days(4), dlq: days(14) };
    Arc::new(Deployment { config, retentions, visibility: Duration::from_secs(360) })
}
