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
use sekali::ports::{PauseRecord, Write};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use serde_json::json;

/// Humans who pause at the same moment.
const ROUNDS: usize = 8;

/// Pause an endpoint: its deliveries are verified, stored and acknowledged as
/// ever, and nothing new begins for them until `sekali resume`.
///
/// A call that is under way ends by itself. Nothing grows old by the pause, and
/// waiting counts as no attempt. The sweeper looks at each waiting event at
/// growing intervals, up to an hour.
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
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali resume stripe --stack sekali-prod
  sekali resume stripe --per-minute 60 --stack sekali-prod     also changes the rate of one that drains")]
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
        let drain = Drain { at: SystemClock.now(), who: desk.who()?, per_minute: self.per_minute };
        let resumed = change(desk, |pauses| match pauses.resuming(&endpoint, drain.clone()) {
            Some(to) => Ok(to),
            None => bail!("{endpoint} is not paused: see `sekali pauses`"),
        });
        let pauses = resumed.await?;
        let mut page = desk.page();
        page.line(format_args!(
            "{endpoint} goes on: what waited drains at {} events a minute, what comes now goes at once",
            self.per_minute
        ));
        page.line(
            "the sweeper comes to the last of them within the hour, or within as long as the pause was",
        );
        Ok(page.answer(json(&pauses), Ended::Well))
    }
}

impl ListPauses {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let pauses = desk.store.pauses().await?;
        let now = SystemClock.now();
        let mut page = desk.page();
        let rows = pauses.endpoints.iter().map(|(endpoint, pause)| {
            let state = match &pause.ended {
                None => format!("paused for {}", shown::span(now.since(pause.since))),
                Some(ended) => {
                    format!("drains at {} a minute since {}", ended.per_minute, shown::time(ended.at))
                }
            };
            [endpoint.to_string(), state, shown::time(pause.since), pause.who.to_string(), pause.why.clone()]
        });
        page.table(["endpoint", "state", "paused at", "by", "why"], rows.collect());
        if pauses.endpoints.is_empty() {
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
