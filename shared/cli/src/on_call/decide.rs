//! What a human decides about one event: `redrive`, `discard`, `resolve`, `again`, `held
//! release` and `held discard`.

use super::answer::{Answer, Page};
use super::at::At;
use super::confirm::Why;
use super::desk::Desk;
use super::destinations::Switch;
use super::find::Which;
use super::shown;
use crate::ended::Ended;
use anyhow::{Result, ensure};
use clap::Args;
use sekali::key::{ActionKey, EventHash};
use sekali::operate::{Operate, Said, Word};
use sekali::ports::{Entropy, PauseRecord, Store};
use sekali::protocol::action::{ActionStatus, EffectResult};
use sekali::protocol::decide::{Operator, Prospect, quiet_from};
use sekali::protocol::event::{Event, EventStatus};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::{DynamoStore, SqsQueue, SystemClock, SystemEntropy};
use serde_json::json;
use std::sync::Arc;

impl Desk {
    /// Where decisions are carried out.
    pub fn operate(&self) -> Operate<DynamoStore, SqsQueue, SystemClock> {
        Operate {
            store: self.store.clone(),
            queue: self.queues.queue.clone(),
            clock: SystemClock,
            deployment: Arc::new(self.deployment.clone()),
        }
    }

    /// Carries out a decision about one event, on record.
    ///
    /// # Errors
    /// The tables do not answer, or the event is fought over.
    pub async fn say(&self, event: &Event, operator: &Operator, why: &str) -> Result<Said> {
        let who = self.who()?;
        Ok(self.operate().say(&event.key, Word { operator, who: &who, why }).await?)
    }

    /// Takes the content of a conflict in the place of what the event has.
    ///
    /// # Errors
    /// As [`Desk::say`].
    pub async fn accept(&self, event: &Event, hash: &EventHash, why: &str) -> Result<Said> {
        Ok(self.operate().accept(event, hash, &self.who()?, why).await?)
    }
}

/// Says what came of a decision, and what happens next.
pub(super) fn told(mut page: Page, event: &Event, what: &str, said: &Said) -> Answer {
    let (ended, json) = match said {
        Said::Done { event: now, sent } => {
            let status = now.progress.status;
            page.line(format_args!(
                "{}: {}; it is {} in generation {}",
                event.id,
                what,
                status.as_str(),
                now.progress.generation
            ));
            if status == EventStatus::Received {
                page.line(match sent {
                    true => "it was sent round; follow it with `sekali events show`",
                    false => "the queue did not take its message: the sweeper sends it within minutes",
                });
            }
            (Ended::Well, json!({ "done": true, "sent": sent, "event": shown::event(now) }))
        }
        Said::Followed(now) => {
            page.line(format_args!(
                "{}: its action was settled meanwhile, so it is {}; nothing else was written",
                event.id,
                now.progress.status.as_str()
            ));
            (Ended::Found, json!({ "done": false, "why": "settled meanwhile", "event": shown::event(now) }))
        }
        Said::Refused(why) => {
            page.line(format_args!("{}: not done: {why}", event.id));
            (Ended::Found, json!({ "done": false, "why": why, "event": shown::event(event) }))
        }
    };
    page.answer(json, ended)
}

async fn one(desk: &Desk, which: &Which, operator: Operator, why: &str) -> Result<Answer> {
    let page = desk.page();
    match which.find(desk).await? {
        None => Ok(page.nothing(which.nothing(desk))),
        Some(event) => {
            let said = desk.say(&event, &operator, why).await?;
            Ok(told(page, &event, operator.as_str(), &said))
        }
    }
}

/// Which event, and why.
#[derive(Debug, Args)]
pub struct About {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    pub(super) at: At,
}

impl About {
    pub(super) async fn answer(&self, desk: &Desk, operator: Operator) -> Result<Answer> {
        one(desk, &self.which, operator, self.why.text()?).await
    }

    /// A redrive to a destination that is switched off would only fail again.
    pub(super) async fn redrive(&self, desk: &Desk) -> Result<Answer> {
        let why = self.why.text()?;
        if let Some(event) = self.which.find(desk).await?
            && let Prospect::Acts(destination) =
                desk.operate().prospect(&event, &desk.store.pauses().await?).await?
        {
            let mut page = desk.page();
            let why = match desk.switch(&destination).await? {
                Switch::On => None,
                Switch::Off(off) => {
                    page.aside(super::destinations::next(desk, &off));
                    let since = shown::time(off.at);
                    Some(format!("{destination} is switched off since {since}: {}", off.cause))
                }
                Switch::HeardUntil(heard) => Some(format!(
                    "{destination} was switched on a moment ago, of which processors hear until {}",
                    shown::time(heard)
                )),
            };
            if let Some(why) = why {
                page.line(format_args!("{}: not done: {why}", event.id));
                let json = json!({ "done": false, "why": why, "event": shown::event(&event) });
                return Ok(page.answer(json, Ended::Found));
            }
        }
        one(desk, &self.which, Operator::Redrive, why).await
    }

    pub(super) async fn again(&self, desk: &Desk) -> Result<Answer> {
        self.answer(desk, Operator::Again { owner: SystemEntropy::new().owner() }).await
    }
}

/// Settle an event in doubt by what you found at its destination.
///
/// Look there for the idempotency key that `sekali events show` names. That it
/// did not happen is refused until the call can no longer take effect: the
/// lease, the destination's timeout and its settling time are over.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali resolve evt_1NxZ --happened task_81 --stack sekali-prod
  sekali resolve evt_1NxZ --did-not-happen --reason 'no such task at packing' --stack sekali-prod")]
pub struct Resolve {
    #[command(flatten)]
    which: Which,
    /// It happened; the destination's own reference to it.
    #[arg(long, value_name = "REF", required_unless_present = "did_not_happen")]
    happened: Option<String>,
    /// It certainly did not happen: the event fails, and can be redriven.
    #[arg(long, conflicts_with = "happened", requires = "reason")]
    did_not_happen: bool,
    /// How you know; it goes on record with your name.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
}

impl Resolve {
    /// From when on it can be known that a call did not happen, where it was
    /// refused to say so now.
    async fn not_before(&self, desk: &Desk, answer: &Answer) -> Result<Option<UnixMillis>> {
        let Some(key) = answer.json["event"]["action"].as_str().filter(|_| answer.ended == Ended::Found)
        else {
            return Ok(None);
        };
        let action = desk.store.action(&ActionKey::from_stored(key)).await?;
        let from = action
            .filter(|action| self.did_not_happen && action.status == ActionStatus::InDoubt)
            .map(|action| quiet_from(&action, desk.deployment.policy(&action.request.destination).as_ref()));
        Ok(from.filter(|from| *from > SystemClock.now()))
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let owner = SystemEntropy::new().owner();
        let reason = self.reason.as_deref().map(str::trim).unwrap_or_default();
        let operator = match &self.happened {
            Some(reference) => {
                ensure!(!reference.trim().is_empty(), "--happened wants the destination's reference to it");
                Operator::Happened { evidence: EffectResult(reference.trim().to_owned()), owner }
            }
            None => {
                ensure!(!reason.is_empty(), "--did-not-happen wants a --reason: how do you know?");
                Operator::DidNotHappen { evidence: reason.to_owned(), owner }
            }
        };
        let mut answer = one(desk, &self.which, operator, reason).await?;
        if let Some(from) = self.not_before(desk, &answer).await? {
            answer.aside.push(format!("it can be said from {} on", shown::time(from)));
        }
        if self.did_not_happen && answer.ended == Ended::Well {
            let redrive = desk.hint(format_args!("redrive {} --reason '..'", self.which.id));
            answer.aside.push(format!("to cause it after all: {redrive}"));
        }
        Ok(answer)
    }
}
