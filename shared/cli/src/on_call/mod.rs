//! On call: what happened to an event, and how to put it right.

pub mod answer;
pub mod at;
mod confirm;
mod conflicts;
mod decide;
pub mod desk;
mod destinations;
mod dlq;
mod events;
mod find;
mod held;
mod pause;
mod reconcile;
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
use sekali::protocol::decide::Operator;

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
    /// Send a failed event round again, as its next generation.
    #[command(
        after_help = "Example:\n  sekali redrive evt_1NxZ --reason 'packing is up again' --stack sekali-prod"
    )]
    Redrive(decide::About),
    /// A failed event is not to go round again: it stays failed, as discarded,
    /// and no longer counts as one that needs somebody.
    ///
    /// `sekali redrive` still opens its next generation. Its message in the
    /// dead-letter queue, if there is one, is taken away by `sekali dlq discard`.
    #[command(
        after_help = "Example:\n  sekali discard evt_1NxZ --reason 'a test of theirs' --stack sekali-prod"
    )]
    Discard(decide::About),
    /// The dead-letter queue: list, redrive, discard.
    #[command(subcommand)]
    Dlq(dlq::Dlq),
    /// Settle an event in doubt.
    Resolve(decide::Resolve),
    /// Cause the effect of a processed event once more, deliberately.
    ///
    /// This is the one way to another effect of an action that is done: its next
    /// generation, under another idempotency key. What is sent is what today's
    /// rules ask for where they still name the same action, and otherwise what
    /// was sent before. An ignored event goes through today's rules.
    #[command(
        after_help = "Example:\n  sekali again evt_1NxZ --reason 'the parcel was lost' --stack sekali-prod"
    )]
    Again(decide::About),
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
    /// Destinations: list, switch on.
    #[command(subcommand)]
    Destinations(destinations::Destinations),
    /// Run stored events through today's rules.
    Replay(replay::Replay),
    /// Compare the vendor's own list of events with what was received.
    Reconcile(reconcile::Reconcile),
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
            Self::Redrive(about) => about.redrive(desk).await,
            Self::Discard(about) => about.answer(desk, Operator::Discard).await,
            Self::Dlq(dlq) => dlq.answer(desk).await,
            Self::Resolve(resolve) => resolve.answer(desk).await,
            Self::Again(about) => about.again(desk).await,
            Self::Held(held) => held.answer(desk).await,
            Self::Conflicts(conflicts) => conflicts.answer(desk).await,
            Self::Pause(pause) => pause.answer(desk).await,
            Self::Resume(resume) => resume.answer(desk).await,
            Self::Pauses(pauses) => pauses.answer(desk).await,
            Self::Destinations(destinations) => destinations.answer(desk).await,
            Self::Replay(replay) => replay.answer(desk).await,
            Self::Reconcile(reconcile) => reconcile.answer(desk).await,
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
            Self::Redrive(about) | Self::Discard(about) | Self::Again(about) => &about.at,
            Self::Dlq(dlq) => dlq.at(),
            Self::Resolve(resolve) => &resolve.at,
            Self::Held(held) => held.at(),
            Self::Conflicts(conflicts) => conflicts.at(),
            Self::Pause(pause) => &pause.at,
            Self::Resume(resume) => &resume.at,
            Self::Pauses(pauses) => &pauses.at,
            Self::Destinations(destinations) => destinations.at(),
            Self::Replay(replay) => &replay.at,
            Self::Reconcile(reconcile) => &reconcile.at,
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

    /// Words as a shell parts them: by white space, but for single quotes.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn every_command_of_the_runbook_is_one() {
        const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");
        let blocks = RUNBOOK.split("```").skip(1).step_by(2).flat_map(str::lines);
        // What follows two spaces says what it is for.
        let blocks = blocks.map(|line| line.split("  ").next().unwrap_or_default().to_owned());
        let inline =
            RUNBOOK.split('`').filter(|text| !text.contains("\n\n")).map(|text| text.replace('\n', " "));
        let lines: std::collections::BTreeSet<String> = blocks
            .chain(inline)
            .filter(|line| line.starts_with("sekali ") && !line.contains("COMMAND"))
            .collect();
        assert!(lines.len() >= 30, "{lines:?}");
        for line in lines {
            let whole = crate::Cli::command().try_get_matches_from(words(&line));
            if let Err(error) = whole {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn the_reference_names_every_command() {
        const REFERENCE: &str = include_str!("../../../../docs/command-line.md");
        each(&Line::command(), "sekali", &mut |path, _| {
            assert!(REFERENCE.contains(&format!("`{path}")), "docs/command-line.md does not name {path}");
        });
    }
}
