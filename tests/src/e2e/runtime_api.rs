//! Lambda's Runtime API for one process of a function: it hands out events,
//! takes answers, and says until when an invocation may last. The functions
//! that are driven through it are the ones that are deployed.

use super::serve::{Answered, Served, json};
use super::vendors::unique;
use anyhow::Result;
use bytes::Bytes;
use sekali::time::{Clock, Monotonic, UnixMillis};
use sekali_aws::SystemClock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How an invocation ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// The function answered.
    Answered(Value),
    /// The function reported an error.
    Failed(String),
    /// The process is gone, and nobody knows how far it came.
    Gone,
}

/// One event on its way into the function.
struct Invocation {
    id: String,
    event: Bytes,
    deadline: UnixMillis,
}

#[derive(Default)]
struct Desk {
    waiting: Vec<Invocation>,
    under_way: BTreeMap<String, oneshot::Sender<Ended>>,
    init_error: Option<String>,
    first_asked: Option<Monotonic>,
    gone: bool,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    more: Notify,
    asked: Notify,
}

/// The Runtime API of one process.
pub struct RuntimeApi {
    served: Served,
    shared: Arc<Shared>,
}

impl RuntimeApi {
    /// Listens on a port of its own.
    ///
    /// # Errors
    /// There is no port for it.
    pub async fn start() -> Result<Self> {
        let shared = Arc::<Shared>::default();
        let known = Arc::clone(&shared);
        let served = Served::start(0, move |request| answer(Arc::clone(&known), request)).await?;
        Ok(Self { served, shared })
    }

    /// What the process is told as `AWS_LAMBDA_RUNTIME_API`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.served.port())
    }

    /// Hands an event in, with so much time to work on it. What comes back
    /// ends as [`Ended::Gone`] if the process is said to be.
    pub fn invoke(&self, event: Bytes, time: Duration) -> oneshot::Receiver<Ended> {
        let (sender, receiver) = oneshot::channel();
        let mut desk = self.shared.desk();
        if desk.gone {
            return receiver;
        }
        let id = unique("invocation");
        let deadline = SystemClock.now().plus(time);
        desk.under_way.insert(id.clone(), sender);
        desk.waiting.insert(0, Invocation { id, event, deadline });
        drop(desk);
        self.shared.more.notify_one();
        receiver
    }

    /// When the process first asked for an event, which is when its start is
    /// over; waits for it.
    pub async fn asked(&self) -> Monotonic {
        loop {
            let asked = self.shared.asked.notified();
            if let Some(at) = self.shared.desk().first_asked {
                return at;
            }
            asked.await;
        }
    }

    /// The process is gone: nothing that is under way will be answered.
    pub fn end(&self) {
        let mut desk = self.shared.desk();
        desk.gone = true;
        desk.waiting.clear();
        desk.under_way.clear();
    }

    /// Whether it was said to be gone.
    pub fn is_over(&self) -> bool {
        self.shared.desk().gone
    }

    /// Why the function could not start, if it said so.
    pub fn init_error(&self) -> Option<String> {
        self.shared.desk().init_error.clone()
    }
}

impl Shared {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next(&self) -> Invocation {
        self.desk().first_asked.get_or_insert_with(|| SystemClock.monotonic());
        self.asked.notify_one();
        loop {
            let more = self.more.notified();
            if let Some(invocation) = self.desk().waiting.pop() {
                return invocation;
            }
            more.await;
        }
    }

    fn settle(&self, id: &str, ended: Ended) {
        if let Some(sender) = self.desk().under_way.remove(id) {
            // Whoever asked may have stopped listening.
            let _ = sender.send(ended);
        }
    }
}

async fn answer(shared: Arc<Shared>, request: http::Request<Bytes>) -> Answered {
    let path = request.uri().path().to_owned();
    let steps: Vec<&str> = path.trim_start_matches("/2018-06-01/runtime/").split('/').collect();
    match steps.as_slice() {
        ["invocation", "next"] => return Ok(handed_out(shared.next().await)),
        ["invocation", id, "response"] => {
            let body = serde_json::from_slice(request.body()).unwrap_or(Value::Null);
            shared.settle(id, Ended::Answered(body));
        }
        ["invocation", id, "error"] => shared.settle(id, Ended::Failed(text(&request))),
        ["init", "error"] => shared.desk().init_error = Some(text(&request)),
        _ => return Ok(json(404, "{}")),
    }
    Ok(json(202, "{}"))
}

fn text(request: &http::Request<Bytes>) -> String {
    String::from_utf8_lossy(request.body()).into_owned()
}

fn handed_out(invocation: Invocation) -> http::Response<Bytes> {
    let mut response = json(200, invocation.event);
    let arn = "arn:aws:lambda:us-east-1:000000000000:function:driven".to_owned();
    let headers = [
        ("lambda-runtime-aws-request-id", invocation.id),
        ("lambda-runtime-deadline-ms", invocation.deadline.0.to_string()),
        ("lambda-runtime-invoked-function-arn", arn),
    ];
    for (name, value) in headers {
        if let Ok(value) = http::HeaderValue::try_from(value) {
            response.headers_mut().insert(http::HeaderName::from_static(name), value);
        }
    }
    response
}
