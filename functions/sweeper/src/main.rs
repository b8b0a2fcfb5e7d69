//! The sweeper function: whatever was left open comes round again.

// Its futures lie deeper within each other than the compiler looks by default.
#![recursion_limit = "256"]

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use sekali::pause::Remembered;
use sekali::sweep::Sweeper;
use sekali::time::{Clock, UnixMillis};
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::{Aws, DynamoStore, SqsQueue, SystemClock, log, metric};
use std::sync::Arc;
use std::time::Duration;

/// Kept back of an invocation for the event in hand.
const RESERVE: Duration = Duration::from_secs(5);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    log::start()?;
    let environment = Environment::read().inspect_err(|error| {
        tracing::error!(%error, "the function cannot start");
    })?;
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let sweeper = Sweeper {
        store: DynamoStore::new(aws.dynamodb(), environment.tables),
        queue: SqsQueue::new(aws.sqs(), environment.queue_url),
        clock: SystemClock,
        deployment: Arc::new(environment.deployment),
        pauses: Remembered::default(),
    };
    let (sweeper, stage) = (&sweeper, environment.stage.as_str());
    run(service_fn(|event: LambdaEvent<serde_json::Value>| async move {
        let deadline = i64::try_from(event.context.deadline).unwrap_or(i64::MAX);
        let swept = log::contained(sweeper.run(UnixMillis(deadline).minus(RESERVE))).await?;
        tracing::info!(
            sweep.looked_at = swept.looked_at,
            sweep.sent = swept.sent,
            sweep.moved = swept.moved,
            sweep.left = swept.left,
            sweep.out_of_time = swept.out_of_time,
            sweep.oldest_s = swept.oldest.as_secs(),
            "swept"
        );
        metric::print(&metric::of_sweep(&swept), stage, sweeper.clock.now());
        Ok::<_, Error>(serde_json::json!({ "sent": swept.sent, "moved": swept.moved, "left": swept.left }))
    }))
    .await
}
