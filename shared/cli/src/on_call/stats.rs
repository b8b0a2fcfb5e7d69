//! `sekali stats`.

use super::answer::Answer;
use super::at::At;
use super::conflicts;
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use anyhow::Result;
use clap::Args;
use sekali::ids::EndpointName;
use sekali::ports::{Due, HistoryRecord, PauseRecord};
use sekali::protocol::event::{Event, EventStatus};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Longer open than this without an end is stuck: the message has had its
/// first tries, and the sweeper has looked at it.
const STUCK_AFTER: Duration = Duration::from_secs(15 * 60);

/// Count what is open or needs a human, by endpoint: open, stuck, failed, in
/// doubt, held by reason, and how old the oldest is; with --whole also
/// duplicates, and conflicts that nobody has judged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali stats --stack sekali-prod
  sekali stats --whole --json --stack sekali-prod     finished events, too: reads the whole table

Exit codes: 0 nothing needs a human, 1 something does, 2 it could not be looked at.")]
pub struct Stats {
    /// Count processed and ignored events, too: reads the whole table.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    pub(super) at: At,
}

/// What was counted of one endpoint.
#[derive(Debug, Default, Clone)]
struct Count {
    by_status: BTreeMap<&'static str, usize>,
    held: BTreeMap<&'static str, usize>,
    stuck: usize,
    duplicates: u64,
    /// Contents that nobody has judged.
    conflicts: usize,
    oldest_open: Option<UnixMillis>,
}

impl Count {
    fn take(&mut self, event: &Event, now: UnixMillis) {
        let progress = &event.progress;
        *self.by_status.entry(progress.status.as_str()).or_default() += 1;
        self.duplicates += event.seen.deliveries.saturating_sub(1);
        if progress.status == EventStatus::Held {
            let reason = progress.reason.as_ref().map_or("no reason", |reason| reason.slug.as_str());
            *self.held.entry(reason).or_default() += 1;
        }
        if matches!(progress.status, EventStatus::Received | EventStatus::Processing) {
            if now.since(progress.opened_at) >= STUCK_AFTER {
                self.stuck += 1;
            }
            let oldest = self.oldest_open.map_or(event.received_at, |oldest| oldest.min(event.received_at));
            self.oldest_open = Some(oldest);
        }
    }

    fn of(&self, status: EventStatus) -> usize {
        self.by_status.get(status.as_str()).copied().unwrap_or(0)
    }

    fn open(&self) -> usize {
        self.of(EventStatus::Received) + self.of(EventStatus::Processing)
    }

    fn needs_human(&self) -> bool {
        self.stuck + self.of(EventStatus::Failed) + self.of(EventStatus::InDoubt) + self.of(EventStatus::Held)
            > 0
    }

    fn oldest(&self, now: UnixMillis) -> Option<Duration> {
        self.oldest_open.map(|oldest| now.since(oldest))
    }

    fn held(&self) -> String {
        let each: Vec<_> = self.held.iter().map(|(reason, number)| format!("{reason} {number}")).collect();
        match each.is_empty() {
            true => "0".to_owned(),
            false => each.join(", "),
        }
    }

    fn json(&self, whole: bool, now: UnixMillis) -> Value {
        json!({
            "open": self.open(),
            "stuck": self.stuck,
            "by_status": self.by_status,
            "held": self.held,
            // Nearly all of them are of finished events, which only --whole sees.
            "duplicates": whole.then_some(self.duplicates),
            "conflicts": whole.then_some(self.conflicts),
            "oldest_open_s": self.oldest(now).map(|age| age.as_secs()),
        })
    }
}

/// The endpoints at which nothing new begins.
async fn paused(desk: &Desk) -> Result<Vec<String>> {
    let pauses = desk.store.pauses().await?.endpoints;
    let paused = pauses.iter().filter(|(_, pause)| pause.ended.is_none());
    Ok(paused.map(|(endpoint, _)| endpoint.to_string()).collect())
}

impl Stats {
    /// Everything that is counted by endpoint, and how much cannot be read.
    async fn counted(&self, desk: &Desk, now: UnixMillis) -> Result<(BTreeMap<EndpointName, Count>, usize)> {
        let mut counts: BTreeMap<EndpointName, Count> = BTreeMap::new();
        let (mut unreadable, mut in_conflict) = (0_usize, Vec::new());
        let look = |listed| {
            match listed {
                Listed::Event(event) => {
                    counts.entry(event.endpoint.clone()).or_default().take(&event, now);
                    if self.whole && !event.seen.conflict_hashes.is_empty() {
                        in_conflict.push(event);
                    }
                }
                Listed::Unreadable(_) => unreadable += 1,
            }
            ControlFlow::Continue(())
        };
        match self.whole {
            true => desk.store.all(&EventFilter::default(), look).await?,
            false => desk.store.standing(&Due::ALL, look).await?,
        }
        for event in &in_conflict {
            let history = desk.store.history(&event.key).await?;
            let open = conflicts::open(event, &history).len();
            counts.entry(event.endpoint.clone()).or_default().conflicts += open;
        }
        Ok((counts, unreadable))
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let now = SystemClock.now();
        let (counts, unreadable) = self.counted(desk, now).await?;
        let paused = paused(desk).await?;
        let mut page = desk.page();
        let finished = |number: String| if self.whole { number } else { "-".to_owned() };
        let rows = counts.iter().map(|(endpoint, count)| {
            [
                endpoint.to_string(),
                count.open().to_string(),
                count.stuck.to_string(),
                count.of(EventStatus::Failed).to_string(),
                count.of(EventStatus::InDoubt).to_string(),
                count.held(),
                finished(count.duplicates.to_string()),
                finished(count.conflicts.to_string()),
                count.oldest(now).map(shown::span).unwrap_or_default(),
            ]
        });
        let head = [
            "endpoint",
            "open",
            "stuck",
            "failed",
            "in doubt",
            "held",
            "duplicates",
            "conflicts",
            "oldest open",
        ];
        page.table(head, rows.collect());
        if counts.is_empty() {
            page.line("nothing is open and nothing needs a human");
        }
        if unreadable > 0 {
            page.line(format_args!("{unreadable} items cannot be read: `sekali events list` names them"));
        }
        if !paused.is_empty() {
            page.line(format_args!("paused: {}; see {}", paused.join(", "), desk.hint("pauses")));
        }
        if !self.whole {
            page.aside(format_args!("conflicts that nobody has judged: {}", desk.hint("conflicts list")));
        }
        let needs_human = unreadable > 0 || counts.values().any(Count::needs_human);
        let endpoints: serde_json::Map<_, _> = counts
            .iter()
            .map(|(endpoint, count)| (endpoint.to_string(), count.json(self.whole, now)))
            .collect();
        let json = json!({
            "whole": self.whole, "endpoints": endpoints, "paused": paused, "unreadable": unreadable,
        });
        Ok(page.answer(json, Ended::with(needs_human)))
    }
}
