//! The shell: reads, sends, waits; every decision is the book's.

use super::answer::{Attempted, shown};
use super::book::{Book, Kept, Series, Stop};
use super::event::event;
use super::input::{Form, NotRead, Piece, Position, pieces};
use super::left::Left;
use super::progress::{EVERY, Progress};
use super::sign::Signer;
use crate::interrupted::interrupted;
use anyhow::Result;
use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use sekali::http::retry_after;
use sekali::rate::{Bucket, Rate};
use sekali::time::{Clock, Monotonic, UnixMillis};
use sekali_aws::post::{Answer, Receiver};
use sekali_aws::{SystemClock, SystemEntropy};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc;

/// No more of an answer is read, in bytes; less is shown.
const MOST_READ: usize = 4 * 1024;

/// How much is read ahead of what is sent.
const AHEAD: usize = 16;

/// A piece of the input, or why there are no more.
type Read = Result<Piece, NotRead>;

/// Reads the input on a thread of its own: a stream may keep silent for long.
pub(super) fn reading(input: impl BufRead + Send + 'static, form: Form) -> mpsc::Receiver<Read> {
    let (give, given) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        if let Err(fault) = pieces(input, form, |piece| give.blocking_send(Ok(piece)).is_ok()) {
            let _ = give.blocking_send(Err(fault));
        }
    });
    given
}

/// One run.
#[derive(Debug)]
pub(super) struct Run {
    /// What deliveries are made of.
    pub signer: Signer,
    /// How they go on.
    pub book: Book,
    /// How many may be under way at once.
    pub concurrency: usize,
    /// How fast they may begin.
    pub rate: Option<Rate>,
    /// How long each may take.
    pub timeout: Duration,
    /// Whether the pieces carry headers and ids.
    pub written: bool,
    /// Whether the rest is read once nothing more is sent.
    pub finite: bool,
    /// Where what is not delivered is kept.
    pub left: Option<Left>,
    /// What was no event.
    pub unreadable: Vec<(Position, String)>,
}

/// How a run ended, besides what the book says.
#[derive(Debug)]
pub(super) struct Over {
    /// The run.
    pub run: Run,
    /// Whether the input was read to its end.
    pub all_read: bool,
    /// Why it could not be.
    pub fault: Option<NotRead>,
}

/// What changes while it goes on.
struct Underway {
    bucket: Bucket,
    flying: BTreeMap<u64, Series>,
    begun: u64,
    reads: bool,
    fault: Option<NotRead>,
    progress: Progress,
}

impl Run {
    /// Sends everything to `receiver`, until all has ended or somebody asks to end: then
    /// what is under way is awaited, or left at a second request.
    ///
    /// # Errors
    /// What was not delivered cannot be kept.
    pub(super) async fn until_over(
        mut self,
        receiver: &Receiver,
        mut input: mpsc::Receiver<Read>,
    ) -> Result<Over> {
        let mut now = Underway {
            bucket: Bucket::default(),
            flying: BTreeMap::new(),
            begun: 0,
            reads: true,
            fault: None,
            progress: Progress::new(),
        };
        let mut attempts = FuturesUnordered::new();
        let mut asked = pin!(interrupted());
        loop {
            let (due, wake) = self.due(&mut now);
            attempts.extend(due.into_iter().map(|due| due.made(receiver, self.timeout)));
            if now.flying.is_empty() && self.is_over(&now) {
                break;
            }
            let takes = now.reads && self.book.has_room() && self.book.stopped().is_none();
            tokio::select! {
                // Signals are asked for before anything is under way.
                biased;
                why = &mut asked => {
                    why?;
                    if self.book.stopped() == Some(Stop::Interrupted) {
                        break;
                    }
                    self.book.stop(Stop::Interrupted);
                    asked.set(interrupted());
                    now.progress.clear();
                    eprintln!("ending; {} under way are awaited, again ends at once", now.flying.len());
                }
                Some((number, ended)) = attempts.next(), if !attempts.is_empty() => {
                    if let Some(series) = now.flying.remove(&number) {
                        let kept = self.book.settle(series, ended, SystemClock.monotonic(), &SystemEntropy::new());
                        self.keep(kept)?;
                    }
                }
                read = input.recv(), if takes => self.take(read, &mut now)?,
                () = tokio::time::sleep(wake.unwrap_or(EVERY)), if wake.is_some() || now.progress.is_on() => {}
            }
            now.progress.show(&self.book, now.flying.len());
        }
        now.progress.clear();
        now.flying.values().for_each(|series| self.book.leave_behind(series));
        for series in std::mem::take(&mut now.flying).into_values() {
            self.keep(Some(series.event))?;
        }
        self.rest(input, now).await
    }

    fn is_over(&self, now: &Underway) -> bool {
        self.book.stopped().is_some() || (!now.reads && self.book.waiting() == 0)
    }

    /// Begins what may begin now; and how long until more may.
    fn due(&mut self, now: &mut Underway) -> (Vec<Due>, Option<Duration>) {
        let mut begun = Vec::new();
        while now.flying.len() < self.concurrency {
            let time = SystemClock.monotonic();
            let Some(due) = self.book.next_due() else { return (begun, None) };
            if due > time {
                return (begun, Some(due.0 - time.0));
            }
            if let Some(rate) = self.rate
                && let Err(wait) = now.bucket.take(rate, as_millis(time))
            {
                return (begun, Some(wait));
            }
            let Some(series) = self.book.begin(time) else { break };
            now.begun += 1;
            begun.push(Due::of(&self.signer, &series, now.begun));
            now.flying.insert(now.begun, series);
        }
        (begun, None)
    }

    fn take(&mut self, read: Option<Read>, now: &mut Underway) -> Result<()> {
        let piece = match read {
            Some(Ok(piece)) => piece,
            Some(Err(fault)) => {
                now.fault = Some(fault);
                return Ok(());
            }
            None => {
                now.reads = false;
                return Ok(());
            }
        };
        let at = piece.at;
        let event = match event(&self.signer, piece, self.written) {
            Ok(event) => event,
            Err(reason) => {
                self.unreadable.push((at, reason.to_string()));
                return Ok(());
            }
        };
        // What lacks something that is signed never gets it.
        if let Err(reason) = self.signer.headers(&event, 1, SystemClock.now()) {
            self.unreadable.push((at, format!("it cannot be signed: {reason}")));
            return self.keep(Some(event));
        }
        self.book.take(event, SystemClock.monotonic());
        Ok(())
    }

    fn keep(&mut self, kept: Kept) -> Result<()> {
        match (&mut self.left, kept) {
            (Some(left), Some(event)) => left.keep(&self.signer, &event),
            _ => Ok(()),
        }
    }

    /// What is left when nothing more is begun: all that waits, and of a file
    /// also what was not read yet.
    async fn rest(mut self, mut input: mpsc::Receiver<Read>, mut now: Underway) -> Result<Over> {
        loop {
            while let Some(event) = self.book.leave() {
                self.keep(Some(event))?;
            }
            if !now.reads || !self.finite {
                break;
            }
            let read = input.recv().await;
            self.take(read, &mut now)?;
        }
        Ok(Over { run: self, all_read: !now.reads && now.fault.is_none(), fault: now.fault })
    }
}

/// The clock of the book, as the bucket reads it.
fn as_millis(time: Monotonic) -> UnixMillis {
    UnixMillis(i64::try_from(time.0.as_millis()).unwrap_or(i64::MAX))
}

/// One attempt that is to be made now.
struct Due {
    number: u64,
    headers: Result<Vec<(String, String)>, String>,
    body: Bytes,
}

impl Due {
    fn of(signer: &Signer, series: &Series, number: u64) -> Self {
        let headers = signer.headers(&series.event, series.attempts, SystemClock.now());
        let headers = headers.map_err(|reason| format!("it cannot be signed: {reason}"));
        Self { number, headers, body: Bytes::copy_from_slice(&series.event.body) }
    }

    async fn made(self, receiver: &Receiver, timeout: Duration) -> (u64, Attempted) {
        let headers = match self.headers {
            Ok(headers) => headers,
            Err(reason) => return (self.number, Attempted::Unanswered(reason)),
        };
        let ended = match receiver.post(&headers, self.body, timeout, MOST_READ).await {
            Ok(answer) => answered(&answer, &headers),
            Err(unanswered) => Attempted::Unanswered(unanswered.to_string()),
        };
        (self.number, ended)
    }
}

fn answered(answer: &Answer, sent: &[(String, String)]) -> Attempted {
    let header = |name| answer.headers.get(name).and_then(|value| value.to_str().ok());
    let asked = header(http::header::RETRY_AFTER).and_then(|text| retry_after(text, SystemClock.now()));
    let says = match (answer.status, header(http::header::LOCATION)) {
        (300..=399, Some(elsewhere)) => {
            let elsewhere = elsewhere.split(['?', '#']).next().unwrap_or_default();
            shown(elsewhere.as_bytes(), sent)
                .map(|place| format!("it is at {place}, and redirects are not followed"))
        }
        _ => shown(&answer.body, sent),
    };
    Attempted::Answered { status: answer.status, asked, says }
}
