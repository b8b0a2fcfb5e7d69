//! The ingest function: verify, store, enqueue, answer.

mod delivery;

use lambda_http::{Error, run, service_fn};
use sekali::ingest::Ingest;
use sekali::time::Clock;
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::{Aws, DynamoStore, Keepers, SqsQueue, SystemClock, SystemEntropy};
use std::sync::Arc;
use std::time::Duration;

/// Reading secrets before the first delivery is not to delay it for longer: a
/// secret that is not read by then is read with the delivery that needs it.
const WARM_UP: Duration = Duration::from_secs(2);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    sekali_aws::log::start()?;
    let environment = Environment::read().inspect_err(|error| {
        tracing::error!(%error, "the function cannot start");
    })?;
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let ingest = Ingest::new(
        DynamoStore::new(aws.dynamodb(), environment.tables),
        SqsQueue::new(aws.sqs(), environment.queue_url),
        SystemClock,
        SystemEntropy::new(),
        Keepers::new(environment.folder, aws.caller()),
        Arc::new(environment.deployment),
    );
    let reading = ingest.keyring.warm(&ingest.deployment.config, SystemClock.now());
    if tokio::time::timeout(WARM_UP, reading).await.is_err() {
        tracing::warn!("not every secret was read before the first delivery");
    }
    let ingest = &ingest;
    run(service_fn(|event| async move {
        let (addressed, request) = delivery::read(event, &ingest.entropy);
        Ok::<_, Error>(delivery::write(ingest.receive(&addressed, &request).await)?)
    }))
    .await
}
