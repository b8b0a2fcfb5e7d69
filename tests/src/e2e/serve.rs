//! A small HTTP server on this machine, for as long as its value lives.

use super::ground::{ground, on_ground};
use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sekali_cli::local::wire::loopback;
use std::future::Future;
use std::sync::Arc;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

/// The connection is closed instead of an answer.
#[derive(Debug, Error)]
#[error("the connection is closed without an answer")]
pub struct HungUp;

/// An answer, or the end of the connection.
pub type Answered = Result<http::Response<Bytes>, HungUp>;

/// A server. It stops with this value, and with it every open connection.
#[derive(Debug)]
pub struct Served {
    port: u16,
    serving: AbortHandle,
}

impl Served {
    /// Listens on `port` of this machine (0: any) and answers with `answer`.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn start<F, A>(port: u16, answer: F) -> Result<Self>
    where
        F: Fn(http::Request<Bytes>) -> A + Send + Sync + 'static,
        A: Future<Output = Answered> + Send + 'static,
    {
        let (listener, port) = on_ground(async move {
            let listener = TcpListener::bind(loopback(port))
                .await
                .with_context(|| format!("port {port} of this machine is taken"))?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        })
        .await?;
        let serving = ground()?.spawn(serve(listener, Arc::new(answer))).abort_handle();
        Ok(Self { port, serving })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The same as a URL without a path.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve<F, A>(listener: TcpListener, answer: Arc<F>)
where
    F: Fn(http::Request<Bytes>) -> A + Send + Sync + 'static,
    A: Future<Output = Answered> + Send + 'static,
{
    // Dropped with this future, and then every connection is closed.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let answer = Arc::clone(&answer);
        let service = service_fn(move |request: http::Request<Incoming>| {
            let answer = Arc::clone(&answer);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.map_err(|_| HungUp)?.to_bytes();
                answer(http::Request::from_parts(parts, body)).await.map(|answer| answer.map(Full::new))
            }
        });
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        while connections.try_join_next().is_some() {}
    }
}

/// An answer with a JSON body.
pub fn json(status: u16, body: impl Into<Bytes>) -> http::Response<Bytes> {
    let mut response = http::Response::new(body.into());
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
