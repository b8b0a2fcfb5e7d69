//! `sekali events list`.

use crate::ended::Ended;
use crate::on_call::answer::{Answer, counted};
use crate::on_call::at::At;
use crate::on_call::desk::Desk;
use crate::on_call::shown;
use anyhow::{Result, anyhow};
use clap::Args;
use sekali::config;
use sekali::ports::Due;
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::{EventFilter, Listed, TypeFilter};
use serde_json::json;
use std::ops::ControlFlow;
use std::time::Duration;

/// List events: of an endpoint, of a type, standing somewhere, so old.
///
/// What is open or needs a human is in an index and costs as much as there is
/// of it. Processed and ignored events, and a list without --status, read the
/// whole table.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali events list --status failed --stack sekali-prod
  sekali events list --status held --with-reason missing_key_part --endpoint stripe --local
  sekali events list --type 'order.*' --newer-than 1h --limit 200 --json --local")]
pub struct List {
    #[command(flatten)]
    filters: Filters,
    /// How many at most.
    #[arg(long, default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    pub(super) at: At,
}

/// Which events.
#[derive(Debug, Clone, Default, Args)]
pub struct Filters {
    /// Received by this endpoint.
    #[arg(long)]
    pub endpoint: Option<String>,
    /// Of this tenant.
    #[arg(long)]
    pub tenant: Option<String>,
    /// received, processing, processed, ignored, failed, held or in_doubt.
    #[arg(long, value_parser = status)]
    pub status: Option<EventStatus>,
    /// For this reason, e.g. rejected.
    #[arg(long, value_name = "REASON", value_parser = slug)]
    pub with_reason: Option<Slug>,
    /// Of this type; `order.*` for all that begin like it.
    #[arg(long = "type", value_name = "TYPE")]
    pub event_type: Option<String>,
    /// First received so long ago or longer, e.g. 15m, 2h, 3d.
    #[arg(long, value_name = "SPAN", value_parser = config::span)]
    pub older_than: Option<Duration>,
    /// First received within so long.
    #[arg(long, value_name = "SPAN", value_parser = config::span)]
    pub newer_than: Option<Duration>,
}

fn status(word: &str) -> Result<EventStatus> {
    let words = || EventStatus::ALL.map(EventStatus::as_str).join(", ");
    EventStatus::from_stored(word).ok_or_else(|| anyhow!("a status is one of {}", words()))
}

fn slug(word: &str) -> Result<Slug> {
    let words = || Slug::ALL.iter().map(|slug| slug.as_str()).collect::<Vec<_>>().join(", ");
    Slug::from_stored(word).ok_or_else(|| anyhow!("a reason is one of {}", words()))
}

impl Filters {
    /// As the tables are asked.
    pub fn filter(&self, now: UnixMillis) -> EventFilter {
        EventFilter {
            endpoint: self.endpoint.as_deref().map(Into::into),
            tenant: self.tenant.as_deref().map(Into::into),
            status: self.status,
            reason: self.with_reason,
            event_type: self.event_type.as_deref().map(TypeFilter::parse),
            received_until: self.older_than.map(|age| now.minus(age)),
            received_from: self.newer_than.map(|age| now.minus(age)),
            ..EventFilter::default()
        }
    }

    /// What to say where no endpoint of the configuration has that name: one
    /// that is gone from it may still have events.
    pub fn unknown(&self, desk: &Desk) -> Option<String> {
        let endpoints = &desk.deployment.config.endpoints;
        let name = self.endpoint.as_deref()?;
        let is_known = endpoints.is_empty() || endpoints.contains_key(name);
        let known = || endpoints.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        (!is_known).then(|| format!("the configuration has no endpoint {name}; there is {}", known()))
    }

    /// Everything that the filters admit, up to a limit, and what could not be
    /// read. Says whether there may be more.
    ///
    /// # Errors
    /// The tables do not answer.
    pub async fn find(&self, desk: &Desk, limit: usize) -> Result<Found> {
        let filter = self.filter(SystemClock.now());
        let mut found = Found::default();
        let look = |listed| match listed {
            Listed::Event(event) if !filter.admits(&event) => ControlFlow::Continue(()),
            Listed::Event(_) if found.events.len() >= limit => {
                found.more = true;
                ControlFlow::Break(())
            }
            Listed::Event(event) => {
                found.events.push(event);
                ControlFlow::Continue(())
            }
            Listed::Unreadable(why) => {
                found.unreadable.push(why);
                ControlFlow::Continue(())
            }
        };
        match filter.status.map(Due::of) {
            Some(Some(class)) => desk.store.standing(&[class], look).await?,
            Some(None) | None => desk.store.all(&filter, look).await?,
        }
        found.events.sort_by_key(|event| event.received_at);
        Ok(found)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The events, the oldest first.
    pub events: Vec<Event>,
    /// Items that this version cannot read.
    pub unreadable: Vec<String>,
    /// There may be more than were asked for.
    pub more: bool,
}

impl List {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let found = self.filters.find(desk, self.limit).await?;
        let mut page = desk.page();
        let now = SystemClock.now();
        let rows = found.events.iter().map(|event| {
            [
                event.id.clone(),
                event.endpoint.to_string(),
                event.event_type.as_ref().map(ToString::to_string).unwrap_or_default(),
                event.progress.status.as_str().to_owned(),
                shown::span(now.since(event.received_at)),
                shown::reason(event.progress.reason.as_ref()),
            ]
        });
        page.table(["id", "endpoint", "type", "status", "age", "reason"], rows.collect());
        for why in &found.unreadable {
            page.line(format_args!("an item cannot be read: {why}"));
        }
        if let Some(unknown) = self.filters.unknown(desk) {
            page.aside(unknown);
        }
        let more = if found.more { "; there are more: --limit" } else { "" };
        page.line(format_args!("{}{more}", counted(found.events.len(), "event")));
        let json = json!({
            "events": found.events.iter().map(shown::event).collect::<Vec<_>>(),
            "unreadable": found.unreadable,
            "more": found.more,
        });
        Ok(page.answer(json, Ended::with(!found.unreadable.is_empty())))
    }
}
