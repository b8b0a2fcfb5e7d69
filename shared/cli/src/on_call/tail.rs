//! `sekali tail`: what happens, as it happens.

use super::at::At;
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use crate::say::say;
use anyhow::Result;
use clap::Args;
use sekali::config;
use sekali::key::EventKey;
use sekali::ports::{Due, Store};
use sekali::protocol::event::Event;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Follow events: one line for each that comes, moves or comes to its end,
/// until Ctrl-C.
///
/// Looks at the index of what is open or needs a human; an event that is done
/// between two looks is not seen there. --whole looks through the whole table
/// each time, which costs and takes as long as the table is large.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali tail --stack sekali-prod
  sekali tail --endpoint stripe --every 1s --whole --local")]
pub struct Tail {
    /// Only this endpoint's.
    #[arg(long)]
    endpoint: Option<String>,
    /// How long between two looks.
    #[arg(long, default_value = "2s", value_parser = config::span)]
    every: Duration,
    /// Look through the whole table.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    pub(super) at: At,
}

/// What one look saw.
type Sight = BTreeMap<EventKey, Event>;

impl Tail {
    /// Follows until Ctrl-C.
    pub(super) async fn follow(&self, desk: &Desk) -> Result<Ended> {
        let mut before = self.look(desk).await?;
        loop {
            tokio::select! {
                pressed = tokio::signal::ctrl_c() => return pressed.map(|()| Ended::Well).map_err(Into::into),
                () = tokio::time::sleep(self.every) => {}
            }
            let mut now = self.look(desk).await?;
            for event in self.changed(desk, &before, &mut now).await? {
                match self.at.json {
                    true => say(shown::event(&event)),
                    false => say(line(&event)),
                }
            }
            before = now;
        }
    }

    async fn look(&self, desk: &Desk) -> Result<Sight> {
        let mut sight = Sight::new();
        let see = |listed| {
            if let Listed::Event(event) = listed
                && self.endpoint.as_deref().is_none_or(|endpoint| event.endpoint.as_str() == endpoint)
            {
                sight.insert(event.key.clone(), event);
            }
            ControlFlow::Continue(())
        };
        match self.whole {
            true => desk.store.all(&EventFilter::default(), see).await?,
            false => desk.store.standing(&Due::ALL, see).await?,
        }
        Ok(sight)
    }

    /// What is new or other than before. What left the index is read once
    /// more, so that its end is seen.
    async fn changed(&self, desk: &Desk, before: &Sight, now: &mut Sight) -> Result<Vec<Event>> {
        let mut changed: Vec<Event> = now
            .values()
            .filter(|event| before.get(&event.key).is_none_or(|seen| differs(seen, event)))
            .cloned()
            .collect();
        for key in before.keys().filter(|key| !now.contains_key(*key)) {
            changed.extend(desk.store.event(key).await?);
        }
        changed.sort_by_key(|event| event.seen.last_at);
        Ok(changed)
    }
}

fn differs(seen: &Event, event: &Event) -> bool {
    let facts = |event: &Event| {
        let progress = &event.progress;
        (progress.status, progress.generation, progress.attempts, event.seen.counted())
    };
    facts(seen) != facts(event)
}

fn line(event: &Event) -> String {
    let event_type = event.event_type.as_ref().map_or("-", |event_type| event_type.as_str());
    format!(
        "{}  {}  {}  {event_type}  {}  {}",
        shown::time(event.seen.last_at),
        event.endpoint,
        event.id,
        event.progress.status.as_str(),
        shown::reason(event.progress.reason.as_ref())
    )
}
