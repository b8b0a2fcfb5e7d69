//! `sekali events show`.

use super::story::{Moment, action_lines, story};
use crate::ended::Ended;
use crate::on_call::answer::{Answer, Page};
use crate::on_call::at::At;
use crate::on_call::desk::Desk;
use crate::on_call::find::Which;
use crate::on_call::shown;
use crate::paint::Tone;
use anyhow::Result;
use clap::Args;
use sekali::ports::{HistoryRecord, Store};
use sekali::protocol::event::{Event, EventStatus};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use serde_json::json;

/// Show the whole story of an event, in order, and what to do next.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali events show evt_1NxZ --stack sekali-prod
  sekali events show evt_1NxZ --endpoint stripe --json --stack sekali-prod
  sekali events show 0af7651916cd43dd8448eb211c80319c --local         a correlation id
  sekali events show 'action|4:pack|-|6:fields|10:order_1001' --local  what began an action")]
pub struct Show {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pub(super) at: At,
}

impl Show {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let mut page = desk.page();
        let Some(event) = self.which.find(desk).await? else {
            return Ok(page.nothing(self.which.nothing(desk)));
        };
        let action = match &event.progress.action {
            Some(key) => desk.store.action(key).await?,
            None => None,
        };
        let payload = desk.store.payload(&event.key, &event.hash).await?.is_some();
        let history = desk.store.history(&event.key).await?;
        let moments = story(&event, action.as_ref(), &history);
        head(&mut page, &event);
        if let Some(action) = &action {
            for line in action_lines(action) {
                page.line(format_args!("  {line}"));
            }
        } else if let Some(key) = &event.progress.action {
            page.line(format_args!("  action       {key}, of which no record is left"));
        }
        page.line(format_args!("  payload      {}", if payload { "stored" } else { "not there" }));
        page.line("");
        tell(&mut page, &moments);
        if let Some(next) = next_step(&event) {
            page.line("");
            page.line(next);
        }
        let json = json!({
            "event": shown::event(&event),
            "action": action.as_ref().map(shown::action),
            "payload": payload,
            "history": shown::history(&history),
            "story": moments.iter().map(Moment::json).collect::<Vec<_>>(),
            "next": next_step(&event),
        });
        Ok(page.answer(json, Ended::Well))
    }
}

fn head(page: &mut Page, event: &Event) {
    let progress = &event.progress;
    let tone = match progress.status {
        EventStatus::Processed | EventStatus::Ignored => Tone::Good,
        EventStatus::Failed | EventStatus::InDoubt => Tone::Bad,
        EventStatus::Held | EventStatus::Received | EventStatus::Processing => Tone::Doubtful,
    };
    let status = page.paint.text(tone, progress.status.as_str()).to_string();
    let why = match &progress.reason {
        Some(reason) => format!(": {}", shown::reason(Some(reason))),
        None => String::new(),
    };
    let event_type = event.event_type.as_ref().map_or("no type", |event_type| event_type.as_str());
    page.line(format_args!("{} is {status}{why}", event.id));
    page.line(format_args!("  event        {}", event.key));
    page.line(format_args!("  type         {event_type} of {} at endpoint {}", event.vendor, event.endpoint));
    if let Some(tenant) = &event.tenant {
        page.line(format_args!("  tenant       {tenant}"));
    }
    page.line(format_args!("  correlation  {}", event.correlation));
    page.line(format_args!(
        "  round        generation {}, {} attempts, {} sweeps",
        progress.generation, progress.attempts, progress.sweeps
    ));
}

/// The moments; what is still to come is set apart.
fn tell(page: &mut Page, moments: &[Moment]) {
    let now = SystemClock.now();
    for moment in moments {
        let ahead = if moment.at > now { "next: " } else { "" };
        let at = page.paint.text(Tone::Place, shown::time(moment.at)).to_string();
        page.line(format_args!("  {at}  {ahead}{}", moment.what));
    }
}

/// What whoever is on call would do now.
fn next_step(event: &Event) -> Option<String> {
    let id = &event.id;
    Some(match event.progress.status {
        EventStatus::Processed | EventStatus::Ignored => return None,
        EventStatus::Received | EventStatus::Processing => {
            "It goes on by itself: by its message, or by the sweeper.".to_owned()
        }
        EventStatus::Failed if event.is_erased() => return None,
        EventStatus::Failed if event.is_discarded() => {
            format!("Discarded: nothing is to be done. After all: sekali redrive {id} --reason '..'")
        }
        EventStatus::Failed => format!("When the cause is mended: sekali redrive {id} --reason '..'"),
        EventStatus::Held => {
            format!("sekali held release {id} --reason '..', or sekali held discard {id} --reason '..'")
        }
        EventStatus::InDoubt => format!(
            "Look at the destination for the idempotency key, then: sekali resolve {id} --happened REF, or --did-not-happen --reason '..'"
        ),
    })
}
