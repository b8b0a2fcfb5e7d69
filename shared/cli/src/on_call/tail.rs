//! `sekali tail`: what happens, as it happens.

use super::at::At;
use super::desk::Desk;
use super::events::Filters;
use super::shown;
use crate::ended::Ended;
use crate::interrupted::interrupted;
use crate::paint::plain;
use crate::say::heard;
use anyhow::Result;
use clap::Args;
use sekali::config;
use sekali::ids::Generation;
use sekali::key::EventKey;
use sekali::ports::Due;
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Looks in a row that may fail before it ends: a table that is throttled for a
/// moment is no reason to stop following.
const IN_A_ROW: u32 = 5;

/// Follow events: one line for each that comes, moves or comes to its end,
/// until Ctrl-C.
///
/// Looks at the index of what is open or needs a human; an event that is done
/// between two looks is not seen there. --whole looks through the whole table
/// each time, which costs and takes as long as the table is large. What was
/// there before is not shown until it moves.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali tail --stack sekali-prod
  sekali tail --status failed --json --stack sekali-prod
  sekali tail --endpoint stripe --every 1s --whole --local

Exit codes: 0 it was ended (Ctrl-C, or nobody reads any more), 2 it could not be looked at.")]
pub struct Tail {
    #[command(flatten)]
    filters: Filters,
    /// How long between two looks.
    #[arg(long, default_value = "2s", value_parser = config::span)]
    every: Duration,
    /// Look through the whole table.
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    pub(super) at: At,
}

/// What of an event is worth a line when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    status: EventStatus,
    reason: Option<Slug>,
    generation: Generation,
    attempts: u32,
    deliveries: u64,
    conflicts: u64,
}

impl Facts {
    fn of(event: &Event) -> Self {
        Self {
            status: event.progress.status,
            reason: event.progress.reason.as_ref().map(|reason| reason.slug),
            generation: event.progress.generation,
            attempts: event.progress.attempts,
            deliveries: event.seen.deliveries,
            conflicts: event.seen.conflicts,
        }
    }

    /// Did a delivery change it, and not only what was done about it?
    fn came_since(self, before: Option<&Self>) -> bool {
        before.is_none_or(|before| (self.deliveries, self.conflicts) != (before.deliveries, before.conflicts))
    }
}

/// What one look saw.
#[derive(Debug, Default)]
struct Sight {
    all: BTreeMap<EventKey, Facts>,
    /// New, or other than before; and when that came to be, as far as it is known.
    changed: Vec<(UnixMillis, Event)>,
    unreadable: usize,
}

impl Sight {
    fn take(&mut self, event: Event, before: &Self, now: UnixMillis) {
        let (facts, known) = (Facts::of(&event), before.all.get(&event.key));
        if known == Some(&facts) {
            return;
        }
        let at = if facts.came_since(known) { event.seen.last_at } else { now };
        self.changed.push((at, event));
    }
}

impl Tail {
    /// Follows until it is ended.
    pub(super) async fn follow(&self, desk: &Desk) -> Result<Ended> {
        if !self.whole {
            let every = shown::span(self.every);
            eprintln!("following {}; what is done within {every} is seen with --whole only", desk.receiver);
        }
        let mut stop = std::pin::pin!(interrupted());
        let (mut before, mut failed) = (None, 0);
        loop {
            let looked = tokio::select! {
                biased;
                ended = &mut stop => return ended.map(|_| Ended::Well),
                looked = self.look(desk, before.as_ref()) => looked,
            };
            match looked {
                Ok(now) => {
                    failed = 0;
                    if !self.show(desk, &now, before.as_ref()) {
                        return Ok(Ended::Well);
                    }
                    before = Some(now);
                }
                Err(error) if before.is_some() && failed < IN_A_ROW => {
                    failed += 1;
                    eprintln!("not looked at, and looked at again: {error:#}");
                }
                Err(error) => return Err(error),
            }
            tokio::select! {
                biased;
                ended = &mut stop => return ended.map(|_| Ended::Well),
                () = tokio::time::sleep(self.every) => {}
            }
        }
    }

    /// Says whether somebody still reads.
    fn show(&self, desk: &Desk, now: &Sight, before: Option<&Sight>) -> bool {
        if now.unreadable > before.map_or(0, |before| before.unreadable) {
            eprintln!("{} items cannot be read: `sekali events list` names them", now.unreadable);
        }
        if before.is_none() {
            // What was there before is not what comes.
            eprintln!("following {}; Ctrl-C ends it", desk.receiver);
            return true;
        }
        let filter = self.filters.filter(SystemClock.now());
        now.changed.iter().filter(|(_, event)| filter.admits(event)).all(|(at, event)| match self.at.json {
            true => heard(shown::event(event)),
            false => heard(line(*at, event)),
        })
    }

    async fn look(&self, desk: &Desk, before: Option<&Sight>) -> Result<Sight> {
        let nothing = Sight::default();
        let before = before.unwrap_or(&nothing);
        let (now, lasting) = (SystemClock.now(), self.lasting());
        let mut sight = Sight::default();
        let see = |listed| {
            match listed {
                Listed::Event(event) if lasting.admits(&event) => {
                    sight.all.insert(event.key.clone(), Facts::of(&event));
                    sight.take(event, before, now);
                }
                Listed::Event(_) => {}
                Listed::Unreadable(_) => sight.unreadable += 1,
            }
            ControlFlow::Continue(())
        };
        match self.whole {
            true => desk.store.all(&lasting, see).await?,
            false => desk.store.standing(&Due::ALL, see).await?,
        }
        // What left the index is read once more, so that its end is seen.
        let gone: Vec<EventKey> =
            before.all.keys().filter(|key| !sight.all.contains_key(*key)).cloned().collect();
        for listed in desk.store.events(&gone).await? {
            if let Listed::Event(event) = listed {
                // It may only have moved from one part to another while we looked.
                if !event.has_ended() {
                    sight.all.insert(event.key.clone(), Facts::of(&event));
                }
                sight.take(event, before, now);
            }
        }
        sight.changed.sort_by(|(at, event), (other_at, other)| {
            (at, event.received_at, &event.key).cmp(&(other_at, other.received_at, &other.key))
        });
        Ok(sight)
    }

    /// What never changes of an event. Everything else is asked of what is
    /// shown alone, or nobody would see an event move to where it is looked for.
    fn lasting(&self) -> EventFilter {
        let whole = self.filters.filter(UnixMillis(0));
        EventFilter {
            endpoint: whole.endpoint,
            tenant: whole.tenant,
            event_type: whole.event_type,
            ..EventFilter::default()
        }
    }
}

fn line(at: UnixMillis, event: &Event) -> String {
    let event_type = event.event_type.as_ref().map_or("-", |event_type| event_type.as_str());
    let line = format!(
        "{}  {}  {}  {event_type}  {}  {}",
        shown::time(at),
        event.endpoint,
        event.id,
        event.progress.status.as_str(),
        shown::reason(event.progress.reason.as_ref())
    );
    plain(line.trim_end())
}
