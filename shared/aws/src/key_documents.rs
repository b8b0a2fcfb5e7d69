//! The servers on which vendors publish their keys.
//!
//! Where a server lies does not matter: its name is pinned by the vendor's
//! description, and TLS proves that it is the one of that name. A name that
//! resolves to the inside of a network finds nobody there who could prove it,
//! unless the team put the vendor's own private address there.

use crate::connection::{Connection, End, NoAnswer, NotConnected, Reach, Trust, read};
use bytes::Bytes;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use sekali::ports::{KeyDocuments, LARGEST_KEY_DOCUMENT, NoKeyDocument};
use sekali::vendor::KeyUrl;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// For the whole call. A vendor waits for it, and the most impatient ones wait
/// for three seconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Fetches what vendors publish. Root certificates are read with the first
/// document: most functions never need one.
pub struct KeyServers {
    trust: OnceLock<Trust>,
    patience: Duration,
    /// Another port than that of TLS, for a server on this machine.
    #[cfg(test)]
    port: Option<u16>,
}

impl Default for KeyServers {
    fn default() -> Self {
        Self {
            trust: OnceLock::new(),
            patience: PATIENCE,
            #[cfg(test)]
            port: None,
        }
    }
}

impl std::fmt::Debug for KeyServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyServers")
    }
}

impl KeyDocuments for KeyServers {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        let deadline = Instant::now() + self.patience;
        let trust = self.trust.get_or_init(Trust::of_the_system);
        let request =
            request(url).map_err(|error| NoKeyDocument::Unavailable(format!("no request: {error}")))?;
        let server = self.server(url)?;
        match timeout_at(deadline, Connection::open(&server, Reach::Anywhere, Some(trust))).await {
            Ok(Ok(connection)) => {
                let document = async |answered| match answered {
                    Ok(response) => document(response, deadline).await,
                    Err(NoAnswer(cause)) => Err(NoKeyDocument::Unavailable(cause)),
                };
                connection.exchange(request, deadline, document).await
            }
            Ok(Err(NotConnected::Failed(cause))) => Err(NoKeyDocument::Unavailable(cause)),
            Ok(Err(NotConnected::Forbidden(_))) => {
                Err(NoKeyDocument::Unavailable("the address may not be called".to_owned()))
            }
            Err(_) => Err(NoKeyDocument::Unavailable("no connection in time".to_owned())),
        }
    }
}

impl KeyServers {
    /// Whom to connect to.
    fn server(&self, url: &KeyUrl) -> Result<Uri, NoKeyDocument> {
        let authority = url.host().to_owned();
        #[cfg(test)]
        let authority = self.port.map_or(authority, |port| format!("{}:{port}", url.host()));
        format!("https://{authority}/")
            .parse()
            .map_err(|error| NoKeyDocument::Unavailable(format!("no server: {error}")))
    }
}

fn request(url: &KeyUrl) -> Result<Request<Full<Bytes>>, http::Error> {
    Request::builder()
        .method(Method::GET)
        .uri(url.path())
        .header(HOST, url.host())
        .header(USER_AGENT, concat!("sekali/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "*/*")
        .body(Full::new(Bytes::new()))
}

/// What the answer holds. Only 200 is a document; a redirect is not followed,
/// since it leads where nobody has pinned anything.
async fn document(response: Response<Incoming>, deadline: Instant) -> Result<Vec<u8>, NoKeyDocument> {
    let status = response.status().as_u16();
    match status {
        200 => {}
        300..=399 => return Err(NoKeyDocument::Absent(format!("the server redirects ({status})"))),
        404 | 410 => return Err(NoKeyDocument::Absent(format!("the server answers {status}"))),
        _ => return Err(NoKeyDocument::Unavailable(format!("the server answers {status}"))),
    }
    match read(response.into_body(), LARGEST_KEY_DOCUMENT, deadline).await {
        (document, End::Whole) => Ok(document),
        (_, End::TooLarge) => {
            Err(NoKeyDocument::Unusable(format!("it has more than {LARGEST_KEY_DOCUMENT} bytes")))
        }
        (_, End::Broken(cause)) => Err(NoKeyDocument::Unavailable(cause)),
        (_, End::TooLate) => Err(NoKeyDocument::Unavailable("the document did not end in time".to_owned())),
    }
}

#[cfg(test)]
mod tests;
