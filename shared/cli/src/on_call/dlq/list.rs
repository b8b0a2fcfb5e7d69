//! `sekali dlq list`.

use super::letters::Would;
use super::plan::Meant;
use crate::ended::Ended;
use crate::on_call::answer::Answer;
use crate::on_call::at::At;
use crate::on_call::desk::{Desk, Rules};
use anyhow::Result;
use clap::Args;
use serde_json::json;

/// List the letters, each with its event's class, cause, attempts and age, and
/// what a redrive would do now.
///
/// They are hidden from others for the moment of the look.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali dlq list --stack sekali-prod
  sekali dlq list --endpoint stripe --with-reason rejected --json --stack sekali-prod

Exit codes: 0 there is none, 1 there are some, 2 it could not be looked at.")]
pub struct List {
    #[command(flatten)]
    meant: Meant,
    #[command(flatten)]
    pub(super) at: At,
}

impl List {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let plan = self.meant.find(desk).await?;
        let mut page = desk.page();
        plan.show(desk, &mut page);
        if let Rules::Unknown(why) = &desk.rules {
            page.aside(format_args!(
                "without today's rules every endpoint counts as gone: {why}; name the deployed file with --config"
            ));
        }
        if plan
            .letters
            .iter()
            .any(|joined| !matches!(joined.would, Would::SwitchedOff(_) | Would::SwitchedOn(..)))
        {
            page.aside(format_args!("next: mend the cause, then {}", desk.hint("dlq redrive --reason '..'")));
        }
        let json = json!({
            "letters": plan.json(), "looked_at": plan.looked_at, "more": plan.more, "hidden": plan.elsewhere,
        });
        Ok(page.answer(json, Ended::with(!plan.letters.is_empty())))
    }
}
