//! `sekali dlq`: the dead-letter queue.

mod discard;
mod letters;
mod list;
mod plan;
mod redrive;
mod run;

use super::answer::Answer;
use super::at::At;
use super::desk::Desk;
use anyhow::Result;
use clap::Subcommand;

/// The dead-letter queue. Its messages are called letters here.
#[derive(Debug, Subcommand)]
pub enum Dlq {
    List(list::List),
    Redrive(redrive::Redrive),
    Discard(discard::Discard),
}

impl Dlq {
    pub(super) fn at(&self) -> &At {
        match self {
            Self::List(list) => &list.at,
            Self::Redrive(redrive) => &redrive.at,
            Self::Discard(discard) => &discard.at,
        }
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        match self {
            Self::List(list) => list.answer(desk).await,
            Self::Redrive(redrive) => redrive.answer(desk).await,
            Self::Discard(discard) => discard.answer(desk).await,
        }
    }
}
