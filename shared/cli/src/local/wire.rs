//! One HTTP exchange over loopback. The local run makes a handful of calls, so
//! each opens a connection of its own, and no SDK needs to be compiled.

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;

/// Longest wait for an answer: API Gateway's own limit.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: http::HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as text, whatever it is.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The loopback address of a port.
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Sends `request` to a port of this machine.
///
/// # Errors
/// Nobody listens there, the connection broke, or there was no answer in time.
pub async fn exchange(port: u16, request: http::Request<Bytes>) -> Result<Answer> {
    tokio::time::timeout(PATIENCE, exchange_in_time(port, request))
        .await
        .with_context(|| format!("no answer from port {port} within {PATIENCE:?}"))?
}

async fn exchange_in_time(port: u16, mut request: http::Request<Bytes>) -> Result<Answer> {
    let stream = TcpStream::connect(loopback(port))
        .await
        .with_context(|| format!("nobody listens on port {port} of this machine"))?;
    let host = http::HeaderValue::try_from(format!("127.0.0.1:{port}"))?;
    request.headers_mut().entry(http::header::HOST).or_insert(host);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let exchange = async {
        let answer = sender.send_request(request.map(Full::new)).await?;
        let (parts, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok::<_, hyper::Error>(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
    };
    tokio::pin!(exchange);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        answer = &mut exchange => Ok(answer?),
        ended = &mut connection => {
            ended?;
            // The connection may end as soon as its last byte is read.
            Ok(exchange.await?)
        }
    }
}
