//! The ingest function: verify, store, enqueue, answer.

mod delivery;

use lambda_http::{Error, run, service_fn};
use sekali::ingest::{Ingest, Ready};
use sekali_aws::client::Patience;
use sekali_aws::deployment::Environment;
use sekali_aws::secrets::read_env;
use sekali_aws::{Aws, DynamoStore, SqsQueue, SystemClock, SystemEntropy};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    sekali_aws::log::start()?;
    let environment = Environment::read().inspect_err(|error| {
        tracing::error!(%error, "the function cannot start");
    })?;
    let aws = Aws::from_env(Patience::FUNCTION)?;
    let mut ready = std::collections::HashMap::new();
    for (name, endpoint) in &environment.deployment.config.endpoints {
        let secrets =
            endpoint.secrets.iter().map(|secret| read_env(secret).map_err(|error| error.to_string()));
        let (state, problems) = Ready::with(endpoint, secrets.collect());
        for problem in problems {
            tracing::error!(endpoint.name = %name, secret.problem = %problem, "a secret cannot be used");
        }
        ready.insert(name.clone(), state);
    }
    let ingest = Ingest {
        store: DynamoStore::new(aws.dynamodb(), environment.tables),
        queue: SqsQueue::new(aws.sqs(), environment.queue_url),
        clock: SystemClock,
        entropy: SystemEntropy::new(),
        deployment: Arc::new(environment.deployment),
        ready,
    };
    let ingest = &ingest;
    run(service_fn(|event| async move {
        let (addressed, request) = delivery::read(event, &ingest.entropy);
        delivery::write(ingest.receive(&addressed, &request).await)
    }))
    .await
}
