//! A vendor's API in memory: what it answers is under the test's control, and
//! what it was asked is kept.

use super::lock;
use sekali::ports::{Get, Got, NotGot, Outbound};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A handle to one API; clones share it. What was never told to it is answered
/// 404.
#[derive(Debug, Clone, Default)]
pub struct MemoryApi(Arc<Mutex<Desk>>);

#[derive(Debug, Default)]
struct Desk {
    /// By URL: answers that are given once, in order, and the one after them.
    once: BTreeMap<String, VecDeque<Result<Got, NotGot>>>,
    always: BTreeMap<String, Result<Got, NotGot>>,
    asked: Vec<Asked>,
}

/// One question as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The whole URL.
    pub url: String,
    /// The header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What the question was given.
    pub timeout: Duration,
}

impl MemoryApi {
    /// Answers a URL with this from now on, once everything of
    /// [`MemoryApi::once`] is used up.
    pub fn answer(&self, url: &str, answer: Result<Got, NotGot>) {
        lock(&self.0).always.insert(url.to_owned(), answer);
    }

    /// Answers a URL with this JSON and 200 from now on.
    pub fn state(&self, url: &str, json: &str) {
        self.answer(url, Ok(got(200, json)));
    }

    /// Answers one question for a URL with this.
    pub fn once(&self, url: &str, answer: Result<Got, NotGot>) {
        lock(&self.0).once.entry(url.to_owned()).or_default().push_back(answer);
    }

    /// Everything that was asked, in order.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.0).asked.clone()
    }
}

/// An answer without a wait.
pub fn got(status: u16, body: &str) -> Got {
    Got { status, retry_after: None, link: None, body: body.as_bytes().to_vec() }
}

impl Outbound for MemoryApi {
    async fn get(&self, get: Get<'_>) -> Result<Got, NotGot> {
        let mut desk = lock(&self.0);
        let text = |secret: &[u8]| String::from_utf8_lossy(secret).into_owned();
        desk.asked.push(Asked {
            url: get.url.as_str().to_owned(),
            headers: get
                .headers
                .iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), text(value.expose())))
                .collect(),
            timeout: get.timeout,
        });
        let url = get.url.as_str();
        let once = desk.once.get_mut(url).and_then(VecDeque::pop_front);
        let answer = once.or_else(|| desk.always.get(url).cloned()).unwrap_or_else(|| Ok(got(404, "")))?;
        if answer.body.len() > get.largest { Err(NotGot::TooLarge(get.largest)) } else { Ok(answer) }
    }
}
