//! `sekali pause`, `sekali resume`, `sekali pauses`.

use super::answer::Answer;
use super::at::At;
use super::confirm::Why;
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use anyhow::{Result, bail, ensure};
use clap::Args;
use sekali::ids::EndpointName;
use sekali::pause::{DRAINED_PER_MINUTE, Drain, Pauses, REMEMBERED_FOR};
use sekali::ports::{Due, PauseRecord, Write};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::Listed;
use serde_json::json;
use std::ops::ControlFlow;
use std::time::Duration;

/// Humans who pause at the same moment.
const ROUNDS: usize = 8;

/// How often the sweeper comes.
const SWEPT_EVERY: Duration = Duration::from_secs(60);

/// Waiting events that are counted: beyond it the exact number helps nobody.
const MOST_COUNTED: u32 = 1000;

/// Pause an endpoint: its deliveries are verified, stored and acknowledged as
/// ever, and nothing new begins for them until `sekali resume`.
///
/// A call that is under way ends by itself. Nothing grows old by the pause, and
/// waiting counts as no attempt.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sekali pause stripe --reason 'packing is down' --stack sekali-prod")]
pub struct Pause {
    /// The endpoint.
    endpoint: String,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    pub(super) at: At,
}

/// End a pause: what waited drains at this rate, what comes now goes at once.
/// While it drains, the same changes the rate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali resume stripe --stack sekali-prod
  sekali resume stripe --per-minute 60 --stack sekali-prod")]
pub struct Resume {
    /// The endpoint.
    endpoint: String,
    /// How many of the waiting events go in a minute.
    #[arg(long, value_name = "N", default_value_t = DRAINED_PER_MINUTE, value_parser = clap::value_parser!(u32).range(1..))]
    per_minute: u32,
    #[command(flatten)]
    pub(super) at: At,
}

/// List what is paused, or drains after a pause: since when, who and why.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sekali pauses --stack sekali-prod")]
pub struct ListPauses {
    #[command(flatten)]
    pub(super) at: At,
}

/// Reads the pauses, lets `change` change them, and writes them unless another
/// human was faster.
async fn change(desk: &Desk, change: impl Fn(&Pauses) -> Result<Pauses>) -> Result<Pauses> {
    for _ in 0..ROUNDS {
        let pauses = desk.store.pauses().await?;
        let to = change(&pauses)?;
        if desk.store.set_pauses(pauses.version, &to).await? == Write::Applied {
            return Ok(to);
        }
    }
    bail!("others changed the pauses {ROUNDS} times meanwhile: try again")
}

impl Pause {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let endpoint = EndpointName::new(self.endpoint.as_str());
        let configured = &desk.deployment.config.endpoints;
        ensure!(
            configured.is_empty() || configured.contains_key(&endpoint),
            "no endpoint {endpoint} in the configuration; there is {}",
            configured.keys().map(EndpointName::as_str).collect::<Vec<_>>().join(", ")
        );
        let (who, why) = (desk.who()?, self.why.text()?);
        let now = SystemClock.now();
        let pauses = change(desk, |pauses| Ok(pauses.pausing(&endpoint, &who, why, now))).await?;
        let mut page = desk.page();
        page.line(format_args!(
            "{endpoint} is paused within {}: deliveries are stored and acknowledged, nothing new begins",
            shown::span(REMEMBERED_FOR)
        ));
        page.line(format_args!("end it with: {}", desk.hint(format_args!("resume {endpoint}"))));
        Ok(page.answer(json(&pauses), Ended::Well))
    }
}

impl Resume {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let endpoint = EndpointName::new(self.endpoint.as_str());
        let drain =
            Drain { at: SystemClock.now(), who: desk.who()?, per_minute: self.per_minute, over: None };
        let resumed = change(desk, |pauses| match pauses.resuming(&endpoint, drain.clone()) {
            Some(to) => Ok(to),
            None => bail!("{endpoint} is not paused, and nothing waits there: see `sekali pauses`"),
        });
        let pauses = resumed.await?;
        let mut page = desk.page();
        page.line(format_args!(
            "{endpoint} goes on: what waited drains at {} events a minute, what comes now goes at once",
            self.per_minute
        ));
        if let Some(drain) = pauses.drain(&endpoint) {
            page.line(self.turns(waiting(desk, &endpoint, drain).await?, SystemClock.now()));
        }
        Ok(page.answer(json(&pauses), Ended::Well))
    }

    /// When what waits is taken up.
    fn turns(&self, waiting: u32, now: UnixMillis) -> String {
        let first = now.plus(REMEMBERED_FOR + SWEPT_EVERY);
        let runs = waiting.saturating_sub(1) / self.per_minute.max(1);
        let (first, last) = (shown::time(first), shown::time(first.plus(SWEPT_EVERY * runs)));
        match waiting {
            0 => "nothing waits".to_owned(),
            MOST_COUNTED.. => {
                format!("{MOST_COUNTED} or more wait: the sweeper takes up the first by {first}")
            }
            1 => format!("1 waits: the sweeper takes it up by {first}"),
            _ if first == last => format!("{waiting} wait: the sweeper takes them up by {first}"),
            _ => format!("{waiting} wait: the sweeper takes up the first by {first}, the last by {last}"),
        }
    }
}

/// How many of an endpoint's events wait for their turn, up to [`MOST_COUNTED`].
async fn waiting(desk: &Desk, endpoint: &EndpointName, drain: &Drain) -> Result<u32> {
    let mut waiting = 0;
    let look = |listed| {
        if let Listed::Event(event) = listed
            && event.endpoint == *endpoint
            && drain.brings(&event)
        {
            waiting += 1;
        }
        if waiting < MOST_COUNTED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    desk.store.standing(&[Due::Open], look).await?;
    Ok(waiting)
}

impl ListPauses {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let pauses = desk.store.pauses().await?;
        let now = SystemClock.now();
        let mut page = desk.page();
        let on_record: Vec<_> = pauses.endpoints.iter().filter(|(_, pause)| pause.holds_back()).collect();
        let rows = on_record.iter().map(|(endpoint, pause)| {
            let state = match &pause.ended {
                None => format!("paused for {}", shown::span(now.since(pause.since))),
                Some(ended) => {
                    format!("drains at {} a minute since {}", ended.per_minute, shown::time(ended.at))
                }
            };
            [endpoint.to_string(), state, shown::time(pause.since), pause.who.to_string(), pause.why.clone()]
        });
        page.table(["endpoint", "state", "paused at", "by", "why"], rows.collect());
        if on_record.is_empty() {
            page.line("nothing is paused");
        }
        let paused = pauses.endpoints.values().any(|pause| pause.ended.is_none());
        Ok(page.answer(json(&pauses), Ended::with(paused)))
    }
}

fn json(pauses: &Pauses) -> serde_json::Value {
    let endpoints: serde_json::Map<_, _> = pauses
        .endpoints
        .iter()
        .filter(|(_, pause)| pause.holds_back())
        .map(|(endpoint, pause)| {
            let ended = pause.ended.as_ref().map(|ended| {
                json!({ "at": shown::time(ended.at), "who": ended.who.as_str(), "per_minute": ended.per_minute })
            });
            let value = json!({ "since": shown::time(pause.since), "who": pause.who.as_str(), "why": pause.why, "ended": ended });
            (endpoint.to_string(), value)
        })
        .collect();
    json!({ "endpoints": endpoints })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        resume: Resume,
    }

    #[test]
    fn whoever_resumes_is_told_when_what_waits_is_taken_up() {
        let line = Line::parse_from(["resume", "shop", "--per-minute", "60", "--local"]);
        let told = |waiting| line.resume.turns(waiting, UnixMillis(1_800_000_000_000));
        assert_eq!(told(0), "nothing waits");
        assert_eq!(told(1), "1 waits: the sweeper takes it up by 2027-01-15T08:01:10.000Z");
        assert_eq!(
            told(61),
            "61 wait: the sweeper takes up the first by 2027-01-15T08:01:10.000Z, the last by 2027-01-15T08:02:10.000Z"
        );
        assert_eq!(
            told(1000),
            "1000 or more wait: the sweeper takes up the first by 2027-01-15T08:01:10.000Z"
        );
    }
}
