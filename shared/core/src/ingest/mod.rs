//! The way of a delivery: find the endpoint, answer handshakes, verify over the
//! raw bytes, read the few fields that matter, make each event durable,
//! enqueue, answer.

mod admit;
pub mod answer;
mod event;
mod handshake;
mod keep;
pub mod listed;
mod repeated;
pub mod stored;
pub mod tally;
mod verify;

pub use event::MOST_EVENTS;
pub use keep::NotKept;
pub use repeated::Repeated;

use crate::config::Endpoint;
use crate::deployment::Deployment;
use crate::http::Request;
use crate::ids::{CorrelationId, EndpointName, Tenant};
use crate::ports::{Entropy, KeyDocuments, Queue, Secrets, Store};
use crate::rate::Bucket;
use crate::secret::SecretPlace;
use crate::secrets::{Keyring, Matched};
use crate::time::{Clock, UnixMillis};
use admit::{Admitted, content_type};
use answer::{Answer, Outcome, Refused, Taken};
use event::Drafts;
use futures_util::{StreamExt, stream};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use tally::{Counted, Tally};

/// Events of one delivery that are made durable side by side: a batch of
/// hundreds must fit a vendor's deadline without hundreds of open requests.
const SIDE_BY_SIDE: usize = 32;

/// Ingest over its ports.
pub struct Ingest<S, Q, C, E, K> {
    /// The tables.
    pub store: S,
    /// The queue.
    pub queue: Q,
    /// Time.
    pub clock: C,
    /// Randomness.
    pub entropy: E,
    /// Endpoints, rules and windows.
    pub deployment: Arc<Deployment>,
    /// What each endpoint verifies with.
    pub keyring: Keyring<K>,
    /// How much each endpoint with a rate was called.
    rates: Mutex<HashMap<EndpointName, Bucket>>,
    /// How often the cause of a refusal was looked for at each endpoint.
    guesses: Mutex<HashMap<EndpointName, Bucket>>,
}

/// Where a request was addressed, from where, and how it can be followed: what
/// the gateway says and no header does.
#[derive(Debug, Clone)]
pub struct Addressed {
    /// The `{endpoint}` of the path.
    pub endpoint: String,
    /// The `{tenant}` of the path.
    pub tenant: Option<String>,
    /// The address that called the gateway. `None`: the gateway does not say,
    /// and it is in no network.
    pub from: Option<IpAddr>,
    /// From the gateway, or drawn.
    pub correlation: CorrelationId,
    /// The tracing header's text.
    pub trace: Option<String>,
}

/// A delivery on its way, after its endpoint was found.
struct Arrived<'a> {
    endpoint: &'a Endpoint,
    /// The tenant of the path, where the endpoint has it there.
    tenant: Option<Tenant>,
    addressed: &'a Addressed,
    request: &'a Request,
    now: UnixMillis,
}

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// Ingest as a process begins: no secret is read yet, no rate used up.
    pub fn new(store: S, queue: Q, clock: C, entropy: E, secrets: K, deployment: Arc<Deployment>) -> Self {
        let keyring = Keyring::new(secrets);
        Self {
            store,
            queue,
            clock,
            entropy,
            deployment,
            keyring,
            rates: Mutex::default(),
            guesses: Mutex::default(),
        }
    }

    /// Answers one delivery. A 2xx promises that every event of it and the
    /// payloads they point to are durable (INV-1), those excepted that a guard
    /// filters; an unverified body has caused no write (INV-10).
    pub async fn receive(&self, addressed: &Addressed, request: &Request) -> Answer {
        self.receive_counted(addressed, request).await.0
    }

    /// The same, and what the delivery came to.
    pub async fn receive_counted<'a>(
        &'a self,
        addressed: &'a Addressed,
        request: &'a Request,
    ) -> (Answer, Tally<'a>) {
        let mut tally = Tally::beginning(self.clock.monotonic());
        let mut answer = match self.answered(addressed, request, &mut tally).await {
            Ok(answer) => answer,
            Err(refused) => {
                tally.refused(&refused);
                tracing::info!(
                    endpoint.name = %addressed.endpoint,
                    correlation.id = %addressed.correlation,
                    delivery.result = refused.as_str(),
                    "delivery refused"
                );
                refused.answer(&addressed.correlation)
            }
        };
        if request.method == "HEAD" {
            answer.body.clear();
        }
        tally.answer = answer.status;
        tally.answered_after = self.clock.monotonic().0.saturating_sub(tally.began.0);
        (answer, tally)
    }

    async fn answered<'a>(
        &'a self,
        addressed: &'a Addressed,
        request: &'a Request,
        tally: &mut Tally<'a>,
    ) -> Result<Answer, Refused> {
        let arrived = self.find(addressed, request)?;
        tally.endpoint = Some(arrived.endpoint);
        if let Admitted::Filtered = self.admit(&arrived)? {
            return Ok(told(&arrived, &Outcome::filtered(), tally));
        }
        if let Some(answer) = self.unsigned_handshake(&arrived).await? {
            tally.handshake = true;
            return Ok(answer);
        }
        content_type(&arrived)?;
        let matched = self.verify(&arrived, tally).await?;
        if let Some(answer) = self.signed_handshake(&arrived, &matched, tally).await? {
            tally.handshake = true;
            return Ok(answer);
        }
        let outcome = self.take(&arrived, &matched, tally).await?;
        Ok(told(&arrived, &outcome, tally))
    }

    /// Keeps the events of a verified delivery.
    async fn take<'a>(
        &self,
        arrived: &Arrived<'a>,
        matched: &Matched,
        tally: &mut Tally<'a>,
    ) -> Result<Outcome, Refused> {
        let drafts = Drafts::read(arrived, matched)?;
        tally.types(arrived.endpoint, &drafts);
        let filtered = drafts.filtered;
        let (taken, repeated): (Vec<_>, Vec<_>) =
            self.keep_all(arrived, drafts, (matched.secret, tally)).await?.into_iter().unzip();
        // A result is one event's: a batch hears how many of each there are.
        let repeated = repeated.into_iter().next().flatten().filter(|_| taken.len() == 1 && filtered == 0);
        Ok(Outcome { taken, filtered, secret: matched.secret, repeated })
    }

    /// Makes every event durable and sends its message, side by side. One that
    /// is not kept makes the answer 503, and the vendor's retry adds it; those
    /// that are kept go their way meanwhile.
    async fn keep_all(
        &self,
        arrived: &Arrived<'_>,
        drafts: Drafts,
        (secret, tally): (Option<SecretPlace>, &mut Tally<'_>),
    ) -> Result<Vec<(Taken, Option<Repeated>)>, Refused> {
        let began = tally.began;
        let limits = self.deployment.limits(&arrived.endpoint.name);
        let trace = arrived.addressed.trace.as_deref();
        let kept: Vec<_> = stream::iter(drafts.events)
            .map(|draft| async {
                let (event, payload) = draft.into_event(arrived, &limits, &self.entropy);
                let hold = event.progress.reason.as_ref().map(|reason| reason.slug);
                let key = event.key.clone();
                let kept = self.keep(event, &payload, &limits).await?;
                let deferred = match &kept.enqueue {
                    Some(event) => !self.enqueue(event, trace).await,
                    None => false,
                };
                let repeated = self.repeated(arrived, kept.taken, kept.met.as_ref()).await?;
                let counted = Counted { taken: kept.taken, hold, deferred };
                let took = self.clock.monotonic().0.saturating_sub(began.0);
                counted.log(arrived, &key, (secret, took));
                Ok((counted, repeated))
            })
            .buffered(SIDE_BY_SIDE)
            .collect::<Vec<Result<(Counted, Option<Repeated>), NotKept>>>()
            .await;
        let (endpoint, correlation) = (&arrived.endpoint.name, &arrived.addressed.correlation);
        for kept in &kept {
            match kept {
                Ok((counted, _)) => tally.kept(counted),
                Err(error) => {
                    tracing::error!(endpoint.name = %endpoint, correlation.id = %correlation, %error, "an event was not kept");
                }
            }
        }
        let kept = kept.into_iter().map(|kept| kept.map(|(counted, repeated)| (counted.taken, repeated)));
        kept.collect::<Result<_, _>>().map_err(|_| Refused::Unavailable)
    }
}

/// Logs what became of a delivery, and how that is answered.
fn told(arrived: &Arrived<'_>, outcome: &Outcome, tally: &mut Tally<'_>) -> Answer {
    outcome.log_left_out(arrived);
    tally.left_out(outcome);
    if let Some(repeated) = &outcome.repeated {
        return repeated.answer(&arrived.addressed.correlation);
    }
    acknowledged(arrived, outcome.answer(&arrived.addressed.correlation))
}

/// The vendor's own words where it wants to hear them, else ours.
fn acknowledged(arrived: &Arrived<'_>, mut answer: Answer) -> Answer {
    let reply = arrived.endpoint.vendor.reply();
    if let Some(status) = reply.ok_status {
        answer.status = status;
    }
    if let Some(body) = &reply.ok_body {
        answer.body.clone_from(body);
        answer.content_type.clone_from(&reply.ok_content_type);
    }
    for name in &reply.echo {
        let mut values = arrived.request.headers.all(name);
        let value = values.next().filter(|_| values.next().is_none());
        // Only what a header can hold goes back in one.
        let text = value.and_then(|value| std::str::from_utf8(value).ok());
        answer.headers.extend(
            text.filter(|text| !text.contains(char::is_control)).map(|text| (name.clone(), text.to_owned())),
        );
    }
    answer
}
