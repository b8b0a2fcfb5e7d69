//! On call: what happened to an event, and how to put it right.

pub mod answer;
pub mod at;
pub mod desk;
mod events;
mod find;
mod records;
mod shown;
mod stats;
mod tail;

use crate::ended::Ended;
use crate::say::say;
use answer::Answer;
use anyhow::{Result, bail};
use at::At;
use clap::{Parser, Subcommand};
use desk::Desk;

/// What whoever is on call asks and decides.
#[derive(Debug, Subcommand)]
pub enum OnCall {
    /// Events: the whole story of one, lists, payloads.
    #[command(subcommand)]
    Events(events::Events),
    /// Resources: the vendors' last known facts.
    #[command(subcommand)]
    Resources(records::Resources),
    /// Actions: who may cause an effect, and what came of it.
    #[command(subcommand)]
    Actions(records::Actions),
    /// Count what is open or needs a human.
    Stats(stats::Stats),
    /// Follow events as they come.
    Tail(tail::Tail),
}

impl OnCall {
    /// Finds the receiver, asks it, and says what it answers.
    ///
    /// # Errors
    /// The receiver is not there or cannot be asked.
    pub async fn run(&self) -> Result<Ended> {
        let desk = self.at().connect().await?;
        if let Self::Tail(tail) = self {
            return tail.follow(&desk).await;
        }
        let answer = self.answer(&desk).await?;
        for line in &answer.aside {
            eprintln!("{line}");
        }
        if self.at().json {
            say(serde_json::to_string_pretty(&answer.json)?);
        } else {
            say(answer.text.trim_end());
        }
        Ok(answer.ended)
    }

    /// Asks a receiver that was found before.
    ///
    /// # Errors
    /// It cannot be asked, or there is no answer to what was asked.
    pub async fn answer(&self, desk: &Desk) -> Result<Answer> {
        match self {
            Self::Events(events) => events.answer(desk).await,
            Self::Resources(resources) => resources.answer(desk).await,
            Self::Actions(actions) => actions.answer(desk).await,
            Self::Stats(stats) => stats.answer(desk).await,
            Self::Tail(_) => bail!("`tail` has no end: run it by itself"),
        }
    }

    fn at(&self) -> &At {
        match self {
            Self::Events(events) => events.at(),
            Self::Resources(resources) => resources.at(),
            Self::Actions(actions) => actions.at(),
            Self::Stats(stats) => &stats.at,
            Self::Tail(tail) => &tail.at,
        }
    }
}

/// A command line whose receiver is known.
#[derive(Debug, Parser)]
struct Line {
    #[command(subcommand)]
    command: OnCall,
}

/// What a command line, without the leading `sekali`, is answered at this desk.
///
/// # Errors
/// It is no command line, or as [`OnCall::answer`].
pub async fn ask(desk: &Desk, line: &[&str]) -> Result<Answer> {
    let words = std::iter::once("sekali").chain(line.iter().copied());
    Line::try_parse_from(words)?.command.answer(desk).await
}
