//! One line on a terminal while it goes on.

use super::book::Book;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// How often the line changes.
pub(super) const EVERY: Duration = Duration::from_millis(200);

/// The line, or nothing where standard error is no terminal.
#[derive(Debug)]
pub(super) struct Progress {
    on: bool,
}

impl Progress {
    /// Begins.
    pub(super) fn new() -> Self {
        Self { on: std::io::stderr().is_terminal() }
    }

    /// Whether anybody sees it.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Shows how far it is.
    pub(super) fn show(&self, book: &Book, under_way: usize) {
        let tally = book.tally();
        let undelivered = tally.refused.len() + tally.given_up.len();
        self.write(&format!(
            "read {}, delivered {}, not delivered {undelivered}, under way {under_way}, waiting {}",
            tally.read,
            tally.delivered,
            book.waiting()
        ));
    }

    /// Leaves the line empty.
    pub(super) fn clear(&self) {
        self.write("");
    }

    fn write(&self, text: &str) {
        if self.on {
            let mut error = std::io::stderr().lock();
            let _ = write!(error, "\r\u{1b}[2K{text}").and_then(|()| error.flush());
        }
    }
}
