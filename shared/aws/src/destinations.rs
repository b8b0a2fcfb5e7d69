//! All destinations of a configuration, each called as its kind is.

use crate::aws_destination::{AwsDestinations, AwsEffects};
use crate::connection::Reach;
use crate::http_destination::{HttpDestination, HttpDestinations, NotADestination};
use crate::outbound::Apis;
use crate::probe::Probes;
use sekali::config::{Config, DestinationKind};
use sekali::ids::{CodeName, DestinationName};
use sekali::ports::{Call, Destination, Found, Outcome, OwnCode, Probe, Secrets, Switches};
use sekali::secrets::OutgoingSecrets;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Why the destinations of a configuration cannot be called: the function
/// must not start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotReachable {
    /// A URL that nothing can be sent to.
    #[error(transparent)]
    Http(#[from] NotADestination),
    /// Code that is not in this processor.
    #[error("destination {destination}: no code is registered as `{code}`; there is {known}")]
    NoCode {
        /// Which destination.
        destination: DestinationName,
        /// The name that it asks for.
        code: CodeName,
        /// Those that are registered.
        known: String,
    },
}

/// All destinations; `K` keeps the secrets of those that have some, `S`
/// remembers which are switched off.
pub struct Destinations<K, S> {
    http: HttpDestinations<K, S>,
    aws: AwsDestinations,
    code: BTreeMap<DestinationName, CodeName>,
    own: OwnCode,
    probes: Probes<Apis, K>,
}

impl<K: Secrets, S: Switches> Destinations<K, S> {
    /// Takes every destination of the configuration.
    ///
    /// # Errors
    /// See [`NotReachable`]: the function must not start.
    pub fn new(
        config: &Config,
        (effects, reach): (AwsEffects, Reach),
        (secrets, switches): (Arc<OutgoingSecrets<K>>, S),
        own: OwnCode,
    ) -> Result<Self, NotReachable> {
        let mut http = BTreeMap::new();
        let mut code = BTreeMap::new();
        for known in config.destinations.values() {
            match &known.kind {
                DestinationKind::Http(url) => {
                    let destination = HttpDestination {
                        url: url.clone(),
                        decisive: known.decisive.statuses.clone(),
                        secrets: known.secrets.clone(),
                    };
                    http.insert(known.name.clone(), destination);
                }
                DestinationKind::Code(name) if own.get(name).is_some() => {
                    code.insert(known.name.clone(), name.clone());
                }
                DestinationKind::Code(name) => {
                    let (destination, code) = (known.name.clone(), name.clone());
                    return Err(NotReachable::NoCode { destination, code, known: own.names() });
                }
                DestinationKind::Sqs(_) | DestinationKind::Function(_) | DestinationKind::EventBridge(_) => {}
            }
        }
        let probes = Probes::new(config, Apis::new(reach), Arc::clone(&secrets));
        let http = HttpDestinations::new(http, reach, (secrets, switches))?;
        let aws = AwsDestinations::new(config.destinations.values(), effects);
        Ok(Self { http, aws, code, own, probes })
    }
}

impl<K: Secrets, S: Switches> Destination for Destinations<K, S> {
    async fn call(&self, call: Call<'_>) -> Outcome {
        if let Some(code) = self.code.get(call.destination).and_then(|name| self.own.get(name)) {
            return code.call(call).await;
        }
        match self.aws.knows(call.destination) {
            true => self.aws.call(call).await,
            false => self.http.call(call).await,
        }
    }

    async fn probe(&self, probe: Probe<'_>) -> Found {
        self.probes.ask(probe).await
    }
}
