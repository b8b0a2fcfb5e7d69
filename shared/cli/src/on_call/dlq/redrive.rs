//! `sekali dlq redrive`.

use super::letters::{Joined, Would};
use super::plan::Meant;
use super::run::{Came, Order, Work};
use crate::on_call::answer::Answer;
use crate::on_call::at::At;
use crate::on_call::confirm::Consent;
use crate::on_call::desk::Desk;
use anyhow::{Context, Result};
use clap::Args;
use sekali::operate::{Said, Word};
use sekali::ports::Queue;
use sekali::protocol::decide::{Operator, Prospect};
use sekali::protocol::event::Event;
use sekali::sweep::message;
use sekali::time::Clock;
use sekali_aws::SystemClock;

/// Send dead letters round again: each event's next generation, with your name
/// and reason on record.
///
/// Shows a plan first. For each letter the event is reopened, its message is
/// sent, and only then the letter is taken away; where that breaks off, the
/// same command again goes on from there. It may run twice, by two people, and
/// beside the console's own redrive. Events that are processed are not
/// repeated: their letters are taken away.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali dlq redrive --reason 'packing is up again' --stack sekali-prod
  sekali dlq redrive --endpoint stripe --with-reason rejected --reason 'address mended' --yes --stack sekali-prod
  sekali dlq redrive evt_1NxZ --reason 'try one' --stack sekali-prod")]
pub struct Redrive {
    #[command(flatten)]
    meant: Meant,
    /// How many in a second.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    per_second: u32,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    pub(super) at: At,
}

/// Times that others may move an event between a look and our word.
const ROUNDS: usize = 4;

impl Redrive {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        desk.needs_rules()?;
        let order = Order {
            verb: "redrive",
            per_second: self.per_second,
            consent: &self.consent,
            json: self.at.json,
        };
        let work = Round { why: self.consent.why()? };
        order.carry_out(desk, &self.meant, &work).await
    }
}

struct Round<'a> {
    why: &'a str,
}

impl Work for Round<'_> {
    fn takes(&self, joined: &Joined) -> bool {
        let Would::Do(prospect) = &joined.would else { return false };
        prospect.goes_round() || matches!(prospect, Prospect::UnderWay | Prospect::Finished(_))
    }

    /// Reopen, send, take away: in this order, and each step may be repeated,
    /// so that whatever happens between two of them loses nothing (INV-1).
    async fn one(&self, desk: &Desk, joined: &Joined) -> Result<Came> {
        let mut joined = joined.clone();
        for _ in 0..ROUNDS {
            let Some(event) = &joined.event else { break };
            let said = match &joined.would {
                Would::Do(Prospect::Finished(status)) => {
                    desk.queues.take_away(&joined.letter).await?;
                    return Ok(Came::Done(format!("already {}: nothing was repeated", status.as_str())));
                }
                Would::Do(Prospect::UnderWay) => {
                    self.send(desk, event).await?;
                    desk.queues.take_away(&joined.letter).await?;
                    return Ok(Came::Done("was under way already: its message was sent again".to_owned()));
                }
                Would::Do(prospect) if prospect.goes_round() => {
                    let word = Word { operator: &Operator::Redrive, who: &desk.who()?, why: self.why };
                    desk.operate().say(&event.key, word).await?
                }
                _ => break,
            };
            match said {
                Said::Done { sent: true, event } => {
                    desk.queues.take_away(&joined.letter).await?;
                    return Ok(Came::Done(format!("sent round as generation {}", event.progress.generation)));
                }
                Said::Done { sent: false, .. } => {
                    return Ok(Came::Left("reopened, and the queue did not take its message: run it again, or the sweeper sends it".to_owned()));
                }
                // Somebody was faster: look again.
                Said::Refused(_) | Said::Followed(_) => {
                    joined = desk
                        .join(vec![joined.letter])
                        .await?
                        .pop()
                        .context("a letter is joined with its event")?;
                }
            }
        }
        Ok(Came::Left(format!("changed meanwhile: {}", joined.would)))
    }
}

impl Round<'_> {
    async fn send(&self, desk: &Desk, event: &Event) -> Result<()> {
        let message = message(event, event.correlation.clone(), SystemClock.now());
        desk.queues.queue.send(&message).await.map_err(Into::into)
    }
}
