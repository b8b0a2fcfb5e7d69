//! `sekali conflicts`: deliveries with the id of a known event and other content.

use super::answer::{Answer, counted};
use super::at::At;
use super::confirm::Why;
use super::decide::told;
use super::desk::Desk;
use super::events::{Filters, payload};
use super::find::Which;
use super::shown;
use crate::ended::Ended;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use sekali::key::EventHash;
use sekali::ports::{HistoryRecord, Store};
use sekali::protocol::decide::Operator;
use sekali::protocol::event::Event;
use sekali::protocol::history::{Decided, History};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Deliveries with the id of a known event and other content.
#[derive(Debug, Subcommand)]
pub enum Conflicts {
    /// List the events whose conflicts nobody has judged. Reads the whole table.
    #[command(after_help = "Examples:
  sekali conflicts list --stack sekali-prod
  sekali conflicts list --endpoint stripe --judged --json --local")]
    List(List),
    /// Show an event's content and what came with the same id, value by value.
    #[command(after_help = "Example:\n  sekali conflicts show evt_1NxZ --stack sekali-prod")]
    Show(Show),
    /// Take a conflicting content in the place of the first, and send the event
    /// round with it. An action that is done stays done: see `sekali again`.
    #[command(after_help = "Example:
  sekali conflicts accept evt_1NxZ --content 9f2c --reason 'they corrected the amount' --stack sekali-prod")]
    Accept(Judge),
    /// A conflicting content is not wanted: the first stays, and it is no
    /// longer listed.
    #[command(after_help = "Example:
  sekali conflicts reject evt_1NxZ --content 9f2c --reason 'a replayed test' --stack sekali-prod")]
    Reject(Judge),
}

/// Which of them.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    filters: Filters,
    /// Also those that somebody has accepted or rejected.
    #[arg(long)]
    judged: bool,
    #[command(flatten)]
    at: At,
}

/// Of which event.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    which: Which,
    /// Hide every value, keep the names.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    at: At,
}

/// Which content of which event, and why.
#[derive(Debug, Args)]
pub struct Judge {
    #[command(flatten)]
    which: Which,
    /// The content, by the beginning of its hash; not needed where there is one.
    #[arg(long, value_name = "HASH")]
    content: Option<String>,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    at: At,
}

impl Conflicts {
    pub(super) fn at(&self) -> &At {
        match self {
            Self::List(list) => &list.at,
            Self::Show(show) => &show.at,
            Self::Accept(judge) | Self::Reject(judge) => &judge.at,
        }
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        match self {
            Self::List(list) => list.answer(desk).await,
            Self::Show(show) => show.answer(desk).await,
            Self::Accept(judge) => judge.answer(desk, Verdict::Accept).await,
            Self::Reject(judge) => judge.answer(desk, Verdict::Reject).await,
        }
    }
}

/// The listed contents that nobody has judged yet.
pub(super) fn open<'e>(event: &'e Event, history: &History) -> Vec<&'e EventHash> {
    event.seen.conflict_hashes.iter().filter(|hash| verdict(hash, history).is_none()).collect()
}

/// The last decision about a content. One that was accepted names the content
/// before it, too, which is listed as a conflict from then on.
fn verdict<'h>(hash: &EventHash, history: &'h History) -> Option<&'h Decided> {
    let about = |decided: &&Decided| {
        decided
            .about
            .as_deref()
            .is_some_and(|about| about.split_whitespace().any(|word| word == hash.as_str()))
    };
    history.decisions.iter().rev().find(about)
}

impl List {
    async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let filter = EventFilter { in_conflict: true, ..self.filters.filter(SystemClock.now()) };
        let mut events = Vec::new();
        let look = |listed| {
            if let Listed::Event(event) = listed {
                events.push(event);
            }
            ControlFlow::Continue(())
        };
        desk.store.all(&filter, look).await?;
        let mut page = desk.page();
        let (mut rows, mut listed) = (Vec::new(), Vec::new());
        for event in &events {
            let history = desk.store.history(&event.key).await?;
            let open = open(event, &history);
            if open.is_empty() && !self.judged {
                continue;
            }
            let hashes: Vec<_> = open.iter().map(|hash| short(hash)).collect();
            rows.push([
                event.id.clone(),
                event.endpoint.to_string(),
                event.progress.status.as_str().to_owned(),
                event.seen.conflicts.to_string(),
                hashes.join(" "),
            ]);
            listed.push(json!({
                "event": shown::event(event),
                "open": open.iter().map(|hash| hash.as_str()).collect::<Vec<_>>(),
            }));
        }
        page.table(["id", "endpoint", "status", "conflicts", "not judged"], rows);
        page.line(format_args!("{} in conflict", counted(listed.len(), "event")));
        let found = !listed.is_empty();
        Ok(page.answer(json!({ "events": listed }), Ended::with(found)))
    }
}

fn short(hash: &EventHash) -> &str {
    hash.as_str().get(..12).unwrap_or(hash.as_str())
}

impl Show {
    async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let mut page = desk.page();
        let Some(event) = self.which.find(desk).await? else {
            return Ok(page.nothing(self.which.nothing(desk)));
        };
        let history = desk.store.history(&event.key).await?;
        let first = desk.store.payload(&event.key, &event.hash).await?;
        let first = first.map(|stored| payload::shown(&stored, self.redact).0);
        page.line(format_args!(
            "{} has content {}; {}",
            event.id,
            short(&event.hash),
            counted(
                usize::try_from(event.seen.conflicts).unwrap_or(usize::MAX),
                "delivery with other content"
            )
        ));
        let mut contents = Vec::new();
        for hash in &event.seen.conflict_hashes {
            let other = desk.store.payload(&event.key, hash).await?;
            let other = other.map(|stored| payload::shown(&stored, self.redact).0);
            let said = match verdict(hash, &history) {
                None => "not judged".to_owned(),
                Some(decided) => format!("{} by {}: {}", decided.what, decided.who, decided.why),
            };
            page.line("");
            page.line(format_args!("{} ({said})", short(hash)));
            let mut differences = Vec::new();
            match (&first, &other) {
                (Some(first), Some(other)) => differ("", first, other, &mut differences),
                (None, Some(_)) => page.line("  the event's own content is not stored any more"),
                (_, None) => page.line("  this content is not stored any more: it cannot be accepted"),
            }
            for [place, was, is] in &differences {
                page.line(format_args!("  {place}: {was} -> {is}"));
            }
            contents.push(json!({ "hash": hash.as_str(), "verdict": said, "content": other, "differences": differences }));
        }
        let unlisted = event.seen.conflicts.saturating_sub(u64::try_from(contents.len()).unwrap_or(0));
        if unlisted > 0 {
            page.line(format_args!(
                "\n{unlisted} more were counted: repeated contents, or beyond the three that are listed"
            ));
        }
        let json = json!({ "event": shown::event(&event), "content": first, "conflicts": contents });
        Ok(page.answer(json, Ended::Well))
    }
}

/// Where two values differ, by pointer.
fn differ(place: &str, was: &Value, is: &Value, found: &mut Vec<[String; 3]>) {
    match (was, is) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
                let (was, is) = (a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null));
                differ(&place, was, is, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (number, (was, is)) in a.iter().zip(b).enumerate() {
                differ(&format!("{place}/{number}"), was, is, found);
            }
        }
        (was, is) if was == is => {}
        (was, is) => found.push([place.to_owned(), was.to_string(), is.to_string()]),
    }
}

#[derive(Debug, Clone, Copy)]
enum Verdict {
    Accept,
    Reject,
}

impl Judge {
    async fn answer(&self, desk: &Desk, verdict: Verdict) -> Result<Answer> {
        let page = desk.page();
        let Some(event) = self.which.find(desk).await? else {
            return Ok(page.nothing(self.which.nothing(desk)));
        };
        let (hash, why) = (self.chosen(&event)?, self.why.text()?);
        let (what, said) = match verdict {
            Verdict::Accept => ("accept", desk.accept(&event, &hash, why).await?),
            Verdict::Reject => ("reject", desk.say(&event, &Operator::Reject { hash }, why).await?),
        };
        Ok(told(page, &event, what, &said))
    }

    fn chosen(&self, event: &Event) -> Result<EventHash> {
        let begins = |hash: &&EventHash| {
            self.content.as_deref().is_none_or(|wanted| hash.as_str().starts_with(wanted))
        };
        let listed: Vec<_> = event.seen.conflict_hashes.iter().filter(begins).collect();
        match listed[..] {
            [one] => Ok(one.clone()),
            [] => bail!("no conflict of {} has that content: see `sekali conflicts show`", event.id),
            _ => bail!(
                "which of {} contents? name it with --content: see `sekali conflicts show`",
                listed.len()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_contents_are_compared_value_by_value() {
        let (was, is) =
            (json!({"a": {"b/c": 1, "d": [1, 2]}, "e": 0}), json!({"a": {"b/c": 2, "d": [1, 3]}, "f": 0}));
        let mut found = Vec::new();
        differ("", &was, &is, &mut found);
        let places: Vec<_> = found.iter().map(|[place, was, is]| format!("{place} {was} {is}")).collect();
        assert_eq!(places, ["/a/b~1c 1 2", "/a/d/1 2 3", "/e 0 null", "/f null 0"]);
    }
}
