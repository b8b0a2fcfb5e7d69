//! A human's decision about one event: asks `decide`, does what it says, and
//! puts on record who decided it and why. Nothing that people do writes around
//! this.

mod accept;
mod erase;
mod prospect;

pub use erase::Erased;

use crate::deployment::Deployment;
use crate::ids::Who;
use crate::key::{ActionKey, EventKey};
use crate::ports::{HistoryRecord, Queue, Store, StoreError, Write, apply};
use crate::protocol::action::Action;
use crate::protocol::decide::{
    Decision, End, Input, Intent, Operator, Read, State, Then, Undecidable, decide,
};
use crate::protocol::event::Event;
use crate::protocol::history::{Decided, LONGEST_WHY};
use crate::protocol::policy::{EffectPolicy, Limits};
use crate::protocol::transition::Transition;
use crate::sweep::message;
use crate::time::{Clock, UnixMillis};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Readings of an event that others move meanwhile.
const ROUNDS: usize = 8;

/// Where decisions are carried out, over its ports.
pub struct Operate<S, Q, C> {
    /// The tables.
    pub store: S,
    /// Where an event is sent round.
    pub queue: Q,
    /// Time.
    pub clock: C,
    /// Today's rules and windows.
    pub deployment: Arc<Deployment>,
}

/// What a human says, and on whose responsibility.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// What.
    pub operator: &'a Operator,
    /// Who.
    pub who: &'a Who,
    /// Why; at most [`LONGEST_WHY`] characters are kept.
    pub why: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It is done and on record; the event as it stands now.
    Done {
        /// The event afterwards.
        event: Box<Event>,
        /// Its message was sent. Where the queue refused, the sweeper sends it.
        sent: bool,
    },
    /// The action was settled meanwhile by evidence of its own; the event
    /// follows that, and what was said was not needed.
    Followed(Box<Event>),
    /// It may not be done, for this reason. Nothing was written.
    Refused(&'static str),
}

/// Why nothing is certain but what is read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotSaid {
    /// The store did not answer as it should.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The protocol has no answer: a bug.
    #[error(transparent)]
    Undecidable(#[from] Undecidable),
    /// The event was fought over.
    #[error("the event changed {ROUNDS} times while it was looked at: try again")]
    Contended,
}

/// What was read of an event.
struct Known<'d> {
    event: Option<Event>,
    action: Option<Option<Action>>,
    policy: Option<EffectPolicy>,
    intent: Option<Intent<'d>>,
}

impl Known<'_> {
    fn state(&self) -> State<'_> {
        match (&self.event, &self.action) {
            (None, _) => State::Missing,
            (Some(event), None) => State::Stored(event),
            (Some(event), Some(action)) => State::Bound {
                event,
                action: action.as_ref(),
                policy: self.policy.as_ref(),
                intent: self.intent.as_ref(),
            },
        }
    }
}

impl<S: Store + HistoryRecord, Q: Queue, C: Clock> Operate<S, Q, C> {
    /// Does what a human says about an event, if it may be done.
    ///
    /// # Errors
    /// See [`NotSaid`]: saying the same again is safe.
    pub async fn say(&self, key: &EventKey, word: Word<'_>) -> Result<Said, NotSaid> {
        let said_at = self.clock.now();
        let mut recorded = false;
        for _ in 0..ROUNDS {
            let (known, decision) = self.look(key, word.operator).await?;
            let (mut transition, then) = match (decision, known.event.as_ref()) {
                (Decision::Write { transition, then }, _) => (transition, then),
                (Decision::End(End::Refuse(_) | End::Drop), Some(event)) if recorded => {
                    return Ok(Said::Done { event: Box::new(event.clone()), sent: false });
                }
                (Decision::End(End::Refuse(why)), _) => return Ok(Said::Refused(why)),
                _ => return Err(Undecidable { state: "read", input: "operator" }.into()),
            };
            let Some(event) = known.event.as_ref() else { return Err(NotSaid::Contended) };
            let follows = follows(word.operator, &known, &transition);
            if !recorded && !follows {
                transition.history = Some(self.record(event, word, said_at).await?);
            }
            if let Operator::Accept { facts } = word.operator
                && !self.store.keep_payload(key, &facts.hash, event.progress.generation.next()).await?
            {
                return Ok(Said::Refused(accept::NOT_STORED));
            }
            match apply(&self.store, &transition).await {
                Ok(Write::Applied) => {}
                Ok(Write::Refused) | Err(StoreError::Contended) => continue,
                Err(StoreError::Unknown(_)) if !recorded && self.is_recorded(key, word, said_at).await? => {}
                Err(StoreError::Unknown(_)) => continue,
                Err(error) => return Err(error.into()),
            }
            if follows && !recorded {
                return Ok(Said::Followed(Box::new(after(event, &transition))));
            }
            recorded = true;
            self.let_go_of_old_content(event, &transition).await;
            if let Then::End(end) = then {
                return self.finish(event, &transition, end).await;
            }
        }
        Err(NotSaid::Contended)
    }

    /// Reads until something is decided.
    async fn look(&self, key: &EventKey, operator: &Operator) -> Result<(Known<'_>, Decision), NotSaid> {
        let event = self.store.event(key).await?;
        let limits = match &event {
            Some(event) => self.deployment.limits(&event.endpoint),
            None => Limits::standard(Duration::ZERO),
        };
        let mut known = Known { event, action: None, policy: None, intent: None };
        // The event alone, then its action, then today's rules.
        for _ in 0..3 {
            let decision = decide(known.state(), Input::Operator(operator), self.clock.now(), &limits)?;
            match decision {
                Decision::Read(Read::Action(action)) => self.read_action(&mut known, &action).await?,
                Decision::Read(Read::Intent) => self.read_intent(&mut known).await?,
                decision => return Ok((known, decision)),
            }
        }
        Err(NotSaid::Contended)
    }

    async fn read_action(&self, known: &mut Known<'_>, key: &ActionKey) -> Result<(), StoreError> {
        let action = self.store.action(key).await?;
        let destination = action.as_ref().map(|action| &action.request.destination);
        known.policy = destination.and_then(|name| self.deployment.policy(name));
        known.action = Some(action);
        Ok(())
    }

    async fn read_intent<'d>(&'d self, known: &mut Known<'d>) -> Result<(), StoreError> {
        let Some(event) = &known.event else { return Ok(()) };
        known.intent = Some(match self.store.payload(&event.key, &event.hash).await? {
            Some(payload) => self.deployment.intent(event, &payload),
            None => Intent::PayloadMissing,
        });
        Ok(())
    }

    async fn record(
        &self,
        event: &Event,
        word: Word<'_>,
        at: UnixMillis,
    ) -> Result<crate::protocol::history::HistoryWrite, StoreError> {
        let history = self.store.history(&event.key).await?;
        let decided = Decided {
            at,
            who: word.who.clone(),
            what: word.operator.as_str().to_owned(),
            about: match word.operator {
                Operator::Accept { facts } => Some(format!("{} for {}", facts.hash, event.hash)),
                operator => operator.about().map(str::to_owned),
            },
            why: word.why.chars().take(LONGEST_WHY).collect(),
            from: event.progress.status,
            generation: event.progress.generation,
        };
        Ok(history.with(&event.key, decided))
    }

    /// A write whose answer was lost: is it on record?
    async fn is_recorded(&self, key: &EventKey, word: Word<'_>, at: UnixMillis) -> Result<bool, StoreError> {
        let history = self.store.history(key).await?;
        let ours = |decided: &Decided| {
            decided.at == at && decided.who == *word.who && decided.what == word.operator.as_str()
        };
        Ok(history.decisions.iter().any(ours))
    }

    /// The content that another was accepted in the place of is only looked at
    /// from now on: its payload gets a TTL again (INV-9).
    async fn let_go_of_old_content(&self, event: &Event, transition: &Transition) {
        let accepts = transition.event.as_ref().is_some_and(|write| write.content.is_some());
        if accepts && event.progress.expires.is_none() {
            let expires = self.clock.now().expires_after(self.deployment.limits(&event.endpoint).window);
            let generation = event.progress.generation;
            let let_go = self.store.expire_payload(&event.key, &event.hash, generation, expires);
            if let Err(error) = let_go.await {
                tracing::warn!(event.key = %event.key, %error, "a payload kept no TTL");
            }
        }
    }

    async fn finish(&self, event: &Event, transition: &Transition, end: End) -> Result<Said, NotSaid> {
        let event = after(event, transition);
        if end != End::Send {
            return Ok(Said::Done { event: Box::new(event), sent: false });
        }
        let message = message(&event, event.correlation.clone(), self.clock.now());
        let sent = self.queue.send(&message).await;
        if let Err(error) = &sent {
            tracing::warn!(event.key = %event.key, %error, "enqueue deferred to the sweeper");
        }
        Ok(Said::Done { event: Box::new(event), sent: sent.is_ok() })
    }
}

/// Is it the event that follows its action, and not what the human said?
fn follows(operator: &Operator, known: &Known<'_>, transition: &Transition) -> bool {
    let resolves = matches!(operator, Operator::Happened { .. } | Operator::DidNotHappen { .. });
    resolves && transition.action.is_none() && matches!(known.action, Some(Some(_)))
}

/// The event as a transition leaves it.
fn after(event: &Event, transition: &Transition) -> Event {
    let mut event = event.clone();
    if let Some(write) = &transition.event {
        event.progress = write.to.clone();
        if let Some(content) = &write.content {
            event = event.with(&content.facts);
            event.seen.conflict_hashes.clone_from(&content.conflicts);
        }
    }
    event
}
