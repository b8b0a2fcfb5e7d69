//! One connection for one call: resolved, checked, opened, used and closed.

mod address;
mod body;
#[cfg(test)]
pub(crate) mod local_tls;

pub(crate) use address::Forbidden;
pub use address::{ALLOW_PRIVATE, Reach};
pub(crate) use body::{End, read, retry_after};

use bytes::Bytes;
use http::uri::Uri;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

/// Why no connection stands: nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotConnected {
    /// The address may not be called.
    Forbidden(Forbidden),
    /// It did not work this time.
    Failed(String),
}

/// The request was sent, or part of it, and nothing is known of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoAnswer(pub(crate) String);

/// Whose certificates are trusted: those of these roots.
#[derive(Clone)]
pub(crate) struct Trust(TlsConnector);

impl Trust {
    /// The root certificates of the system; those that cannot be read are
    /// left out, and a server that needs one of them is not connected to.
    pub(crate) fn of_the_system() -> Self {
        Self::of(crate::roots::store())
    }

    pub(crate) fn of(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        #[expect(clippy::expect_used, reason = "the provider is compiled in with the versions it supports")]
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports the default versions of TLS")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self(TlsConnector::from(Arc::new(config)))
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

type Io = TokioIo<Box<dyn Stream>>;

/// A connection over which nothing was sent yet.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: http1::Connection<Io, Full<Bytes>>,
}

impl Connection {
    /// Opens a connection to the host of `url`; with `trust`, over TLS.
    pub(crate) async fn open(url: &Uri, reach: Reach, trust: Option<&Trust>) -> Result<Self, NotConnected> {
        let failed = |what: &str, error: &dyn std::error::Error| {
            NotConnected::Failed(format!("{what}: {}", crate::describe(error)))
        };
        let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = url.port_u16().unwrap_or(if trust.is_some() { 443 } else { 80 });
        let addresses: Vec<_> = lookup_host((host, port))
            .await
            .map_err(|error| failed("the name was not resolved", &error))?
            .collect();
        reach.check(&addresses).map_err(NotConnected::Forbidden)?;
        // These addresses were checked; the name is not resolved again.
        let tcp =
            TcpStream::connect(&addresses[..]).await.map_err(|error| failed("no connection", &error))?;
        tcp.set_nodelay(true).map_err(|error| failed("no connection", &error))?;
        let stream: Box<dyn Stream> = match trust {
            None => Box::new(tcp),
            Some(trust) => {
                let name = ServerName::try_from(host.to_owned())
                    .map_err(|error| failed("no server name", &error))?;
                let tls = trust.0.connect(name, tcp).await;
                Box::new(tls.map_err(|error| failed("no secure connection", &error))?)
            }
        };
        let (sender, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed("no connection", &error))?;
        Ok(Self { sender, driver })
    }

    /// Sends the request, waits for the head of an answer until `deadline`, and
    /// lets `then` make of it, and of the body that may still come, what it
    /// will. Dropping the future closes the connection.
    pub(crate) async fn exchange<T>(
        self,
        request: Request<Full<Bytes>>,
        deadline: Instant,
        then: impl AsyncFnOnce(Result<Response<Incoming>, NoAnswer>) -> T,
    ) -> T {
        let Self { mut sender, driver } = self;
        let mut driver = pin!(driver);
        let mut exchange = pin!(async {
            let answer = match timeout_at(deadline, sender.send_request(request)).await {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(error)) => Err(NoAnswer(format!(
                    "the connection broke without an answer: {}",
                    crate::describe(&error)
                ))),
                Err(_) => Err(NoAnswer("no answer in time".to_owned())),
            };
            then(answer).await
        });
        tokio::select! {
            end = &mut exchange => end,
            // The connection has ended; what it left behind decides.
            _ = &mut driver => exchange.await,
        }
    }
}
