//! A plan carried out, letter by letter: shown, confirmed, bounded in speed,
//! and at any moment ended without harm.

use super::letters::{Joined, Letter};
use super::plan::{self, Meant};
use crate::ended::Ended;
use crate::interrupted::interrupted;
use crate::on_call::answer::{Answer, Page, counted};
use crate::on_call::confirm::{Consent, Said};
use crate::on_call::desk::Desk;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

/// How long a letter is hidden while it is worked on. Longer than a run at one
/// letter a second needs for what it was handed at once, many times over.
const WORKED_ON_FOR: Duration = Duration::from_secs(300);

/// So many failures in a row are not the letters' fault.
const IN_A_ROW: usize = 5;

/// What came of one letter.
#[derive(Debug)]
pub enum Came {
    /// It is no longer in the queue.
    Done(String),
    /// It stays there.
    Left(String),
}

/// What is done to each letter.
pub trait Work {
    /// Is there anything to do for it?
    fn takes(&self, joined: &Joined) -> bool;

    /// Does it. Doing it again is safe.
    ///
    /// # Errors
    /// Something did not answer: the letter stays, or does no harm.
    fn one(&self, desk: &Desk, joined: &Joined) -> impl Future<Output = Result<Came>>;
}

/// How it is done.
pub struct Order<'a> {
    /// What it is called.
    pub verb: &'static str,
    /// How many in a second.
    pub per_second: u32,
    /// Whether that is meant.
    pub consent: &'a Consent,
    /// Whether the answer is for machines.
    pub json: bool,
}

impl Order<'_> {
    /// Shows the plan, asks, and does it.
    ///
    /// # Errors
    /// Queue or tables do not answer; nothing was done then.
    pub async fn carry_out(&self, desk: &Desk, meant: &Meant, work: &impl Work) -> Result<Answer> {
        let plan = meant.find(desk).await?;
        let mut page = desk.page();
        plan.show(desk, &mut page);
        let chosen: HashMap<String, Value> = plan
            .letters
            .iter()
            .filter(|joined| work.takes(joined))
            .map(|joined| (joined.letter.id.clone(), plan::json(joined)))
            .collect();
        page.line(format_args!("{} to {}", counted(chosen.len(), "letter"), self.verb));
        let planned = plan.json();
        let question = format!("{} {}?", self.verb, counted(chosen.len(), "letter"));
        // A plan of which nothing can be done leaves all of it.
        let all_left = chosen.is_empty() && !plan.letters.is_empty();
        let said = match chosen.is_empty() {
            true => Said::PlanAlone,
            false => self.consent.given(&mut page, self.json, &question)?,
        };
        if said != Said::Yes {
            let nothing = json!({ "plan": planned, "done": [], "left": [] });
            return Ok(page.answer(nothing, said.ended(!all_left)));
        }
        // Before anything is done, and not letter by letter.
        desk.who()?;
        let mut run =
            Run { desk, work, chosen, done: Vec::new(), left: Vec::new(), kept: Vec::new(), bar: bar() };
        run.bar.set_length(u64::try_from(run.chosen.len()).unwrap_or(u64::MAX));
        let ended = run.all(self.per_second).await;
        run.bar.finish_and_clear();
        desk.queues.put_back(&run.kept).await;
        Ok(run.told(page, &planned, &ended))
    }
}

/// How a run ended, where it did not come to its end.
type Broken = Option<String>;

struct Run<'a, W> {
    desk: &'a Desk,
    work: &'a W,
    /// The letters of the plan that are still to do.
    chosen: HashMap<String, Value>,
    done: Vec<Value>,
    left: Vec<Value>,
    /// Handed to us and to be seen again by others afterwards.
    kept: Vec<Letter>,
    bar: ProgressBar,
}

impl<W: Work> Run<'_, W> {
    async fn all(&mut self, per_second: u32) -> Broken {
        let mut turns = tokio::time::interval(Duration::from_secs(1) / per_second);
        turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut stop = std::pin::pin!(interrupted());
        let mut in_a_row = 0;
        while !self.chosen.is_empty() {
            let letters = match self.desk.queues.letters(WORKED_ON_FOR).await {
                Ok(letters) if letters.is_empty() => return None,
                Ok(letters) => letters,
                Err(error) => return Some(format!("{error:#}")),
            };
            let (mine, others) = letters.into_iter().partition(|letter| self.chosen.contains_key(&letter.id));
            self.kept.extend::<Vec<Letter>>(others);
            let mut mine: Vec<Letter> = mine;
            while let Some(letter) = mine.pop() {
                tokio::select! {
                    biased;
                    why = &mut stop => {
                        mine.push(letter);
                        self.kept.append(&mut mine);
                        return Some(why.unwrap_or("interrupted").to_owned());
                    }
                    _ = turns.tick() => {}
                }
                // Whatever happens meanwhile, what was begun for one letter comes to its end.
                let failed = self.one(letter).await;
                in_a_row = if failed { in_a_row + 1 } else { 0 };
                if in_a_row >= IN_A_ROW {
                    self.kept.append(&mut mine);
                    return Some(format!("{IN_A_ROW} letters in a row failed"));
                }
            }
        }
        None
    }

    /// One letter, looked at anew. Says whether something did not answer.
    async fn one(&mut self, letter: Letter) -> bool {
        let Some(planned) = self.chosen.remove(&letter.id) else { return false };
        self.bar.inc(1);
        let came = match self.desk.join(vec![letter.clone()]).await {
            Ok(joined) => match joined.first() {
                Some(joined) if went_round_since(joined, &planned) => {
                    Ok(Came::Left("it went round since the plan, and failed again".to_owned()))
                }
                Some(joined) if self.work.takes(joined) => self.work.one(self.desk, joined).await,
                Some(joined) => Ok(Came::Left(format!("changed since the plan: {}", joined.would))),
                None => return false,
            },
            Err(error) => Err(error),
        };
        let (list, why, failed) = match came {
            Ok(Came::Done(what)) => (&mut self.done, what, false),
            Ok(Came::Left(why)) => {
                self.kept.push(letter);
                (&mut self.left, why, false)
            }
            Err(error) => {
                self.kept.push(letter);
                (&mut self.left, format!("{error:#}"), true)
            }
        };
        list.push(json!({
            "message_id": planned["message_id"], "key": planned["key"], "id": planned["event"]["id"], "says": why,
        }));
        failed
    }

    fn told(self, mut page: Page, planned: &Value, broken: &Broken) -> Answer {
        for (list, word) in [(&self.done, ""), (&self.left, "left: ")] {
            for one in list {
                let id = one["id"].as_str().or(one["message_id"].as_str()).unwrap_or_default();
                page.line(format_args!("{id}: {word}{}", one["says"].as_str().unwrap_or_default()));
            }
        }
        page.line(format_args!(
            "{} done, {} left, {} not seen again",
            self.done.len(),
            self.left.len(),
            self.chosen.len()
        ));
        if let Some(why) = broken {
            page.aside(format_args!("stopped: {why}; the same command goes on where this ended"));
        } else if !self.chosen.is_empty() {
            page.aside(
                "those not seen again were taken by somebody else, or are hidden: look again in five minutes",
            );
        }
        let well = broken.is_none() && self.left.is_empty() && self.chosen.is_empty();
        let not_seen: Vec<_> = self.chosen.into_keys().collect();
        let json = json!({
            "plan": planned, "done": self.done, "left": self.left, "not_seen": not_seen, "stopped": broken,
        });
        page.answer(json, Ended::with(!well))
    }
}

/// A human's yes was for the failure that the plan showed.
fn went_round_since(joined: &Joined, planned: &Value) -> bool {
    use sekali::protocol::event::EventStatus::Failed;
    joined.event.as_ref().is_some_and(|event| {
        event.progress.status == Failed
            && planned["event"]["status"] == Failed.as_str()
            && planned["event"]["generation"] != json!(event.progress.generation.get())
    })
}

/// Nothing where standard error is no terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {per_sec} {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
