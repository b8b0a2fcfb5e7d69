//! `sekali dlq discard`.

use super::letters::{Joined, Letter, Would};
use super::plan::Meant;
use super::run::{Came, Order, Work};
use crate::on_call::answer::Answer;
use crate::on_call::at::At;
use crate::on_call::confirm::Consent;
use crate::on_call::desk::Desk;
use crate::on_call::shown;
use anyhow::{Context, Result, ensure};
use clap::Args;
use sekali::operate::Said;
use sekali::protocol::decide::{Operator, Prospect};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Take letters away whose events are not to go round again.
///
/// The event stays failed, as discarded, with your name and reason on record;
/// `sekali redrive` by its id still opens its next generation. What is in
/// doubt, held or under way is left. A letter without an event is on no record:
/// it is only taken away with --into, which keeps it in a file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali dlq discard evt_1NxZ --reason 'a test of theirs' --stack sekali-prod
  sekali dlq discard --endpoint stripe --type 'invoice.*' --reason 'not ours' --stack sekali-prod
  sekali dlq discard 0e5f6d1c --into letters.jsonl --reason 'sent by hand' --stack sekali-prod")]
pub struct Discard {
    #[command(flatten)]
    meant: Meant,
    /// All letters, where nothing else says which.
    #[arg(long)]
    all: bool,
    /// Keep letters without an event in this file, a line of JSON each.
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    pub(super) at: At,
}

/// Discarding calls nobody, so nothing is spared by doing it slowly.
const PER_SECOND: u32 = 100;

impl Discard {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        ensure!(
            self.all || self.meant.is_narrow(),
            "which letters? name events or messages, filter them (--endpoint, --type, --with-reason ..), or say --all"
        );
        let order =
            Order { verb: "discard", per_second: PER_SECOND, consent: &self.consent, json: self.at.json };
        let work = Away { why: self.consent.why()?, into: self.into.as_deref() };
        order.carry_out(desk, &self.meant, &work).await
    }
}

struct Away<'a> {
    why: &'a str,
    into: Option<&'a Path>,
}

impl Work for Away<'_> {
    fn takes(&self, joined: &Joined) -> bool {
        match &joined.would {
            Would::EventUnreadable(_) => false,
            Would::Unreadable | Would::Do(Prospect::NoEvent) => self.into.is_some(),
            Would::Do(Prospect::UnderWay | Prospect::InDoubt | Prospect::Held) => false,
            Would::Do(_) | Would::SwitchedOff(_) | Would::SwitchedOn(..) => true,
        }
    }

    /// On record first, then away.
    async fn one(&self, desk: &Desk, joined: &Joined) -> Result<Came> {
        let what = match (&joined.would, &joined.event) {
            (Would::Do(Prospect::Finished(status)), _) => format!("already {}", status.as_str()),
            (Would::Do(Prospect::Discarded), _) => "was discarded before".to_owned(),
            (_, Some(event)) => match desk.say(event, &Operator::Discard, self.why).await? {
                Said::Done { .. } => "discarded; the event stays failed".to_owned(),
                Said::Refused(why) => return Ok(Came::Left(why.to_owned())),
                Said::Followed(_) => return Ok(Came::Left("settled meanwhile".to_owned())),
            },
            (_, None) => {
                let into = self.into.context("a letter without an event needs --into")?;
                keep(into, &joined.letter, (desk.who()?.as_str(), self.why))?;
                format!("kept in {}", into.display())
            }
        };
        desk.queues.take_away(&joined.letter).await?;
        Ok(Came::Done(what))
    }
}

/// Writes a letter down so that it outlives the machine's next crash.
fn keep(into: &Path, letter: &Letter, (who, why): (&str, &str)) -> Result<()> {
    let line = json!({
        "message_id": letter.id,
        "body": letter.body,
        "sent_at": letter.sent_at.map(shown::time),
        "discarded_at": shown::time(SystemClock.now()),
        "who": who,
        "why": why,
    });
    let written = || {
        let mut file = OpenOptions::new().create(true).append(true).open(into)?;
        writeln!(file, "{line}")?;
        file.sync_data()
    };
    written().with_context(|| format!("the letter was not written to {}", into.display()))
}
