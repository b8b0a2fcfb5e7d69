//! `sekali held`.

use super::answer::{Answer, counted};
use super::at::At;
use super::decide::About;
use super::desk::Desk;
use super::events::Filters;
use super::shown;
use crate::ended::Ended;
use anyhow::Result;
use clap::{Args, Subcommand};
use sekali::protocol::decide::Operator;
use sekali::protocol::event::EventStatus;
use sekali::time::Clock;
use sekali_aws::SystemClock;
use serde_json::json;
use std::collections::BTreeMap;

/// What is held: kept and shown, not processed, with a reason.
#[derive(Debug, Subcommand)]
pub enum Held {
    /// List what is held, by reason.
    #[command(after_help = "Examples:
  sekali held list --stack sekali-prod
  sekali held list --with-reason missing_key_part --endpoint stripe --json --local")]
    List(List),
    /// Process a held event after all, under today's rules. What holds it may
    /// hold it again: mend the rule or the vendor's description first.
    #[command(
        after_help = "Example:\n  sekali held release evt_1NxZ --reason 'version added' --stack sekali-prod"
    )]
    Release(About),
    /// A held event is not to be processed: it is ignored.
    #[command(
        after_help = "Example:\n  sekali held discard evt_1NxZ --reason 'a test of theirs' --stack sekali-prod"
    )]
    Discard(About),
}

/// Which of them.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    filters: Filters,
    /// How many at most.
    #[arg(long, default_value_t = 200)]
    limit: usize,
    #[command(flatten)]
    at: At,
}

impl Held {
    pub(super) fn at(&self) -> &At {
        match self {
            Self::List(list) => &list.at,
            Self::Release(of) | Self::Discard(of) => &of.at,
        }
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        match self {
            Self::List(list) => list.answer(desk).await,
            Self::Release(of) => of.answer(desk, Operator::Release).await,
            Self::Discard(of) => of.answer(desk, Operator::Discard).await,
        }
    }
}

impl List {
    async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let filters = Filters { status: Some(EventStatus::Held), ..self.filters.clone() };
        let found = filters.find(desk, self.limit).await?;
        let mut page = desk.page();
        let now = SystemClock.now();
        let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rows = Vec::new();
        for event in &found.events {
            let reason = event.progress.reason.as_ref();
            *by_reason.entry(reason.map_or("no reason", |reason| reason.slug.as_str())).or_default() += 1;
            rows.push([
                event.id.clone(),
                event.endpoint.to_string(),
                event.event_type.as_ref().map(ToString::to_string).unwrap_or_default(),
                shown::span(now.since(event.received_at)),
                shown::reason(reason),
            ]);
        }
        page.table(["id", "endpoint", "type", "age", "why it is held"], rows);
        for (reason, number) in &by_reason {
            page.line(format_args!("{number} {reason}"));
        }
        page.line(format_args!(
            "{} held{}",
            counted(found.events.len(), "event"),
            if found.more { "; there are more: --limit" } else { "" }
        ));
        if let Some(unknown) = self.filters.unknown(desk) {
            page.aside(unknown);
        }
        let json = json!({
            "events": found.events.iter().map(shown::event).collect::<Vec<_>>(),
            "by_reason": by_reason,
            "more": found.more,
        });
        Ok(page.answer(json, Ended::with(!found.events.is_empty())))
    }
}
