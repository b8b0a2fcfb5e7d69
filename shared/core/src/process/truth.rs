//! Asking a vendor's API what is so, where an event is only a signal.
//!
//! Reads coalesce: within one batch the same question is asked once. Every
//! event of the batch was received before any of its questions was asked, so
//! an answer serves all of them; no answer outlives its batch. Where the
//! resource follows the answer, it serves only those who saw the resource as
//! it was before the question, or as this very answer made it since: whoever
//! sees it further on asks anew (INV-3).

use super::{Deadline, Processor, RESERVE};
use crate::config::Fetch;
use crate::ids::{EndpointName, Tenant};
use crate::key::ResourceKey;
use crate::ports::{Destination, Entropy, Get, Got, LARGEST_ANSWER, NotGot, Outbound, Secrets, Store};
use crate::protocol::decide::Intent;
use crate::protocol::event::Event;
use crate::protocol::reason::{Reason, Slug};
use crate::protocol::resource::ResourceGuard;
use crate::rule::{SETTLED_AFTER, Truth};
use crate::secret::Secret;
use crate::time::{Clock, UnixMillis};
use crate::url_template::OutboundUrl;
use futures_util::lock::Mutex as Turn;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One question: of which endpoint, for whom, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question {
    endpoint: EndpointName,
    tenant: Option<Tenant>,
    url: OutboundUrl,
}

/// A resource as it was read.
pub(super) type Seen = (ResourceKey, ResourceGuard);

/// The questions of one batch and their answers.
#[derive(Debug, Default)]
pub(super) struct Readings(Mutex<BTreeMap<Question, Arc<Turn<Option<Reading>>>>>);

#[derive(Debug, Clone)]
struct Reading {
    answer: Result<Got, NotGot>,
    asked_at: UnixMillis,
    /// The resources than which the answer is newer, as they were then, and as
    /// this answer made them since.
    newer_than: Vec<Seen>,
}

/// Why there is nothing to decide on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTruth {
    /// Ask again.
    NotYet { cause: String, not_before: Option<Duration> },
    /// It will not be said.
    Never(String),
}

impl NoTruth {
    fn not_yet(cause: impl Into<String>) -> Self {
        Self::NotYet { cause: cause.into(), not_before: None }
    }

    /// What `decide` is told.
    pub fn intent(self) -> Intent<'static> {
        match self {
            Self::NotYet { cause, not_before } => {
                Intent::Unknown { reason: Reason::with(Slug::TruthUnread, cause), not_before }
            }
            Self::Never(cause) => Intent::Unknowable(Reason::with(Slug::TruthRefused, cause)),
        }
    }
}

impl Question {
    pub fn of(event: &Event, url: OutboundUrl) -> Self {
        Self { endpoint: event.endpoint.clone(), tenant: event.tenant.clone(), url }
    }
}

impl Readings {
    fn turn(&self, question: &Question) -> Arc<Turn<Option<Reading>>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(question.clone()).or_default())
    }

    /// What this answer made of a resource is as new as the answer.
    pub async fn made(&self, question: &Question, seen: Seen) {
        if let Some(reading) = self.turn(question).lock().await.as_mut() {
            reading.newer_than.push(seen);
        }
    }
}

impl<S: Store, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy> Processor<S, D, A, C, E> {
    /// What the API says, asked after `before` was read; or what it said to
    /// another event of the batch, where that is as good.
    pub(super) async fn truth(
        &self,
        (event, fetch): (&Event, &Fetch),
        question: &Question,
        before: Option<Seen>,
        (readings, deadline): (&Readings, Deadline),
    ) -> Result<Truth, NoTruth> {
        let turn = readings.turn(question);
        let mut turn = turn.lock().await;
        let serves =
            |reading: &&Reading| before.as_ref().is_none_or(|seen| reading.newer_than.contains(seen));
        let reading = match turn.as_ref().filter(serves) {
            Some(reading) => reading.clone(),
            None => {
                let asked_at = self.clock.now();
                let answer = self.ask(fetch, question, deadline).await?;
                log(event, &answer);
                turn.insert(Reading { answer, asked_at, newer_than: before.into_iter().collect() }).clone()
            }
        };
        drop(turn);
        meaning(reading, event.received_at)
    }

    /// Asks. An API that does not know our secret may know the one that its
    /// keeper has by now.
    async fn ask(
        &self,
        fetch: &Fetch,
        question: &Question,
        deadline: Deadline,
    ) -> Result<Result<Got, NotGot>, NoTruth> {
        let no_secret = |reason| NoTruth::not_yet(format!("its secret: {reason}"));
        let Some(auth) = &fetch.auth else {
            return self.get(fetch, question, None, deadline).await;
        };
        let name = auth
            .secret()
            .of(question.tenant.as_ref())
            .ok_or_else(|| NoTruth::not_yet("the tenant has no secret"))?;
        let now = self.clock.now();
        let credential = self.credentials.current(&self.api, &name, now).await.map_err(no_secret)?;
        let answer = self.get(fetch, question, Some(auth.field(&credential.secret)), deadline).await?;
        if credential.fresh || !matches!(&answer, Ok(Got { status: 401, .. })) {
            return Ok(answer);
        }
        match self.credentials.again(&self.api, &name, now).await {
            Ok(newer) if newer.secret != credential.secret => {
                self.get(fetch, question, Some(auth.field(&newer.secret)), deadline).await
            }
            Ok(_) | Err(_) => Ok(answer),
        }
    }

    async fn get(
        &self,
        fetch: &Fetch,
        question: &Question,
        authorized: Option<(String, Option<Secret>)>,
        deadline: Deadline,
    ) -> Result<Result<Got, NotGot>, NoTruth> {
        let timeout = match deadline {
            Deadline::At(end) => fetch.timeout.min(end.since(self.clock.now()).saturating_sub(RESERVE)),
            Deadline::Unknown => fetch.timeout,
        };
        if timeout.is_zero() {
            return Err(NoTruth::not_yet("too little of the invocation is left"));
        }
        let fixed =
            fetch.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value.as_str()).ok()));
        let headers = fixed
            .chain(authorized)
            .map(|(name, value)| value.map(|value| (name, value)))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| NoTruth::not_yet("its secret is blank"))?;
        let get = Get { url: &question.url, headers: &headers, timeout, largest: LARGEST_ANSWER };
        Ok(self.api.get(get).await)
    }
}

/// What an answer means for an event that was received then. *Not there* may
/// mean *not there yet*, but not for ever.
fn meaning(reading: Reading, received_at: UnixMillis) -> Result<Truth, NoTruth> {
    let settled = reading.asked_at.since(received_at) >= SETTLED_AFTER;
    match reading.answer {
        Ok(Got { status: 202, retry_after, .. }) => {
            Err(NoTruth::NotYet { cause: "the API answered 202".to_owned(), not_before: retry_after })
        }
        Ok(Got { status: 200..=299, body, .. }) => Truth::new(body, reading.asked_at)
            .map_err(|_| NoTruth::Never("the API's answer is not JSON".to_owned())),
        Ok(Got { status, retry_after, .. }) => {
            let cause = format!("the API answered {status}");
            match status {
                401 | 408 | 409 | 423 | 425 | 429 | 500..=599 => {
                    Err(NoTruth::NotYet { cause, not_before: retry_after })
                }
                404 if !settled => Err(NoTruth::NotYet { cause, not_before: retry_after }),
                _ => Err(NoTruth::Never(cause)),
            }
        }
        Err(error @ (NotGot::NotStarted(_) | NotGot::Unknown(_))) => {
            Err(NoTruth::not_yet(format!("the API: {error}")))
        }
        Err(error @ (NotGot::Forbidden(_) | NotGot::TooLarge(_))) => {
            Err(NoTruth::Never(format!("the API: {error}")))
        }
    }
}

fn log(event: &Event, answer: &Result<Got, NotGot>) {
    let (status, cause) = match answer {
        Ok(got) => (Some(got.status), String::new()),
        Err(error) => (None, error.to_string()),
    };
    tracing::info!(
        event.key = %event.key,
        endpoint.name = %event.endpoint,
        correlation.id = %event.correlation,
        truth.status = status,
        truth.cause = cause,
        "the vendor's API was asked"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(answer: Result<Got, NotGot>, waited: Duration) -> Result<Truth, NoTruth> {
        let reading = Reading { answer, asked_at: UnixMillis(0).plus(waited), newer_than: Vec::new() };
        meaning(reading, UnixMillis(0))
    }

    fn answered(status: u16) -> Result<Got, NotGot> {
        Ok(Got { status, retry_after: Some(Duration::from_secs(7)), link: None, body: b"{}".to_vec() })
    }

    #[test]
    fn every_answer_is_the_truth_not_yet_or_never() {
        for status in 100..=599 {
            let expected = match status {
                202 => "not yet",
                200..=299 => "truth",
                401 | 404 | 408 | 409 | 423 | 425 | 429 | 500.. => "not yet",
                _ => "never",
            };
            let word = match heard(answered(status), Duration::ZERO) {
                Ok(_) => "truth",
                Err(NoTruth::NotYet { not_before, .. }) => {
                    assert_eq!(not_before, Some(Duration::from_secs(7)), "{status}");
                    "not yet"
                }
                Err(NoTruth::Never(_)) => "never",
            };
            assert_eq!(word, expected, "{status}");
        }
    }

    #[test]
    fn what_is_not_there_yet_may_come_and_after_a_while_will_not() {
        assert!(matches!(heard(answered(404), SETTLED_AFTER), Err(NoTruth::Never(_))));
        assert!(matches!(heard(answered(429), SETTLED_AFTER), Err(NoTruth::NotYet { .. })));
    }

    #[test]
    fn silence_is_asked_again_and_what_nobody_can_read_is_not() {
        let silence = [NotGot::NotStarted("a".to_owned()), NotGot::Unknown("b".to_owned())];
        for error in silence {
            assert!(matches!(heard(Err(error), Duration::ZERO), Err(NoTruth::NotYet { .. })));
        }
        for error in [NotGot::TooLarge(9), NotGot::Forbidden("private".to_owned())] {
            assert!(matches!(heard(Err(error), Duration::ZERO), Err(NoTruth::Never(_))));
        }
        let page = Ok(Got { status: 200, retry_after: None, link: None, body: b"<html>".to_vec() });
        assert!(matches!(heard(page, Duration::ZERO), Err(NoTruth::Never(_))));
    }
}
