//! The processor function, for whoever builds one with code of their own.

mod batch;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use sekali::happened::Happenings;
use sekali::ports::{OwnCode, WithSecrets};
use sekali::process::Processor;
use sekali::secrets::OutgoingSecrets;
use sekali::time::Clock;
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::{
    Apis, Aws, Destinations, DynamoStore, Keepers, Reach, SqsQueue, SystemClock, SystemEntropy, log, metric,
};
use std::sync::Arc;
use std::time::Duration;

/// Opening a connection before the first message is not to delay it for longer.
const WARM_UP: Duration = Duration::from_secs(1);

/// Runs the processor until Lambda ends it. `own` is the code that
/// destinations of the kind `code` refer to.
///
/// # Errors
/// The environment or the configuration is not such that it could do its
/// work; the log says why.
pub async fn run(own: OwnCode) -> Result<(), Error> {
    log::start()?;
    let environment = Environment::read().inspect_err(|error| {
        tracing::error!(%error, "the function cannot start");
    })?;
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let queue = SqsQueue::new(aws.sqs(), environment.queue_url);
    let reach = Reach::from_env();
    let keepers = || Keepers::new(environment.folder.clone(), aws.caller());
    let store = DynamoStore::new(aws.dynamodb(), environment.tables);
    let kept = (Arc::new(OutgoingSecrets::new(keepers())), store.clone());
    let destinations = Destinations::new(&environment.deployment.config, (aws.effects(), reach), kept, own)
        .inspect_err(|error| tracing::error!(%error, "the function cannot start"))?;
    let processor = Processor::new(
        store,
        destinations,
        WithSecrets { outbound: Apis::new(reach), keeper: keepers() },
        SystemClock,
        SystemEntropy::new(),
        Arc::new(environment.deployment),
    );
    if tokio::time::timeout(WARM_UP, processor.store.warm_up()).await.is_err() {
        tracing::warn!("the tables did not answer before the first message");
    }
    let (processor, queue, stage) = (&processor, &queue, environment.stage.as_str());
    lambda_runtime::run(service_fn(|event: LambdaEvent<_>| async move {
        let happenings = Happenings::default();
        let response = log::contained(batch::run(processor, queue, event, &happenings)).await?;
        metric::print(&metric::of_batch(&happenings.into_all()), stage, processor.clock.now());
        Ok::<_, Error>(response)
    }))
    .await
}
