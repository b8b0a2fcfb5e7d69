//! The ingest function: verify, store, enqueue, answer.

mod delivery;

use lambda_http::{Error, run, service_fn};
use sekali::ingest::Ingest;
use sekali::time::Clock;
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::{Aws, DynamoStore, Keepers, SqsQueue, SystemClock, SystemEntropy, log, metric};
use std::sync::Arc;
use std::time::Duration;

/// Reading secrets and opening connections before the first delivery is not to
/// delay it for longer: what is not there by then comes with the delivery that
/// needs it.
const WARM_UP: Duration = Duration::from_secs(2);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    log::start()?;
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
    // While a function starts it has a whole processor to itself: a handshake
    // that takes 4 ms of it here takes 15 with the first delivery.
    let warming = async {
        let reading = ingest.keyring.warm(&ingest.deployment.config, SystemClock.now());
        tokio::join!(reading, ingest.store.warm_up(), ingest.queue.warm_up())
    };
    if tokio::time::timeout(WARM_UP, warming).await.is_err() {
        tracing::warn!("not everything was warm before the first delivery");
    }
    let (ingest, stage) = (&ingest, environment.stage.as_str());
    run(service_fn(|event| async move {
        let delivery = async {
            let (addressed, request) = delivery::read(event, &ingest.entropy);
            let (answer, tally) = ingest.receive_counted(&addressed, &request).await;
            metric::print(&metric::of_delivery(&tally), stage, ingest.clock.now());
            answer
        };
        Ok::<_, Error>(delivery::write(log::contained(delivery).await?)?)
    }))
    .await
}
