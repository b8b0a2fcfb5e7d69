//! `sekali destinations`: those that are configured, and which of them said
//! that they are gone.

use super::answer::Answer;
use super::at::At;
use super::confirm::Why;
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use sekali::config::{DestinationKind, InDoubt};
use sekali::ids::DestinationName;
use sekali::ports::{SwitchedOff, Switches};
use sekali::time::{Clock, UnixMillis};
use sekali_aws::SystemClock;
use sekali_aws::dynamodb::SwitchedOn;
use sekali_aws::http_destination::{BELIEVED_FOR, place};
use serde_json::{Value, json};
use std::time::Duration;

/// A processor that looked just before goes by it for so long, and its clock
/// need not be ours.
const HEARD_WITHIN: Duration = BELIEVED_FOR.saturating_add(Duration::from_secs(5));

/// Destinations: where effects happen.
#[derive(Debug, Subcommand)]
pub enum Destinations {
    /// List the destinations of the configuration, and which are switched off
    /// because they answered 410.
    #[command(after_help = "Examples:
  sekali destinations list --stack sekali-prod
  sekali destinations list --json --local

Exit codes: 0 all are on, 1 one is switched off, 2 it could not be looked at.")]
    List(List),
    /// Call a destination again that answered 410, within a minute. What failed
    /// meanwhile is redriven by `sekali dlq redrive` or `sekali redrive`.
    #[command(after_help = "Example:
  sekali destinations switch-on packing --reason 'they restored it' --stack sekali-prod")]
    SwitchOn(SwitchOn),
}

/// Of which receiver.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    at: At,
}

/// Which one, and why.
#[derive(Debug, Args)]
pub struct SwitchOn {
    /// Its name in the configuration.
    name: String,
    #[command(flatten)]
    why: Why,
    #[command(flatten)]
    at: At,
}

impl Destinations {
    pub(super) fn at(&self) -> &At {
        match self {
            Self::List(list) => &list.at,
            Self::SwitchOn(on) => &on.at,
        }
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        desk.needs_rules()?;
        match self {
            Self::List(_) => list(desk).await,
            Self::SwitchOn(on) => on.answer(desk).await,
        }
    }
}

impl Desk {
    /// Whether a destination of today's configuration said that it is gone, or
    /// did until a moment ago. Only what has a URL can answer 410.
    ///
    /// # Errors
    /// The tables do not answer.
    pub(super) async fn switch(&self, name: &DestinationName) -> Result<Switch> {
        let kind = self.deployment.config.destinations.get(name).map(|destination| &destination.kind);
        let Some(DestinationKind::Http(url)) = kind else { return Ok(Switch::On) };
        let place = place(url);
        if let Some(off) = self.store.switched_off(name, &place).await? {
            return Ok(Switch::Off(off));
        }
        let heard = self.store.switched_on_at(name, &place).await?.map(|at| at.plus(HEARD_WITHIN));
        Ok(heard.filter(|heard| *heard > SystemClock.now()).map_or(Switch::On, Switch::HeardUntil))
    }
}

/// How a destination stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Switch {
    /// It is called.
    On,
    /// It answered 410.
    Off(SwitchedOff),
    /// It is called again, but by processors that have not heard of it only
    /// from then on.
    HeardUntil(UnixMillis),
}

impl Switch {
    fn off(self) -> Option<SwitchedOff> {
        match self {
            Self::Off(off) => Some(off),
            Self::On | Self::HeardUntil(_) => None,
        }
    }
}

/// What to do about a destination that is switched off.
pub(super) fn next(desk: &Desk, off: &SwitchedOff) -> String {
    let on = desk.hint(format_args!("destinations switch-on {} --reason '..'", off.destination));
    format!("next: when {} is there again, `{on}`, and the redrive a minute later", off.destination)
}

async fn list(desk: &Desk) -> Result<Answer> {
    let mut page = desk.page();
    let (mut rows, mut all, mut any_off) = (Vec::new(), Vec::new(), false);
    for destination in desk.deployment.config.destinations.values() {
        let off = desk.switch(&destination.name).await?.off();
        if let Some(off) = &off {
            any_off = true;
            page.aside(next(desk, off));
        }
        let state = match &off {
            Some(off) => format!("off since {}: {}", shown::time(off.at), off.cause),
            None => "on".to_owned(),
        };
        let honours = destination.honours_key_for.map(shown::span).unwrap_or_default();
        let in_doubt = match destination.in_doubt {
            InDoubt::Retry => "retry",
            InDoubt::Probe => "probe",
            InDoubt::Park => "park",
        };
        rows.push([destination.name.to_string(), in_doubt.to_owned(), honours, state]);
        all.push(json!({
            "name": destination.name.as_str(), "in_doubt": in_doubt,
            "honours_key_for_s": destination.honours_key_for.map(|span| span.as_secs()),
            "off": off.as_ref().map(shown_off),
        }));
    }
    page.table(["destination", "in doubt", "honours keys for", "state"], rows);
    Ok(page.answer(json!({ "destinations": all }), Ended::with(any_off)))
}

fn shown_off(off: &SwitchedOff) -> Value {
    json!({ "at": shown::time(off.at), "cause": off.cause, "correlation": off.correlation.as_str() })
}

impl SwitchOn {
    async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let why = self.why.text()?;
        let name = DestinationName::new(self.name.as_str());
        let destinations = &desk.deployment.config.destinations;
        if !destinations.contains_key(&name) {
            let known = destinations.keys().map(DestinationName::as_str).collect::<Vec<_>>().join(", ");
            bail!("no destination {name} in the configuration; there is {known}");
        }
        let mut page = desk.page();
        let Some(off) = desk.switch(&name).await?.off() else {
            page.line(format_args!("{name} is on: nothing was written"));
            return Ok(page.answer(json!({ "done": false, "why": "it is on" }), Ended::Found));
        };
        let on = SwitchedOn { at: SystemClock.now(), who: desk.who()?, why: why.to_owned() };
        desk.store.switch_on(&off, &on).await?;
        page.line(format_args!(
            "{name} is called again, by every processor from {} on; it was off since {}: {}",
            shown::time(on.at.plus(HEARD_WITHIN)),
            shown::time(off.at),
            off.cause
        ));
        page.line(format_args!("redrive what failed meanwhile after that: {}", desk.hint("dlq list")));
        Ok(page.answer(json!({ "done": true, "was_off": shown_off(&off) }), Ended::Well))
    }
}
