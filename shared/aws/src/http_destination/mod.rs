//! Destinations that are HTTP services.
//!
//! One call is one fresh connection: a socket kept from an earlier call may
//! have died meanwhile, and a request written into it would end in doubt for
//! no reason. Until the connection stands, every failure is certain (the
//! request was not sent); from the first byte on, only an answer is.

mod answer;
mod switch;

use crate::connection::{ALLOW_PRIVATE, Connection, Forbidden, NoAnswer, NotConnected, Reach, Trust};
use crate::effect_result;
use crate::trace::Trace;
use answer::Answer;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::uri::{Scheme, Uri};
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use sekali::call_signature::{CallSigner, ID, SIGNATURE, SignedHeaders, TIMESTAMP};
use sekali::config::SecretRef;
use sekali::ids::DestinationName;
use sekali::ports::{Call, Destination, Outcome, Secrets, Switches};
use sekali::secrets::OutgoingSecrets;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use switch::Switchboard;
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

pub use answer::LONGEST_RETRY_AFTER;
pub use switch::{BELIEVED_FOR, place};

/// A connection that does not stand by then will hardly ever; the rest of the
/// call's time is better spent on a later attempt.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);

/// The header under which a destination can recognise a repeated call (INV-2).
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The header that counts our attempts, for the destination's logs.
pub const ATTEMPT: &str = "sekali-attempt";
/// The header that carries the id from the request to the effect.
pub const CORRELATION: &str = "sekali-correlation-id";

/// One HTTP destination of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpDestination {
    /// Where the calls go: `http` or `https`, without user and password.
    pub url: String,
    /// Statuses that the destination declares to be certain: nothing happened,
    /// whatever became of an earlier call of the same generation (INV-6).
    pub decisive: Vec<u16>,
    /// What signs its calls; with none they are not signed.
    pub secrets: Vec<SecretRef>,
}

/// Why a text is no URL of a destination; for the one who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("destination {destination}: {reason}")]
pub struct NotADestination {
    /// Which one.
    pub destination: DestinationName,
    /// What is wrong with its URL. The URL is not shown: it may hold a key.
    pub reason: NotAUrl,
}

/// What is wrong with a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotAUrl {
    /// No URL at all.
    #[error("its URL cannot be read")]
    Unreadable,
    /// Neither `http` nor `https`, or no host.
    #[error("its URL must begin with http:// or https:// and a host")]
    NoHttp,
    /// A password in a URL would end in every log.
    #[error("its URL must not hold a user or a password")]
    Userinfo,
}

/// A destination whose URL was read.
#[derive(Debug, Clone)]
struct Target {
    url: Uri,
    place: String,
    decisive: Vec<u16>,
    secrets: Vec<SecretRef>,
}

impl Target {
    fn of(destination: HttpDestination) -> Result<Self, NotAUrl> {
        let url: Uri = destination.url.parse().map_err(|_| NotAUrl::Unreadable)?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
            return Err(NotAUrl::NoHttp);
        }
        if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(NotAUrl::Userinfo);
        }
        let place = switch::place(&destination.url);
        Ok(Self { url, place, decisive: destination.decisive, secrets: destination.secrets })
    }

    fn is_https(&self) -> bool {
        self.url.scheme() == Some(&Scheme::HTTPS)
    }
}

/// All HTTP destinations of the configuration; `K` keeps their secrets, `S`
/// remembers which are switched off.
pub struct HttpDestinations<K, S> {
    known: BTreeMap<DestinationName, Target>,
    secrets: Arc<OutgoingSecrets<K>>,
    signer: CallSigner,
    switches: Switchboard<S>,
    reach: Reach,
    trust: Option<Trust>,
}

impl<K: Secrets, S: Switches> HttpDestinations<K, S> {
    /// Takes the destinations by name, and how far they may lie. The root
    /// certificates of the system are read here, once, and only if one of the
    /// destinations needs them.
    ///
    /// # Errors
    /// A URL that nothing could ever be sent to: the function must not start.
    pub fn new(
        destinations: BTreeMap<DestinationName, HttpDestination>,
        reach: Reach,
        (secrets, switches): (Arc<OutgoingSecrets<K>>, S),
    ) -> Result<Self, NotADestination> {
        let known = destinations
            .into_iter()
            .map(|(name, destination)| match Target::of(destination) {
                Ok(target) => Ok((name, target)),
                Err(reason) => Err(NotADestination { destination: name, reason }),
            })
            .collect::<Result<BTreeMap<_, _>, _>>()?;
        let trust = known.values().any(Target::is_https).then(Trust::of_the_system);
        let switches = Switchboard::new(switches);
        Ok(Self { known, secrets, signer: CallSigner::new(), switches, reach, trust })
    }

    /// The signature of a call; `None` where the destination has no secrets.
    /// One that has some is never called without (INV-10).
    async fn signature(&self, target: &Target, call: &Call<'_>) -> Result<Option<SignedHeaders>, String> {
        if target.secrets.is_empty() {
            return Ok(None);
        }
        let secrets = self.secrets.live(&target.secrets, call.at).await.map_err(|none| none.to_string())?;
        let signed = self.signer.sign(call.key.as_str(), call.at, call.body, &secrets);
        signed.map(Some).map_err(|unusable| unusable.to_string())
    }
}

impl<K: Secrets, S: Switches> Destination for HttpDestinations<K, S> {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let Some(target) = self.known.get(call.destination) else {
            // Perhaps another release knows it: nothing began, so try later.
            return Outcome::not_started(format!("no HTTP destination is named {}", call.destination));
        };
        let deadline = Instant::now() + call.timeout;
        if let Some(cause) = self.switches.off(&call, &target.place).await {
            return Outcome::rejected(cause);
        }
        let signature = match timeout_at(deadline, self.signature(target, &call)).await {
            Ok(Ok(signature)) => signature,
            Ok(Err(cause)) => return Outcome::not_started(cause),
            Err(_) => return Outcome::not_started("the secrets were not read in time"),
        };
        let request = match request(&target.url, &call, signature.as_ref()) {
            Ok(request) => request,
            Err(error) => return Outcome::rejected(format!("the request cannot be made: {error}")),
        };
        let connected = deadline.min(Instant::now() + LONGEST_CONNECT);
        let trust = self.trust.as_ref().filter(|_| target.is_https());
        match timeout_at(connected, Connection::open(&target.url, self.reach, trust)).await {
            // From here on, whatever is not an answer is unknown (INV-6).
            Ok(Ok(connection)) => {
                let meaning = async |answered: Result<Response<Incoming>, NoAnswer>| match answered {
                    Ok(response) => {
                        self.switches.answered(&call, &target.place, response.status()).await;
                        meaning(response, &target.decisive, deadline).await
                    }
                    Err(NoAnswer(cause)) => Outcome::unknown(cause),
                };
                connection.exchange(request, deadline, meaning).await
            }
            // A mistake in the configuration, not a bad moment.
            Ok(Err(NotConnected::Forbidden(Forbidden(address)))) => Outcome::rejected(format!(
                "the destination's address {address} is not public (see {ALLOW_PRIVATE})"
            )),
            Ok(Err(NotConnected::Failed(cause))) => Outcome::not_started(cause),
            Err(_) => Outcome::not_started("no connection in time"),
        }
    }
}

/// What an answer means: its head decides, its body says more of what is done.
async fn meaning(response: Response<Incoming>, decisive: &[u16], deadline: Instant) -> Outcome {
    match answer::of_head(response.status(), response.headers(), decisive) {
        Answer::Other(outcome) => outcome,
        Answer::Done => Outcome::Done(effect_result::of_body(response.into_body(), deadline).await),
    }
}

/// The request: the same bytes under the same key on every attempt (INV-2).
fn request(
    url: &Uri,
    call: &Call<'_>,
    signature: Option<&SignedHeaders>,
) -> Result<Request<Full<Bytes>>, http::Error> {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let host = url.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(HOST, host)
        .header(USER_AGENT, concat!("sekali/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(IDEMPOTENCY_KEY, call.key.as_str())
        .header(ATTEMPT, call.attempt)
        .body(Full::new(Bytes::copy_from_slice(call.body)))?;
    if let Some(signed) = signature {
        for (name, value) in
            [(ID, &signed.id), (TIMESTAMP, &signed.timestamp), (SIGNATURE, &signed.signature)]
        {
            request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
        }
    }
    // For logs alone: where they cannot be sent, the effect goes on without.
    let mut mention = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
    };
    mention(CORRELATION, call.correlation);
    if let Some(trace) = call.trace.and_then(Trace::parse) {
        mention("traceparent", &trace.w3c());
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
