//! The processor function: claim, effect, complete.

mod batch;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use sekali::config::DestinationKind;
use sekali::ports::WithSecrets;
use sekali::process::Processor;
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::{
    Apis, Aws, DynamoStore, HttpDestination, HttpDestinations, Keepers, Reach, SqsQueue, SystemClock,
    SystemEntropy,
};
use std::sync::Arc;
use std::time::Duration;

/// Opening a connection before the first message is not to delay it for longer.
const WARM_UP: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    sekali_aws::log::start()?;
    let environment = Environment::read().inspect_err(|error| {
        tracing::error!(%error, "the function cannot start");
    })?;
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let queue = SqsQueue::new(aws.sqs(), environment.queue_url);
    let destinations =
        environment.deployment.config.destinations.values().filter_map(|known| match &known.kind {
            DestinationKind::Http(url) => Some((
                known.name.clone(),
                HttpDestination { url: url.clone(), decisive: known.decisive.clone() },
            )),
            _ => None,
        });
    let processor = Processor::new(
        DynamoStore::new(aws.dynamodb(), environment.tables),
        HttpDestinations::new(destinations.collect(), Reach::from_env())?,
        WithSecrets {
            outbound: Apis::new(Reach::from_env()),
            keeper: Keepers::new(environment.folder, aws.caller()),
        },
        SystemClock,
        SystemEntropy::new(),
        Arc::new(environment.deployment),
    );
    if tokio::time::timeout(WARM_UP, processor.store.warm_up()).await.is_err() {
        tracing::warn!("the tables did not answer before the first message");
    }
    let (processor, queue) = (&processor, &queue);
    run(service_fn(|event: LambdaEvent<_>| async move {
        Ok::<_, Error>(batch::run(processor, queue, event).await)
    }))
    .await
}
