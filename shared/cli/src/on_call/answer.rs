//! What a command says: to people in lines and tables, to machines as JSON.

use crate::ended::Ended;
use crate::paint::{Paint, plain};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, ContentArrangement, Table};
use serde_json::Value;
use std::fmt::Display;

/// What a command found or did.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// For machines.
    pub json: Value,
    /// For people.
    pub text: String,
    /// For people beside it, on standard error: warnings and next steps.
    pub aside: Vec<String>,
    /// For scripts.
    pub ended: Ended,
}

/// A text for people in the making.
#[derive(Debug, Clone)]
pub struct Page {
    text: String,
    aside: Vec<String>,
    /// Colours, or none.
    pub paint: Paint,
}

impl Page {
    /// An empty one.
    pub fn new(paint: Paint) -> Self {
        Self { text: String::new(), aside: Vec::new(), paint }
    }

    /// One line more.
    pub fn line(&mut self, line: impl Display) {
        self.text.push_str(&plain(&line.to_string()));
        self.text.push('\n');
    }

    /// One line beside the answer: a warning, or what to do next.
    pub fn aside(&mut self, line: impl Display) {
        self.aside.push(plain(&line.to_string()));
    }

    /// A table; nothing where there are no rows.
    pub fn table<const N: usize>(&mut self, head: [&str; N], rows: Vec<[String; N]>) {
        if rows.is_empty() {
            return;
        }
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(head.map(Cell::new));
        for row in rows {
            // Plain before it is laid out, or the columns would not meet.
            table.add_row(row.map(|cell| Cell::new(plain(&cell))));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        self.line(table.trim_fmt());
    }

    /// What it says so far, for whoever is asked something now; it goes on empty.
    pub fn take(&mut self) -> (String, Vec<String>) {
        (std::mem::take(&mut self.text), std::mem::take(&mut self.aside))
    }

    /// The whole answer.
    pub fn answer(self, json: Value, ended: Ended) -> Answer {
        Answer { json, text: self.text, aside: self.aside, ended }
    }

    /// The answer of a command that found nothing: what to do next.
    pub fn nothing(mut self, why: impl Display) -> Answer {
        let json = serde_json::json!({ "found": false, "why": why.to_string() });
        self.line(why);
        self.answer(json, Ended::Found)
    }
}

/// `1 event`, `2 events`.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_head_and_no_borders_and_none_is_made_of_nothing() {
        let mut page = Page::new(Paint::none());
        page.table(["id"], Vec::new());
        page.table(["id", "status"], vec![["evt_1".to_owned(), "failed".to_owned()]]);
        assert_eq!(page.text, "id     status\nevt_1  failed\n");
    }
}
