//! On call: what happened to an event, and how to put it right.

pub mod answer;
pub mod at;
mod confirm;
mod conflicts;
mod decide;
pub mod desk;
mod events;
mod find;
mod held;
mod pause;
mod records;
mod replay;
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
    /// Send a failed event round again.
    Redrive(decide::Redrive),
    /// Settle an event in doubt.
    Resolve(decide::Resolve),
    /// Cause an effect once more, deliberately.
    Again(decide::Again),
    /// What is held: list, release, discard.
    #[command(subcommand)]
    Held(held::Held),
    /// Deliveries with a known id and other content: list, show, accept, reject.
    #[command(subcommand)]
    Conflicts(conflicts::Conflicts),
    /// Store and acknowledge an endpoint's deliveries, and begin nothing new.
    Pause(pause::Pause),
    /// End a pause, at a rate.
    Resume(pause::Resume),
    /// List what is paused.
    Pauses(pause::ListPauses),
    /// Run stored events through today's rules.
    Replay(replay::Replay),
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
            Self::Redrive(redrive) => redrive.answer(desk).await,
            Self::Resolve(resolve) => resolve.answer(desk).await,
            Self::Again(again) => again.answer(desk).await,
            Self::Held(held) => held.answer(desk).await,
            Self::Conflicts(conflicts) => conflicts.answer(desk).await,
            Self::Pause(pause) => pause.answer(desk).await,
            Self::Resume(resume) => resume.answer(desk).await,
            Self::Pauses(pauses) => pauses.answer(desk).await,
            Self::Replay(replay) => replay.answer(desk).await,
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
            Self::Redrive(redrive) => &redrive.at,
            Self::Resolve(resolve) => &resolve.at,
            Self::Again(again) => &again.at,
            Self::Held(held) => held.at(),
            Self::Conflicts(conflicts) => conflicts.at(),
            Self::Pause(pause) => &pause.at,
            Self::Resume(resume) => &resume.at,
            Self::Pauses(pauses) => &pauses.at,
            Self::Replay(replay) => &replay.at,
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, CommandFactory};

    fn each(command: &Command, path: &str, look: &mut impl FnMut(&str, &Command)) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            match below.has_subcommands() {
                true => each(below, &path, look),
                false => look(&path, below),
            }
        }
    }

    #[test]
    fn every_command_is_well_made_and_shows_an_example_of_itself() {
        Line::command().debug_assert();
        let mut seen = 0;
        each(&Line::command(), "sekali", &mut |path, command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example") && help.contains(&format!("{path} ")), "{path}: {help}");
            seen += 1;
        });
        assert!(seen >= 20, "{seen}");
    }

    #[test]
    fn the_reference_names_every_command() {
        const REFERENCE: &str = include_str!("../../../../docs/command-line.md");
        each(&Line::command(), "sekali", &mut |path, _| {
            assert!(REFERENCE.contains(&format!("`{path}")), "docs/command-line.md does not name {path}");
        });
    }
}
