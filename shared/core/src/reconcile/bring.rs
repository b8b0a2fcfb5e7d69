//! Takes in an event that never arrived, as a delivery of it would have been:
//! the payload, then the event in one with who brought it, then its message.

use super::Subject;
use crate::deployment::Deployment;
use crate::http::Request;
use crate::ids::{Generation, Who};
use crate::ingest::listed::{self, NotAnEvent, Told};
use crate::key::EventKey;
use crate::ports::{Create, Entropy, HistoryRecord, Queue, Store, StoreError};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::history::{Decided, LONGEST_WHY};
use crate::sweep::message;
use crate::time::Clock;
use std::sync::Arc;
use thiserror::Error;

/// What the record calls it.
const WHAT: &str = "reconcile";

/// Tries at one event that others write at the same time.
const ROUNDS: usize = 8;

/// Brings events, over its ports.
pub struct Bring<S, Q, C, E> {
    /// The tables.
    pub store: S,
    /// Where the event is sent.
    pub queue: Q,
    /// Time.
    pub clock: C,
    /// Randomness.
    pub entropy: E,
    /// Rules and windows.
    pub deployment: Arc<Deployment>,
}

/// Who brings it, and why.
#[derive(Debug, Clone, Copy)]
pub struct OnWhoseWord<'a> {
    /// Who.
    pub who: &'a Who,
    /// Why; at most [`LONGEST_WHY`] characters are kept.
    pub why: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Brought {
    /// It is kept and on record.
    Kept {
        /// `received`, or `held` where a person has to look.
        status: EventStatus,
        /// Its message was sent. Where the queue refused, the sweeper sends it.
        sent: bool,
    },
    /// It is there: a delivery, or somebody else, was faster. Nothing was written.
    ArrivedMeanwhile(EventStatus),
}

/// Why an event was not brought. To try again is safe.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotBrought {
    /// A delivery of it would not have been kept.
    #[error(transparent)]
    NotAnEvent(#[from] NotAnEvent),
    /// The content is that of another event than the list says.
    #[error("its content names another event")]
    AnotherEvent,
    /// The tables did not answer as they should.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Others wrote it all the time.
    #[error("it changed {ROUNDS} times while it was brought")]
    Contended,
}

impl<S: Store + HistoryRecord, Q: Queue, C: Clock, E: Entropy> Bring<S, Q, C, E> {
    /// Takes in what the vendor's list says was sent, on condition that no
    /// event of this key is there: a webhook that comes meanwhile wins, and
    /// one that comes later repeats it.
    ///
    /// The payload is durable before the event that points to it (INV-1); what
    /// breaks off before the event is there leaves a payload that expires, and
    /// what breaks off after it leaves an event that the sweeper sends.
    ///
    /// # Errors
    /// See [`NotBrought`].
    pub async fn bring(
        &self,
        subject: Subject<'_>,
        key: &EventKey,
        request: &Request,
        word: OnWhoseWord<'_>,
    ) -> Result<Brought, NotBrought> {
        let (now, correlation) = (self.clock.now(), self.entropy.correlation());
        let told = Told { tenant: subject.tenant, correlation: &correlation, now };
        let limits = self.deployment.limits(&subject.endpoint.name);
        let (event, payload) = listed::event(subject.endpoint, request, told, &limits, &self.entropy)?;
        if event.key != *key {
            return Err(NotBrought::AnotherEvent);
        }
        // Most of those that came meanwhile are met here, and leave no payload.
        if let Some(stored) = self.store.event(key).await? {
            return Ok(Brought::ArrivedMeanwhile(stored.progress.status));
        }
        let expires = now.expires_after(limits.window);
        self.store.put_payload(&event.key, &event.hash, &payload, expires).await?;
        if event.progress.expires.is_none() {
            // Born for a human: its payload's TTL goes before the event is
            // there without one (INV-9).
            self.store.keep_payload(&event.key, &event.hash, event.progress.generation).await?;
        }
        match self.create(&event, word).await? {
            Some(stored) => Ok(Brought::ArrivedMeanwhile(stored.progress.status)),
            None => Ok(Brought::Kept { status: event.progress.status, sent: self.send(&event).await }),
        }
    }

    /// Creates the event on record. The stored one, where it is another.
    async fn create(&self, event: &Event, word: OnWhoseWord<'_>) -> Result<Option<Event>, NotBrought> {
        for _ in 0..ROUNDS {
            let history = self.store.history(&event.key).await?;
            let decided = Decided {
                at: event.received_at,
                who: word.who.clone(),
                what: WHAT.to_owned(),
                about: None,
                why: word.why.chars().take(LONGEST_WHY).collect(),
                from: event.progress.status,
                generation: Generation::FIRST,
            };
            match self.store.create_recorded(event, &history.with(&event.key, decided)).await {
                Ok(Create::Created) => return Ok(None),
                // Our own earlier try, whose answer was lost.
                Ok(Create::Exists(stored)) if stored.put_nonce == event.put_nonce => return Ok(None),
                Ok(Create::Exists(stored)) => return Ok(Some(*stored)),
                Err(StoreError::Contended | StoreError::Unknown(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(NotBrought::Contended)
    }

    async fn send(&self, event: &Event) -> bool {
        if event.progress.status != EventStatus::Received {
            return false;
        }
        let message = message(event, event.correlation.clone(), self.clock.now());
        let sent = self.queue.send(&message).await;
        if let Err(error) = &sent {
            tracing::warn!(event.key = %event.key, correlation.id = %event.correlation, %error, "enqueue deferred to the sweeper");
        }
        sent.is_ok()
    }
}
