//! Questions to vendors' and destinations' APIs: one GET on one fresh
//! connection, bounded in time and size.

use crate::connection::{
    ALLOW_PRIVATE, Connection, End, Forbidden, NoAnswer, NotConnected, Reach, Trust, read, retry_after,
};
use bytes::Bytes;
use http::header::{ACCEPT, HOST, HeaderName, HeaderValue, LINK, USER_AGENT};
use http::uri::{Scheme, Uri};
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use sekali::ports::{Get, Got, NotGot, Outbound};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use tokio::time::{Instant, timeout_at};

/// Looks up a variable of the environment.
type Variable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Makes the calls. Root certificates are read with the first one: a function
/// without them starts sooner.
pub struct Apis {
    reach: Reach,
    trust: OnceLock<Trust>,
    variable: Variable,
}

impl std::fmt::Debug for Apis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apis").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl Apis {
    /// Asks as far as `reach` goes; plain http only where that is everywhere.
    pub fn new(reach: Reach) -> Self {
        Self { reach, trust: OnceLock::new(), variable: Arc::new(|name| std::env::var(name).ok()) }
    }

    /// Where a service of AWS is called in place of its public host: at the
    /// endpoint that the variables name which every client of AWS follows, for
    /// a network with an endpoint of its own, or an emulator. Whoever deploys
    /// sets them, so it may lie anywhere.
    fn aws_endpoint(&self, url: &Uri) -> Option<Result<Uri, NotGot>> {
        let service = aws_service(url.host()?)?;
        let own = format!("AWS_ENDPOINT_URL_{}", service.to_ascii_uppercase());
        let named = [own.as_str(), "AWS_ENDPOINT_URL"].into_iter().find_map(|name| (self.variable)(name))?;
        let endpoint = named.parse::<Uri>().ok().filter(|endpoint| endpoint.host().is_some());
        Some(endpoint.ok_or_else(|| NotGot::Forbidden(format!("{own} is no URL"))))
    }

    /// Those of whom the certificates are trusted, where the connection is secured.
    fn trust(&self, url: &Uri, reach: Reach) -> Result<Option<&Trust>, NotGot> {
        if url.scheme() == Some(&Scheme::HTTPS) {
            return Ok(Some(self.trust.get_or_init(Trust::of_the_system)));
        }
        match reach {
            Reach::Anywhere => Ok(None),
            Reach::Public => Err(NotGot::Forbidden(format!("plain http (see {ALLOW_PRIVATE})"))),
        }
    }
}

impl Outbound for Apis {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        let deadline = Instant::now() + get.timeout;
        let url: Uri =
            get.url.as_str().parse().map_err(|_| NotGot::Forbidden("the URL cannot be read".to_owned()))?;
        let (server, reach) = match self.aws_endpoint(&url).transpose()? {
            Some(endpoint) => (endpoint, Reach::Anywhere),
            None => (url.clone(), self.reach),
        };
        let trust = self.trust(&server, reach)?;
        let request = request(&url, &server, get.headers)?;
        match timeout_at(deadline, Connection::open(&server, reach, trust)).await {
            Ok(Ok(connection)) => {
                let answer = async |answered| match answered {
                    Ok(response) => answer(response, get.largest, deadline).await,
                    Err(NoAnswer(cause)) => Err(NotGot::Unknown(cause)),
                };
                connection.exchange(request, deadline, answer).await
            }
            Ok(Err(NotConnected::Forbidden(Forbidden(address)))) => {
                Err(NotGot::Forbidden(format!("the address {address} is not public (see {ALLOW_PRIVATE})")))
            }
            Ok(Err(NotConnected::Failed(cause))) => Err(NotGot::NotStarted(cause)),
            Err(_) => Err(NotGot::NotStarted("no connection in time".to_owned())),
        }
    }
}

async fn answer(response: Response<Incoming>, largest: usize, deadline: Instant) -> Result<Got, NotGot> {
    let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
    // Several fields are one list (RFC 9110, 5.3).
    let links = response.headers().get_all(LINK).iter().map(|link| String::from_utf8_lossy(link.as_bytes()));
    let link = links.reduce(|one, other| Cow::Owned(format!("{one}, {other}"))).map(Cow::into_owned);
    match read(response.into_body(), largest, deadline).await {
        (body, End::Whole) => Ok(Got { status, retry_after, link, body }),
        (_, End::TooLarge) => Err(NotGot::TooLarge(largest)),
        (_, End::Broken(cause)) => Err(NotGot::Unknown(cause)),
        (_, End::TooLate) => Err(NotGot::Unknown("the answer did not end in time".to_owned())),
    }
}

/// `sns` of `sns.eu-north-1.amazonaws.com`.
fn aws_service(host: &str) -> Option<&str> {
    let labels: Vec<&str> = host.split('.').collect();
    match labels[..] {
        [service, _, "amazonaws", "com"] | [service, _, "amazonaws", "com", "cn"] => Some(service),
        _ => None,
    }
}

/// What is asked stands in `url`, and who answers is `server`.
fn request(
    url: &Uri,
    server: &Uri,
    headers: &[(String, sekali::secret::Secret)],
) -> Result<Request<Full<Bytes>>, NotGot> {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let host = server.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::builder()
        .method(Method::GET)
        .uri(path)
        .header(HOST, host)
        .header(USER_AGENT, concat!("sekali/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json")
        .body(Full::new(Bytes::new()))
        .map_err(|error| NotGot::Forbidden(format!("the request cannot be made: {error}")))?;
    for (name, value) in headers {
        // Neither is shown: a secret pasted in the wrong place stays one.
        let bad = || NotGot::Forbidden("a header of the request cannot be sent".to_owned());
        let name = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_bytes(value.expose()).map_err(|_| bad())?;
        value.set_sensitive(true);
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
