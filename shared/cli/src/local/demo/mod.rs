//! The demo: what vendors do to a receiver, played against the local run.

pub mod outcome;
pub mod script;
pub mod send;
mod table;

use super::destination::LocalDestination;
use super::stack::Stack;
use anyhow::Result;
use outcome::{Counts, Outcome};
use script::{Delivery, Script};
use send::Sender;
use std::time::Duration;

/// By then everything has ended, or never will: an event that had to wait for
/// another's claim comes back with the sweeper, which runs once a minute.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(200);

/// What came of the demo.
#[derive(Debug)]
pub struct Played {
    /// A table for people.
    pub table: String,
    /// The last line.
    pub counts: Counts,
    /// Each way in which it was not as the script says.
    pub wrong: Vec<String>,
}

impl Played {
    /// Nothing was lost, doubled or otherwise than written.
    pub fn is_as_written(&self) -> bool {
        self.wrong.is_empty() && self.counts.lost == 0 && self.counts.doubled == 0
    }
}

/// Plays the whole script.
///
/// # Errors
/// The stack or the destination is gone; what merely went wrong is in the result.
pub async fn play(script: &Script, sender: Sender<'_>, destination: &LocalDestination) -> Result<Played> {
    let mut answers = Vec::with_capacity(script.deliveries.len());
    for delivery in &script.deliveries {
        let answered = sender.send(delivery, &script.folder).await?;
        let mut statuses: Vec<u16> = answered.iter().map(|answer| answer.status).collect();
        if delivery.at_once {
            // Which of them is the first is chance; the new one is shown first.
            statuses.sort_unstable_by(|a, b| b.cmp(a));
        }
        answers.push(statuses);
        if delivery.settle {
            until(sender.stack, destination, |outcome| ended(delivery, outcome)).await?;
        }
    }
    let outcome = until(sender.stack, destination, |outcome| outcome.is_settled(script)).await?;
    let mut wrong = Vec::new();
    for (delivery, answers) in script.deliveries.iter().zip(&answers) {
        wrong.extend(differences(delivery, answers, &outcome));
    }
    for (endpoint, id) in outcome.events.keys() {
        if !script
            .deliveries
            .iter()
            .any(|delivery| delivery.endpoint == *endpoint && delivery.event.as_ref() == Some(id))
        {
            wrong.push(format!("nobody should have stored the event {id} of {endpoint}"));
        }
    }
    for effect in outcome.unwanted(script) {
        wrong.push(format!("nobody asked for this effect: {} {}", effect.destination, effect.body));
    }
    Ok(Played { table: table::table(script, &answers, &outcome), counts: outcome.counts(script), wrong })
}

/// Looks until it is as wanted, or for as long as it is worth.
async fn until(
    stack: &Stack,
    destination: &LocalDestination,
    wanted: impl Fn(&Outcome) -> bool,
) -> Result<Outcome> {
    let looking = async {
        loop {
            let outcome = Outcome::read(stack, destination).await?;
            if wanted(&outcome) {
                return Ok(outcome);
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match tokio::time::timeout(PATIENCE, looking).await {
        Ok(outcome) => outcome,
        Err(_) => Outcome::read(stack, destination).await,
    }
}

fn ended(delivery: &Delivery, outcome: &Outcome) -> bool {
    let Some(id) = &delivery.event else { return true };
    outcome.event(&delivery.endpoint, id).is_some_and(outcome::StoredEvent::has_ended)
}

fn differences(delivery: &Delivery, answers: &[u16], outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut got, mut wanted) = (answers.to_vec(), delivery.answers.clone());
    if delivery.at_once {
        got.sort_unstable();
        wanted.sort_unstable();
    }
    if got != wanted {
        wrong.push(format!("\"{}\" was answered {got:?}, not {wanted:?}", delivery.title));
    }
    if let (Some(id), Some(becomes)) = (&delivery.event, &delivery.becomes) {
        let status =
            outcome.event(&delivery.endpoint, id).map_or("not stored", |event| event.status.as_str());
        if status != becomes {
            wrong.push(format!("the event of \"{}\" is {status}, not {becomes}", delivery.title));
        }
    }
    wrong
}
