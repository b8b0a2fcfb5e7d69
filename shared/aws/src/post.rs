//! Deliveries to somebody's receiver: one POST on one fresh connection,
//! bounded in time and in what is read of the answer. Redirects are answers.

use crate::connection::{Connection, NoAnswer, NotConnected, Reach, Trust, read};
use bytes::Bytes;
use http::header::{HOST, USER_AGENT};
use http::uri::{Scheme, Uri};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Where deliveries go.
pub struct Receiver {
    url: Uri,
    trust: Option<Trust>,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A query may hold a key.
        f.debug_struct("Receiver").field("host", &self.url.host()).finish_non_exhaustive()
    }
}

/// What a receiver answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its header fields.
    pub headers: HeaderMap,
    /// The beginning of its body, if any of it came in time.
    pub body: Vec<u8>,
}

/// There was no answer; why, in words. Whether the delivery arrived is known
/// only where no connection stood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// Nothing was sent.
    #[error("{0}")]
    NotSent(String),
    /// It may have arrived.
    #[error("{0}")]
    Sent(String),
}

impl Receiver {
    /// A receiver anywhere: somebody at a terminal has named it. The root
    /// certificates of the system are read here, if it is called over TLS.
    pub fn new(url: Uri) -> Self {
        let trust = (url.scheme() == Some(&Scheme::HTTPS)).then(Trust::of_the_system);
        Self { url, trust }
    }

    /// Posts a body, and reads at most `largest` bytes of the answer's. All of
    /// it ends after `timeout`; an answer whose body is slow or breaks off is
    /// an answer.
    ///
    /// # Errors
    /// No answer; the delivery may be made again.
    pub async fn post(
        &self,
        headers: &[(String, String)],
        body: Bytes,
        timeout: Duration,
        largest: usize,
    ) -> Result<Answer, Unanswered> {
        let deadline = Instant::now() + timeout;
        let request = self.request(headers, body)?;
        match timeout_at(deadline, Connection::open(&self.url, Reach::Anywhere, self.trust.as_ref())).await {
            Ok(Ok(connection)) => {
                let answer = async |answered| match answered {
                    Ok(response) => Ok(answer(response, largest, deadline).await),
                    Err(NoAnswer(cause)) => Err(Unanswered::Sent(cause)),
                };
                connection.exchange(request, deadline, answer).await
            }
            Ok(Err(NotConnected::Failed(cause))) => Err(Unanswered::NotSent(cause)),
            Ok(Err(NotConnected::Forbidden(_))) => Err(Unanswered::NotSent("a forbidden address".to_owned())),
            Err(_) => Err(Unanswered::NotSent("no connection in time".to_owned())),
        }
    }

    fn request(&self, headers: &[(String, String)], body: Bytes) -> Result<Request<Full<Bytes>>, Unanswered> {
        let path = self.url.path_and_query().map_or("/", |path| path.as_str());
        let host = self.url.authority().map_or("", |authority| authority.as_str());
        let named = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut request = Request::builder().method(Method::POST).uri(path);
        for (name, value) in [(HOST, host), (USER_AGENT, concat!("sekali/", env!("CARGO_PKG_VERSION")))] {
            if !named(name.as_str()) {
                request = request.header(name, value);
            }
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request
            .body(Full::new(body))
            .map_err(|error| Unanswered::NotSent(format!("the request cannot be made: {error}")))
    }
}

async fn answer(response: Response<Incoming>, largest: usize, deadline: Instant) -> Answer {
    let (head, body) = response.into_parts();
    let (body, _) = read(body, largest, deadline).await;
    Answer { status: head.status.as_u16(), headers: head.headers, body }
}
