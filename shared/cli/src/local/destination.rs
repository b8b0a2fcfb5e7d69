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
        let failing = path.with_file_name(FAILING);
        // An earlier run's rehearsal is over.
        drop(fs::remove_file(&failing));
        let apis = Apis::default();
        let book = Arc::new(Book { file: Mutex::new(file), failing });
        let serving = tokio::spawn(serve(listener, book, Arc::clone(&apis)));
        Ok(Self { serving, path: path.to_owned(), apis })
    }

    /// Plays vendors' APIs: what is answered to whoever asks for a path.
    pub fn play(&self, answers: BTreeMap<String, ApiAnswer>) {
        self.apis.lock().unwrap_or_else(PoisonError::into_inner).extend(answers);
    }

    /// Where people say which destinations are to fail, and how: a line each, its
    /// name and the status. It is looked at with every call.
    pub fn failing(&self) -> PathBuf {
        self.path.with_file_name(FAILING)
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

/// Beside the file with the effects.
const FAILING: &str = "failing";

/// Where effects are written down, and which are not to happen.
#[derive(Debug)]
struct Book {
    file: Mutex<File>,
    failing: PathBuf,
}

impl Book {
    /// The status with which a destination fails now.
    fn fails(&self, destination: &str) -> Option<u16> {
        fails(&fs::read_to_string(&self.failing).ok()?, destination)
    }
}

/// What a text of lines `NAME STATUS` says of a destination.
fn fails(said: &str, destination: &str) -> Option<u16> {
    let mut lines = said.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let (_, status) = lines.find(|(name, _)| *name == destination)?;
    status.trim().parse().ok()
}

async fn serve(listener: TcpListener, book: Arc<Book>, apis: Apis) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (book, apis) = (Arc::clone(&book), Arc::clone(&apis));
        let service = service_fn(move |request: http::Request<Incoming>| {
            let (book, apis) = (Arc::clone(&book), Arc::clone(&apis));
            async move {
                Ok::<_, Infallible>(match *request.method() {
                    http::Method::GET => told(&request, &apis),
                    _ => answer(request, &book).await,
                })
            }
        });
        tokio::spawn(
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
        );
    }
}

async fn answer(request: http::Request<Incoming>, book: &Book) -> http::Response<Full<Bytes>> {
    let destination = request.uri().path().trim_start_matches('/').to_owned();
    if let Some(status) = book.fails(&destination) {
        return respond(status, Bytes::from_static(b"{\"error\":\"told to fail\"}"));
    }
    let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let recorded = match request.into_body().collect().await {
        Ok(body) => effect(destination, key, &body.to_bytes()).and_then(|effect| record(&book.file, &effect)),
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
    fn a_destination_fails_as_it_is_told_and_no_other_does() {
        let said = "packing 503\nnotices\t410 \nno-status\nwrong x\n";
        let told = ["packing", "notices", "pack", "no-status", "wrong"].map(|name| fails(said, name));
        assert_eq!(told, [Some(503), Some(410), None, None, None]);
    }

    #[tokio::test]
    async fn what_is_told_to_fail_is_no_effect_until_it_is_mended() {
        let folder = std::env::temp_dir().join(format!("sekali-failing-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let port = crate::local::emulator::any_port().unwrap();
        let destination = LocalDestination::start(port, &folder.join("effects.jsonl")).await.unwrap();
        let call = async || {
            let request = http::Request::post("/packing").body(Bytes::from_static(b"{}")).unwrap();
            crate::local::wire::exchange(port, request).await.unwrap().status
        };
        fs::write(destination.failing(), "packing 503\n").unwrap();
        assert_eq!((call().await, destination.effects().unwrap().len()), (503, 0));
        fs::remove_file(destination.failing()).unwrap();
        assert_eq!((call().await, destination.effects().unwrap().len()), (200, 1));
        fs::remove_dir_all(&folder).unwrap();
    }

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
