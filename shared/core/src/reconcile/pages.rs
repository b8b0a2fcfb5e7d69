//! Asks a vendor's list page by page: bounded in pages, bytes and time, with
//! the patience that the vendor asks for and no more.

use super::Subject;
use crate::http::Request;
use crate::ports::{Get, Got, NotGot, Outbound};
use crate::secret::Secret;
use crate::url_template::{NotFilled, OutboundUrl};
use crate::vendor::list::{BadPage, Entry, NextPage, Page, Window};
use std::collections::HashSet;
use std::time::Duration;
use thiserror::Error;

/// Pages that are read at once; beyond it a shorter span is asked for (INV-8).
pub const MOST_PAGES: usize = 1_000;

/// Largest page: a hundred events of the most talkative vendors.
const LARGEST_PAGE: usize = 16 << 20;

/// How long one answer may take: people wait.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often one question is asked.
const TRIES: u32 = 5;

/// The longest wait that a vendor is granted; who asks for more is asked again
/// by whoever is on call.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// The wait where the vendor asks for none; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Why a list, or a part of it, could not be read. Nothing of an answer is shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotListed {
    /// Its URL cannot be made.
    #[error("the URL of the list: {0}; see `params` of the endpoint's list")]
    Url(NotFilled),
    /// The secret cannot be sent.
    #[error("the list's secret is blank")]
    NoSecret,
    /// The list does not know who asks.
    #[error("the list answered {0}: its secret is not known there, may not read it, or was used too often")]
    Denied(u16),
    /// Nothing is there.
    #[error("the list answered 404: are its `params` right, and may its secret see it?")]
    NotThere,
    /// It asks for more patience than a person has.
    #[error("the list asks to wait {} seconds: ask again then", .0.as_secs())]
    Busy(Duration),
    /// It answered something else.
    #[error("the list answered {0}")]
    Answered(u16),
    /// It did not answer.
    #[error("the list: {0}")]
    NotGot(NotGot),
    /// It answered, and that is no page of it.
    #[error("the list's answer cannot be used: {0}")]
    Bad(BadPage),
    /// A page that was read already comes next.
    #[error("the list goes round in a circle")]
    Circle,
}

// Each says what is below it in its own words: as a source as well it would be
// said twice.
impl From<NotFilled> for NotListed {
    fn from(why: NotFilled) -> Self {
        Self::Url(why)
    }
}

impl From<NotGot> for NotListed {
    fn from(why: NotGot) -> Self {
        Self::NotGot(why)
    }
}

impl From<BadPage> for NotListed {
    fn from(why: BadPage) -> Self {
        Self::Bad(why)
    }
}

/// A list that is being read.
pub struct Pages<'a, A, W> {
    api: &'a A,
    wait: W,
    subject: Subject<'a>,
    headers: Vec<(String, Secret)>,
    first: OutboundUrl,
    window: Window,
    next: Option<OutboundUrl>,
    asked: HashSet<OutboundUrl>,
    cut_short: bool,
}

impl<'a, A: Outbound, W: AsyncFn(Duration)> Pages<'a, A, W> {
    /// Before the first page. `wait` lets time pass.
    ///
    /// # Errors
    /// The question cannot be made.
    pub fn new(
        api: &'a A,
        wait: W,
        subject: Subject<'a>,
        secret: &Secret,
        window: Window,
    ) -> Result<Self, NotListed> {
        let (name, value) = subject.access.auth.field(secret);
        let fixed = subject.list.headers().iter();
        let fixed = fixed.map(|(name, value)| (name.clone(), Secret::new(value.as_str()).ok()));
        let headers = fixed
            .chain([(name, value)])
            .map(|(name, value)| Some((name, value?)))
            .collect::<Option<Vec<_>>>()
            .ok_or(NotListed::NoSecret)?;
        let first = subject.list.first(&subject.access.url, &subject.access.params, window)?;
        let next = Some(first.clone());
        Ok(Self { api, wait, subject, headers, first, window, next, asked: HashSet::new(), cut_short: false })
    }

    /// The next page; `None` where the list, or the span that was asked for, is over.
    ///
    /// # Errors
    /// The page cannot be read; what is missing is not known.
    pub async fn next(&mut self) -> Result<Option<Page>, NotListed> {
        let Some(url) = self.next.take() else { return Ok(None) };
        if self.asked.len() >= MOST_PAGES {
            self.cut_short = true;
            return Ok(None);
        }
        let got = self.ask(&url).await?;
        let page = self.subject.list.page(&self.first, &got.body, got.link.as_deref())?;
        self.asked.insert(url);
        if let NextPage::At(next) = &page.next {
            if self.asked.contains(next) {
                return Err(NotListed::Circle);
            }
            self.next = Some(next.clone()).filter(|_| !self.is_past(&page));
        }
        Ok(Some(page))
    }

    /// Whether nothing is left to read.
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// Whether there were too many pages.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// A list that knows no span of time begins with the newest.
    fn is_past(&self, page: &Page) -> bool {
        let older = |entry: &Entry| entry.at.is_some_and(|at| at < self.window.from);
        !self.subject.list.knows_since() && !page.entries.is_empty() && page.entries.iter().all(older)
    }

    /// What was sent, as the entry or an answer of its own says it.
    ///
    /// # Errors
    /// It cannot be read.
    pub async fn content(&self, entry: &Entry) -> Result<Request, NotListed> {
        let told = match self.subject.list.detail(&self.first, entry)? {
            Some(url) => self.ask(&url).await?.body,
            None => entry.json().as_bytes().to_vec(),
        };
        Ok(self.subject.list.sent(&told)?)
    }

    async fn ask(&self, url: &OutboundUrl) -> Result<Got, NotListed> {
        let mut tries = 0;
        loop {
            let get = Get { url, headers: &self.headers, timeout: TIMEOUT, largest: LARGEST_PAGE };
            let failed = match self.api.get(get).await {
                Ok(got) if got.status == 200 => return Ok(got),
                Ok(got) => (refusal(&got), got.retry_after),
                Err(error @ (NotGot::NotStarted(_) | NotGot::Unknown(_))) => (Err(error.into()), None),
                Err(error) => return Err(error.into()),
            };
            tries += 1;
            match failed {
                (Ok(final_answer), _) => return Err(final_answer),
                (Err(error), _) if tries >= TRIES => return Err(error),
                (Err(_), asked_for) => {
                    let wait = asked_for.unwrap_or(FIRST_WAIT.saturating_mul(1 << (tries - 1)));
                    if wait > LONGEST_WAIT {
                        return Err(NotListed::Busy(wait));
                    }
                    (self.wait)(wait).await;
                }
            }
        }
    }
}

/// What an answer that is no page means: `Ok` is its last word, `Err` may be
/// otherwise the next time.
fn refusal(got: &Got) -> Result<NotListed, NotListed> {
    match got.status {
        // Some say *too often* with 403, and how long to wait.
        403 if got.retry_after.is_some() => Err(NotListed::Answered(403)),
        401 | 403 => Ok(NotListed::Denied(got.status)),
        404 => Ok(NotListed::NotThere),
        408 | 425 | 429 | 500..=599 => Err(NotListed::Answered(got.status)),
        status => Ok(NotListed::Answered(status)),
    }
}
