//! `sekali events show`.

use super::story::{Moment, action_lines, attempts, story, sweeps};
use crate::ended::Ended;
use crate::on_call::answer::{Answer, Page};
use crate::on_call::at::At;
use crate::on_call::desk::Desk;
use crate::on_call::find::Which;
use crate::on_call::shown;
use crate::paint::Tone;
use anyhow::Result;
use clap::Args;
use sekali::ports::{HistoryRecord, PauseRecord, Store};
use sekali::protocol::action::Action;
use sekali::protocol::decide::quiet_from;
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
        let next = Next { desk, event: &event, action: action.as_ref() }.step().await?;
        if let Some(next) = &next {
            page.line("");
            page.line(next);
        }
        let json = json!({
            "event": shown::event(&event),
            "action": action.as_ref().map(shown::action),
            "payload": payload,
            "history": shown::history(&history),
            "story": moments.iter().map(Moment::json).collect::<Vec<_>>(),
            "next": next,
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
        "  round        generation {}, {}, {}",
        progress.generation,
        attempts(progress.attempts),
        sweeps(progress.sweeps)
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
struct Next<'a> {
    desk: &'a Desk,
    event: &'a Event,
    action: Option<&'a Action>,
}

impl Next<'_> {
    async fn step(&self) -> Result<Option<String>> {
        let (desk, id) = (self.desk, &self.event.id);
        let of = |verb: &str| desk.hint(format_args!("{verb} {id} --reason '..'"));
        Ok(Some(match self.event.progress.status {
            EventStatus::Processed | EventStatus::Ignored => return Ok(None),
            EventStatus::Received | EventStatus::Processing => self.under_way().await?,
            EventStatus::Failed if self.event.is_erased() => return Ok(None),
            EventStatus::Failed if self.event.is_discarded() => {
                format!("Discarded: nothing is to be done. After all: {}", of("redrive"))
            }
            // Which of them has a letter the event does not know; a redrive by
            // its id would leave the letter, and the alarm that it rings.
            EventStatus::Failed => format!(
                "When the cause is mended: {}\nif it has no letter in the dead-letter queue: {}",
                of("dlq redrive"),
                of("redrive")
            ),
            EventStatus::Held => format!("{}\nor: {}", of("held release"), of("held discard")),
            EventStatus::InDoubt => self.in_doubt(),
        }))
    }

    async fn under_way(&self) -> Result<String> {
        let pauses = self.desk.store.pauses().await?;
        let endpoint = &self.event.endpoint;
        Ok(match pauses.endpoints.get(endpoint).filter(|pause| pause.ended.is_none()) {
            None => "It goes on by itself: by its message, or by the sweeper.".to_owned(),
            Some(pause) => format!(
                "{endpoint} is paused since {} by {}: {}. Nothing new begins before: {}",
                shown::time(pause.since),
                pause.who,
                pause.why,
                self.desk.hint(format_args!("resume {endpoint}"))
            ),
        })
    }

    fn in_doubt(&self) -> String {
        let hint = |option: &str| self.desk.hint(format_args!("resolve {} {option}", self.event.id));
        // INV-2: before that, nobody can know.
        let not_before = self.action.map_or(String::new(), |action| {
            let policy = self.desk.deployment.policy(&action.request.destination);
            format!(" (not before {})", shown::time(quiet_from(action, policy.as_ref())))
        });
        format!(
            "Look at the destination for the idempotency key, then: {}\nor: {}{not_before}",
            hint("--happened REF"),
            hint("--did-not-happen --reason '..'")
        )
    }
}
