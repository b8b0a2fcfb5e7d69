//! One signed call, and how far it came.

use crate::aws_signature::{AwsSigner, NotSigned};
use crate::connection::{Connection, End, NoAnswer, NotConnected, Reach, Trust, read};
use crate::effect_result::LARGEST_ANSWER_READ;
use bytes::Bytes;
use http::header::{HOST, HeaderName, HeaderValue};
use http::uri::{Scheme, Uri};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// A connection that does not stand by then will hardly ever.
const LONGEST_CONNECT: Duration = Duration::from_secs(3);

/// A service of AWS that takes effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Sqs,
    Lambda,
    Events,
}

impl Service {
    /// Its name in addresses and signatures.
    fn name(self) -> &'static str {
        match self {
            Self::Sqs => "sqs",
            Self::Lambda => "lambda",
            Self::Events => "events",
        }
    }
}

/// Where the services are, instead of AWS's own addresses.
#[derive(Debug, Clone, Default)]
pub(crate) struct EffectAddresses {
    pub sqs: Option<String>,
    pub lambda: Option<String>,
    pub events: Option<String>,
}

/// What is asked of a service.
pub(super) struct Asked<'a> {
    pub service: Service,
    pub path: &'a str,
    pub headers: &'a [(&'static str, &'a str)],
    pub body: Vec<u8>,
}

/// How far a call came.
pub(super) enum Came {
    /// To an answer, its body read as far as it is taken.
    Answered { status: u16, headers: HeaderMap, body: Vec<u8>, end: End },
    /// Nothing was sent, for certain.
    NotSent(String),
    /// Sent, or part of it, and no answer.
    Unanswered(String),
}

/// Makes the calls to destinations in AWS, each over a connection of its own.
pub struct AwsEffects {
    signer: AwsSigner,
    addresses: EffectAddresses,
    trust: OnceLock<Trust>,
}

impl AwsEffects {
    pub(crate) fn new(signer: AwsSigner, addresses: EffectAddresses) -> Self {
        Self { signer, addresses, trust: OnceLock::new() }
    }

    /// Makes one call; it is never repeated here (INV-2).
    pub(super) async fn call(&self, asked: Asked<'_>, deadline: Instant) -> Came {
        let (url, request) = match self.request(asked) {
            Ok(made) => made,
            Err(cause) => return Came::NotSent(format!("the request cannot be made: {cause}")),
        };
        let trust =
            (url.scheme() == Some(&Scheme::HTTPS)).then(|| self.trust.get_or_init(Trust::of_the_system));
        let connected = deadline.min(Instant::now() + LONGEST_CONNECT);
        // The address is AWS's, or the one that the environment names.
        match timeout_at(connected, Connection::open(&url, Reach::Anywhere, trust)).await {
            Ok(Ok(connection)) => {
                let came = async |answered| match answered {
                    Ok(response) => answered_with(response, deadline).await,
                    Err(NoAnswer(cause)) => Came::Unanswered(cause),
                };
                connection.exchange(request, deadline, came).await
            }
            Ok(Err(NotConnected::Failed(cause))) => Came::NotSent(cause),
            Ok(Err(NotConnected::Forbidden(_))) => Came::NotSent("the address may not be called".to_owned()),
            Err(_) => Came::NotSent("no connection in time".to_owned()),
        }
    }

    fn address(&self, service: Service) -> String {
        let known = match service {
            Service::Sqs => &self.addresses.sqs,
            Service::Lambda => &self.addresses.lambda,
            Service::Events => &self.addresses.events,
        };
        let given = known.as_ref().map(|url| url.trim_end_matches('/').to_owned());
        given.unwrap_or_else(|| self.signer.address(service.name()))
    }

    fn request(&self, asked: Asked<'_>) -> Result<(Uri, Request<Full<Bytes>>), NotSigned> {
        let Asked { service, path, headers, body } = asked;
        let text = format!("{}{path}", self.address(service));
        let url: Uri = text.parse()?;
        let signed = self.signer.sign(service.name(), &text, headers, &body)?;
        let host = url.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(url.path_and_query().map_or("/", |path| path.as_str()))
            .header(HOST, host)
            .body(Full::new(Bytes::from(body)))?;
        let plain = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        for (name, value) in plain.chain(signed) {
            request.headers_mut().insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
        }
        Ok((url, request))
    }
}

async fn answered_with(response: Response<Incoming>, deadline: Instant) -> Came {
    let (head, body) = response.into_parts();
    let (body, end) = read(body, LARGEST_ANSWER_READ, deadline).await;
    Came::Answered { status: head.status.as_u16(), headers: head.headers, body, end }
}
