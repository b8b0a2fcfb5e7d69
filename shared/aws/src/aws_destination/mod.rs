//! Destinations in AWS: a queue, a bus, a function.
//!
//! Each is one signed call of our own on one fresh connection. An SDK would
//! repeat a call by itself, which only a destination that honours the key may
//! see (INV-2), and would not say whether a request was sent before it broke
//! (INV-6).

mod answer;
mod caller;
mod events;
mod function;
mod sqs;
#[cfg(test)]
mod tests;

pub use caller::AwsEffects;
pub(crate) use caller::EffectAddresses;

use sekali::config::{AwsTarget, DestinationKind};
use sekali::ids::DestinationName;
use sekali::ports::{Call, Destination, Outcome};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// One destination in AWS.
#[derive(Debug, Clone)]
enum Target {
    Queue(AwsTarget),
    Bus(AwsTarget),
    Function { function: AwsTarget, decisive: Vec<String> },
}

/// All destinations of the configuration that are called in AWS.
pub struct AwsDestinations {
    known: BTreeMap<DestinationName, Target>,
    effects: AwsEffects,
    /// Addresses of queues that were looked up, for the life of the process.
    queues: Mutex<HashMap<AwsTarget, String>>,
}

impl AwsDestinations {
    /// Takes those of the destinations that are called in AWS.
    pub fn new<'a>(
        destinations: impl IntoIterator<Item = &'a sekali::config::Destination>,
        effects: AwsEffects,
    ) -> Self {
        let known = destinations.into_iter().filter_map(|destination| {
            let target = match &destination.kind {
                DestinationKind::Sqs(queue) => Target::Queue(queue.clone()),
                DestinationKind::EventBridge(bus) => Target::Bus(bus.clone()),
                DestinationKind::Function(function) => Target::Function {
                    function: function.clone(),
                    decisive: destination.decisive.errors.clone(),
                },
                DestinationKind::Http(_) | DestinationKind::Code(_) => return None,
            };
            Some((destination.name.clone(), target))
        });
        Self { known: known.collect(), effects, queues: Mutex::default() }
    }

    /// Whether it is one of them.
    pub fn knows(&self, destination: &DestinationName) -> bool {
        self.known.contains_key(destination)
    }

    fn known_queue(&self, queue: &AwsTarget) -> Option<String> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).get(queue).cloned()
    }

    fn remember(&self, queue: &AwsTarget, url: String) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.clone(), url);
    }
}

impl Destination for AwsDestinations {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let deadline = Instant::now() + call.timeout;
        let Some(body) = keyed(&call) else {
            return Outcome::rejected("the request is no JSON object in UTF-8");
        };
        match self.known.get(call.destination) {
            Some(Target::Queue(queue)) => self.send(queue, &call, body, deadline).await,
            Some(Target::Bus(bus)) => self.put(bus, &call, body, deadline).await,
            Some(Target::Function { function, decisive }) => {
                self.invoke((function, decisive), &call, body, deadline).await
            }
            // Perhaps another release knows it: nothing began, so try later.
            None => Outcome::not_started(format!("no destination in AWS is named {}", call.destination)),
        }
    }
}

/// The frozen envelope with the key as its first member, since nothing else of
/// such a call would carry it: the same text on every attempt (INV-2).
fn keyed(call: &Call<'_>) -> Option<String> {
    let members = std::str::from_utf8(call.body).ok()?.strip_prefix('{')?;
    let comma = if members.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{{\"idempotency_key\":\"{}\"{comma}{members}", call.key.as_str()))
}
