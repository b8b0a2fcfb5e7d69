//! What humans decided about an event: who, when and why. It lies beside the
//! event, as an item of its own that only such decisions write, in one with
//! them; deliveries and messages pay nothing for it.

use crate::ids::{Generation, Who};
use crate::key::EventKey;
use crate::protocol::event::EventStatus;
use crate::time::UnixMillis;

/// How many decisions about one event are kept in full; older ones are counted.
pub const DECISIONS_KEPT: usize = 100;

/// The longest reason that is kept, in characters.
pub const LONGEST_WHY: usize = 500;

/// Every decision about one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// How many there have been.
    pub written: u64,
    /// The last of them, the oldest first.
    pub decisions: Vec<Decided>,
}

/// One decision of a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// When.
    pub at: UnixMillis,
    /// By whom.
    pub who: Who,
    /// What, as [`Operator::as_str`](crate::protocol::decide::Operator::as_str) calls it.
    pub what: String,
    /// What it was about besides the event: the content's hash, the evidence.
    pub about: Option<String>,
    /// Why.
    pub why: String,
    /// Where the event stood.
    pub from: EventStatus,
    /// In which generation.
    pub generation: Generation,
}

/// A write of a history, on condition that nobody has decided meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryWrite {
    /// Of which event.
    pub key: EventKey,
    /// How many decisions there had been as read; none: there is no item.
    pub from: u64,
    /// All of it afterwards.
    pub to: History,
}

impl History {
    /// The write that adds a decision.
    pub fn with(&self, key: &EventKey, decided: Decided) -> HistoryWrite {
        let mut decisions = self.decisions.clone();
        decisions.push(decided);
        let over = decisions.len().saturating_sub(DECISIONS_KEPT);
        decisions.drain(..over);
        let to = Self { written: self.written.saturating_add(1), decisions };
        HistoryWrite { key: key.clone(), from: self.written, to }
    }
}

impl HistoryWrite {
    /// Is the stored history as it was read?
    pub fn admits(&self, stored: Option<&History>) -> bool {
        self.from == stored.map_or(0, |stored| stored.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(why: &str) -> Decided {
        Decided {
            at: UnixMillis(1),
            who: "alice".into(),
            what: "redrive".to_owned(),
            about: None,
            why: why.to_owned(),
            from: EventStatus::Failed,
            generation: Generation::FIRST,
        }
    }

    #[test]
    fn the_last_decisions_are_kept_and_all_are_counted() {
        let key = EventKey::from_stored("event|1:a");
        let mut history = History::default();
        for number in 0..DECISIONS_KEPT + 2 {
            let write = history.with(&key, decided(&number.to_string()));
            assert!(write.admits(Some(&history)) || history.written == 0 && write.admits(None));
            assert!(!write.admits(Some(&write.to)));
            history = write.to;
        }
        assert_eq!(history.written, 102);
        assert_eq!(history.decisions.len(), DECISIONS_KEPT);
        assert_eq!(history.decisions[0].why, "2");
    }
}
