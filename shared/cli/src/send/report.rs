//! What became of everything, for people and for machines.

use super::Expect;
use super::book::{Stop, Tally, Undelivered};
use super::input::Position;
use crate::paint::{Paint, Tone};
use crate::say::say;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Most entries of a list that people are shown; `--json` has all.
const MOST_SHOWN: usize = 20;

/// Everything that is said at the end.
#[derive(Debug)]
pub(super) struct Report {
    /// Where it went, without a query.
    pub url: String,
    /// As whose deliveries.
    pub vendor: String,
    /// What should have happened.
    pub expect: Expect,
    /// What happened.
    pub tally: Tally,
    /// Pieces of the input that were no events, and why.
    pub unreadable: Vec<(Position, String)>,
    /// Why it ended early.
    pub stopped: Option<Stop>,
    /// Whether the input was read to its end.
    pub all_read: bool,
    /// How long it took.
    pub took: Duration,
}

impl Report {
    /// Whether everything went as expected.
    pub(super) fn is_as_expected(&self) -> bool {
        let Tally { delivered, refused, given_up, differing, left, .. } = &self.tally;
        let unwanted = match self.expect {
            Expect::Delivered => !refused.is_empty(),
            Expect::Refused => *delivered > 0,
        };
        let undone = [given_up, differing, left].into_iter().any(|list| !list.is_empty());
        !unwanted && !undone && self.unreadable.is_empty() && self.all_read
    }

    /// Distinct events of the input.
    fn events(&self) -> u64 {
        let differing = u64::try_from(self.tally.differing.len()).unwrap_or(u64::MAX);
        self.tally.read.saturating_sub(self.tally.repeated).saturating_sub(differing)
    }

    /// Sentences for people.
    pub(super) fn say(&self, paint: Paint) {
        let tone = if self.is_as_expected() { Tone::Good } else { Tone::Bad };
        say(format_args!(
            "{} {} of {} events to {} as {}: {}",
            paint.text(tone, "delivered"),
            self.tally.delivered,
            self.events(),
            self.url,
            self.vendor,
            self.attempts()
        ));
        if self.tally.repeated > 0 {
            say(format_args!("{} repetitions in the input were not sent again", self.tally.repeated));
        }
        let refused = match self.expect {
            Expect::Delivered => Tone::Bad,
            Expect::Refused => Tone::Good,
        };
        if self.expect == Expect::Refused && self.tally.delivered > 0 {
            say(format_args!(
                "{} though it should have been refused: {}",
                paint.text(Tone::Bad, "taken"),
                self.tally.first_delivered.join(", ")
            ));
        }
        list(&paint.text(refused, "refused for good"), &self.tally.refused);
        list(&paint.text(Tone::Bad, "given up"), &self.tally.given_up);
        list(&paint.text(Tone::Bad, "not sent"), &self.tally.differing);
        let unreadable = self.unreadable.iter().map(|(at, why)| format!("{at}: {why}"));
        lines(&paint.text(Tone::Bad, "not readable"), self.unreadable.len(), unreadable);
        list(&paint.text(Tone::Bad, "left"), &self.tally.left);
        match self.stopped {
            Some(Stop::Gone) => say("nothing more was sent: a receiver that answers 410 receives no more"),
            Some(Stop::Interrupted) => say("nothing more was sent: it was asked to end"),
            None => {}
        }
        if !self.all_read {
            say("the input was not read to its end");
        }
    }

    fn attempts(&self) -> String {
        let mut text = format!("{} attempts", self.tally.attempts);
        for (at, (status, count)) in self.tally.statuses.iter().enumerate() {
            text.push_str(if at == 0 { ", answered " } else { ", " });
            let _ = match status {
                Some(status) => write!(text, "{status} ×{count}"),
                None => write!(text, "not at all ×{count}"),
            };
        }
        text
    }

    /// One object for machines.
    pub(super) fn json(&self) -> Value {
        let Tally {
            read, attempts, statuses, delivered, repeated, refused, given_up, differing, left, ..
        } = &self.tally;
        let name = |status: &Option<u16>| status.map_or("none".to_owned(), |status| status.to_string());
        let answers: BTreeMap<String, u64> =
            statuses.iter().map(|(status, count)| (name(status), *count)).collect();
        let entries = |list: &[Undelivered]| list.iter().map(entry).collect::<Vec<_>>();
        json!({
            "url": self.url,
            "vendor": self.vendor,
            "expected": self.expect.as_str(),
            "as_expected": self.is_as_expected(),
            "read": read,
            "events": self.events(),
            "repeated": repeated,
            "attempts": attempts,
            "answers": answers,
            "delivered": delivered,
            "refused": entries(refused),
            "given_up": entries(given_up),
            "differing": entries(differing),
            "left": entries(left),
            "unreadable": self.unreadable.iter()
                .map(|(at, why)| json!({ "at": at.to_string(), "why": why })).collect::<Vec<_>>(),
            "stopped": self.stopped.map(|stop| match stop {
                Stop::Gone => "gone",
                Stop::Interrupted => "interrupted",
            }),
            "all_read": self.all_read,
            "took_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn entry(undelivered: &Undelivered) -> Value {
    let Undelivered { at, id, attempts, status, why } = undelivered;
    json!({ "id": id, "at": at.to_string(), "attempts": attempts, "status": status, "why": why })
}

fn list(what: &impl std::fmt::Display, list: &[Undelivered]) {
    let shown = list.iter().map(|Undelivered { at, id, attempts, why, .. }| {
        let times = match attempts {
            0 | 1 => String::new(),
            times => format!(", {times} attempts"),
        };
        format!("{id} ({at}{times}): {why}")
    });
    lines(what, list.len(), shown);
}

fn lines(what: &impl std::fmt::Display, count: usize, entries: impl Iterator<Item = String>) {
    if count == 0 {
        return;
    }
    say(format_args!("{what}: {count}"));
    entries.take(MOST_SHOWN).for_each(|entry| say(format_args!("  {entry}")));
    if count > MOST_SHOWN {
        say(format_args!("  and {} more: --json lists them all", count - MOST_SHOWN));
    }
}
