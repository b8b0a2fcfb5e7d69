//! `sekali replay`: stored events through today's rules.

use super::answer::{Answer, Page, counted};
use super::at::At;
use super::confirm::{Consent, Said as Consented};
use super::desk::{Desk, Rules};
use super::events::Filters;
use crate::ended::Ended;
use anyhow::Result;
use clap::Args;
use sekali::operate::Said;
use sekali::ports::Store;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::decide::{Intent, Operator, Wanted};
use sekali::protocol::event::{Event, EventStatus};
use serde_json::{Value, json};
use std::time::Duration;

/// Run stored events through today's rules, each as its next generation.
///
/// Shows a plan first. An event that owns an action keeps it: where today's
/// rules name another, or none, it is skipped unless --force lets go of the
/// first; the effect of the second then comes on top of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali replay --status ignored --with-reason no_rule --endpoint stripe --reason 'rule added' --stack sekali-prod
  sekali replay --type order.paid --newer-than 2d --reason 'key mended' --force --yes --stack sekali-prod")]
pub struct Replay {
    #[command(flatten)]
    filters: Filters,
    /// How many at most.
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Also events whose action would change.
    #[arg(long)]
    force: bool,
    /// How many in a second.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    per_second: u32,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    pub(super) at: At,
}

/// What a replay of one event would do.
#[derive(Debug, PartialEq)]
enum Fate {
    /// Goes round.
    Runs(String),
    /// Goes round only by force: its action would change.
    Changes(String),
    /// Nothing would come of it, or it cannot be done.
    Skips(String),
}

impl Fate {
    fn word(&self) -> &'static str {
        match self {
            Self::Runs(_) => "run",
            Self::Changes(_) => "changes",
            Self::Skips(_) => "skip",
        }
    }

    fn why(&self) -> &str {
        match self {
            Self::Runs(why) | Self::Changes(why) | Self::Skips(why) => why,
        }
    }
}

/// What is known of one event: its own action, and the one that it would meet.
struct Seen<'a> {
    event: &'a Event,
    intent: Intent<'a>,
    bound: Option<Action>,
    wanted: Option<Action>,
}

impl Replay {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        desk.needs_rules()?;
        let why = self.consent.why()?;
        let found = self.filters.find(desk, self.limit).await?;
        let mut plan = Vec::new();
        for event in &found.events {
            plan.push((event, fate(desk, event).await?));
        }
        let mut page = desk.page();
        let rows = plan.iter().map(|(event, fate)| {
            let status = event.progress.status.as_str().to_owned();
            [
                fate.word().to_owned(),
                event.id.clone(),
                event.endpoint.to_string(),
                status,
                fate.why().to_owned(),
            ]
        });
        page.table(["plan", "id", "endpoint", "status", "under today's rules"], rows.collect());
        let chosen: Vec<_> = plan
            .iter()
            .filter(|(_, fate)| {
                matches!(fate, Fate::Runs(_)) || self.force && matches!(fate, Fate::Changes(_))
            })
            .collect();
        let planned = json!(
            plan.iter()
                .map(|(event, fate)| json!({
                    "key": event.key.as_str(), "id": event.id, "plan": fate.word(), "why": fate.why(),
                }))
                .collect::<Vec<_>>()
        );
        page.line(format_args!(
            "{} of {} to replay{}",
            chosen.len(),
            counted(plan.len(), "event"),
            if found.more { "; there are more: --limit" } else { "" }
        ));
        let question = format!("replay {}?", counted(chosen.len(), "event"));
        if let Rules::From(file) = &desk.rules {
            page.line(format_args!("by the rules of {file}: are these deployed?"));
        }
        let consent = match chosen.is_empty() {
            true => Consented::PlanAlone,
            false => self.consent.given(&mut page, self.at.json, &question)?,
        };
        if consent != Consented::Yes {
            return Ok(page.answer(json!({ "plan": planned, "done": [] }), consent.ended(true)));
        }
        desk.who()?;
        let mut done = Vec::new();
        let mut all_well = true;
        for (event, fate) in chosen {
            let operator = Operator::Replay { forced: matches!(fate, Fate::Changes(_)) };
            let said = desk.say(event, &operator, why).await;
            all_well &= matches!(said, Ok(Said::Done { .. }));
            done.push(one_done(&mut page, event, &said));
            tokio::time::sleep(Duration::from_secs(1) / self.per_second).await;
        }
        Ok(page.answer(json!({ "plan": planned, "done": done }), Ended::with(!all_well)))
    }
}

fn one_done(page: &mut Page, event: &Event, said: &Result<Said>) -> Value {
    let why = match said {
        Ok(Said::Done { .. }) => None,
        Ok(Said::Refused(why)) => Some((*why).to_owned()),
        Ok(Said::Followed(_)) => Some("settled meanwhile".to_owned()),
        Err(error) => Some(format!("{error:#}")),
    };
    match &why {
        None => page.line(format_args!("{}: sent round", event.id)),
        Some(why) => page.line(format_args!("{}: not done: {why}", event.id)),
    }
    json!({ "key": event.key.as_str(), "id": event.id, "done": why.is_none(), "why": why })
}

/// What a replay would do to this event.
async fn fate(desk: &Desk, event: &Event) -> Result<Fate> {
    match event.progress.status {
        EventStatus::Received | EventStatus::Processing => {
            return Ok(Fate::Skips("it is under way".to_owned()));
        }
        EventStatus::InDoubt => return Ok(Fate::Skips("it is in doubt: resolve it first".to_owned())),
        EventStatus::Processed | EventStatus::Ignored | EventStatus::Failed | EventStatus::Held => {}
    }
    let Some(payload) = desk.store.payload(&event.key, &event.hash).await? else {
        return Ok(Fate::Skips("its payload is not stored any more".to_owned()));
    };
    let intent = desk.deployment.intent(event, &payload);
    let bound = match &event.progress.action {
        Some(key) => desk.store.action(key).await?,
        None => None,
    };
    let wanted = match &intent {
        Intent::Act { action: Some(wanted), .. } => desk.store.action(&wanted.key).await?,
        _ => None,
    };
    Ok(judge(&Seen { event, intent, bound, wanted }))
}

fn judge(seen: &Seen<'_>) -> Fate {
    let asks = match &seen.intent {
        Intent::Act { action, .. } => action.as_ref(),
        _ => None,
    };
    if let Intent::Unknown { .. } | Intent::Unknowable(_) = seen.intent {
        return Fate::Runs("what it asks for is known when its vendor was asked".to_owned());
    }
    if let Some(own) = &seen.event.progress.action {
        return match asks {
            Some(wanted) if wanted.key == *own => same(seen.bound.as_ref()),
            Some(wanted) => Fate::Changes(format!("asks for {}, and owns {own}", wanted.key)),
            None => Fate::Changes(format!("asks for no action any more, and owns {own}")),
        };
    }
    match (&seen.intent, asks) {
        (Intent::Nothing(reason), _) => Fate::Skips(format!("it would be ignored: {}", reason.slug.as_str())),
        (Intent::Hold(reason), _) => Fate::Skips(format!("it would be held: {}", reason.slug.as_str())),
        (_, Some(wanted)) => Fate::Runs(meets(wanted, seen.wanted.as_ref())),
        (_, None) => Fate::Runs("moves its resource, if it is not late".to_owned()),
    }
}

fn same(bound: Option<&Action>) -> Fate {
    match bound.map(|action| action.status) {
        Some(ActionStatus::Rejected) => Fate::Runs("its action begins anew".to_owned()),
        Some(ActionStatus::Done) => Fate::Skips("its action is done: `sekali again` repeats it".to_owned()),
        Some(_) => Fate::Skips("its action is under way".to_owned()),
        None => Fate::Skips("the record of its action is gone".to_owned()),
    }
}

fn meets(wanted: &Wanted, stored: Option<&Action>) -> String {
    match stored.map(|action| action.status) {
        None => format!("begins {}", wanted.key),
        Some(ActionStatus::Done) => format!("meets {}, which is done: no effect", wanted.key),
        Some(status) => format!("meets {}, which is {}", wanted.key, status.as_str()),
    }
}
