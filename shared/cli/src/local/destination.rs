//! A destination on this machine: it takes every effect and writes it down.
//! Beside it, the vendors' APIs that the demo plays.

use super::wire::loopback;
use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One effect, as a line of the file. Every call is a line, also one under a
/// key that was there before: the file is what shows a doubled effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Effect {
    /// The path that was called, without its slash: the destination's name.
    pub destination: String,
    /// The `Idempotency-Key` that the call carried.
    pub key: Option<String>,
    /// The body: JSON as it was sent, or text.
    pub body: Box<RawValue>,
}

/// A local destination, for as long as this value lives.
#[derive(Debug)]
pub struct LocalDestination {
    serving: JoinHandle<()>,
    path: PathBuf,
    apis: Apis,
}

/// What a vendor's API answers.
#[derive(Debug, Clone)]
pub struct ApiAnswer {
    /// How often it is 404 first.
    pub missing: usize,
    /// The body.
    pub body: Bytes,
}

type Apis = Arc<Mutex<BTreeMap<String, ApiAnswer>>>;

impl LocalDestination {
    /// Listens on `port` of this machine and begins a new file at `path`.
    ///
    /// # Errors
    /// The port is taken or the file cannot be written.
    pub async fn start(port: u16, path: &Path) -> Result<Self> {
        let listener = TcpListener::bind(loopback(port))
            .await
            .with_context(|| format!("port {port} is taken: choose another with DESTINATION_PORT="))?;
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let apis = Apis::default();
        let serving = tokio::spawn(serve(listener, Arc::new(Mutex::new(file)), Arc::clone(&apis)));
        Ok(Self { serving, path: path.to_owned(), apis })
    }

    /// Plays vendors' APIs: what is answered to whoever asks for a path.
    pub fn play(&self, answers: BTreeMap<String, ApiAnswer>) {
        self.apis.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    }

    /// Every effect so far, in the order of their arrival.
    ///
    /// # Errors
    /// The file was taken away or changed.
    pub fn effects(&self) -> Result<Vec<Effect>> {
        let text = fs::read_to_string(&self.path)?;
        text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LocalDestination {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, file: Arc<Mutex<File>>, apis: Apis) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (file, apis) = (Arc::clone(&file), Arc::clone(&apis));
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (file, apis) = (Arc::clone(&file), Arc::clone(&apis));
            async move {
                Ok::<_, Infallible>(match *request.method() {
                    http::Method::GET => told(&request, &apis),
                    _ => answer(request, &file).await,
                })
            }
        });
        tokio::spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        );
    }
}

async fn answer(request: http::Request<Incoming>, file: &Mutex<File>) -> http::Response<Full<Bytes>> {
    let destination = request.uri().path().trim_start_matches('/').to_owned();
    let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let recorded = match request.into_body().collect().await {
        Ok(body) => effect(destination, key, &body.to_bytes()).and_then(|effect| record(file, &effect)),
        Err(broken) => Err(broken.into()),
    };
    let (status, text) = match recorded {
        Ok(()) => (200, "{\"recorded\":true}".to_owned()),
        // Nothing was written down, so nothing happened here.
        Err(error) => (503, format!("not recorded: {error}")),
    };
    respond(status, text.into())
}

fn respond(status: u16, body: Bytes) -> http::Response<Full<Bytes>> {
    let mut response = http::Response::new(Full::new(body));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    response
}

/// What a vendor's API says, to whoever shows a key for it.
fn told(request: &http::Request<Incoming>, apis: &Apis) -> http::Response<Full<Bytes>> {
    if !request.headers().contains_key("authorization") {
        return respond(401, Bytes::from_static(b"{\"error\":\"no key\"}"));
    }
    let mut apis = apis.lock().unwrap_or_else(PoisonError::into_inner);
    match apis.get_mut(request.uri().path()) {
        Some(answer) if answer.missing == 0 => respond(200, answer.body.clone()),
        Some(answer) => {
            answer.missing -= 1;
            respond(404, Bytes::from_static(b"{\"error\":\"not there yet\"}"))
        }
        None => respond(404, Bytes::from_static(b"{\"error\":\"nothing of that name\"}")),
    }
}

fn effect(destination: String, key: Option<String>, body: &[u8]) -> Result<Effect> {
    let text = String::from_utf8_lossy(body);
    // A body over several lines would break the file's one line for each.
    let one_line = serde_json::from_str::<serde_json::Value>(&text).ok().filter(|_| text.contains('\n'));
    let body = match (one_line, serde_json::from_str::<Box<RawValue>>(&text)) {
        (Some(value), _) => RawValue::from_string(value.to_string())?,
        (None, Ok(raw)) => raw,
        (None, Err(_)) => RawValue::from_string(serde_json::to_string(&text)?)?,
    };
    Ok(Effect { destination, key, body })
}

fn record(file: &Mutex<File>, effect: &Effect) -> Result<()> {
    let mut line = serde_json::to_string(effect)?;
    line.push('\n');
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(file.write_all(line.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_one_line_whatever_its_body() {
        for (body, line) in [
            ("{\"n\":1.50}", r#"{"destination":"packing","key":"k","body":{"n":1.50}}"#),
            ("{\n\"n\": 1\n}", r#"{"destination":"packing","key":"k","body":{"n":1}}"#),
            ("a\nb", r#"{"destination":"packing","key":"k","body":"a\nb"}"#),
        ] {
            let effect = effect("packing".into(), Some("k".into()), body.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&effect).unwrap(), line);
        }
    }
}
