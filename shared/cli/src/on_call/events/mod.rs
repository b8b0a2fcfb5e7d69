//! `sekali events`.

mod erase;
mod list;
pub(super) mod payload;
mod show;
mod story;

pub use list::Filters;
pub use story::action_lines;

use super::answer::Answer;
use super::at::At;
use super::desk::Desk;
use anyhow::Result;
use clap::Subcommand;

/// Events.
#[derive(Debug, Subcommand)]
pub enum Events {
    Show(show::Show),
    List(list::List),
    Payload(payload::ShowPayload),
    Erase(erase::Erase),
}

impl Events {
    pub(super) fn at(&self) -> &At {
        match self {
            Self::Show(show) => &show.at,
            Self::List(list) => &list.at,
            Self::Payload(payload) => &payload.at,
            Self::Erase(erase) => &erase.at,
        }
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        match self {
            Self::Show(show) => show.answer(desk).await,
            Self::List(list) => list.answer(desk).await,
            Self::Payload(payload) => payload.answer(desk).await,
            Self::Erase(erase) => erase.answer(desk).await,
        }
    }
}
