//! A TOML file while it is read: every problem with its place, all at once.
//!
//! serde stops at the first error and loses the place, so the readers of the
//! configuration walk the document themselves with the help of this module.

use crate::problem::{Place, Problem, nearest};
use std::collections::BTreeSet;
use std::fmt::Display;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A file and what was found wrong with it so far.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    file: &'t str,
    text: &'t str,
    line_starts: Vec<usize>,
    /// Lines with an error of syntax: what recovery makes of them says nothing.
    broken_lines: BTreeSet<usize>,
    problems: Vec<Problem>,
    /// How often something was wrong, also where it is not shown.
    found: usize,
}

/// A key with its value, and where both stand (byte offsets).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'d> {
    pub(crate) key: &'d str,
    pub(crate) key_at: usize,
    pub(crate) value: &'d DeValue<'d>,
    pub(crate) value_at: usize,
}

/// A table and where it, or the key that names it, stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'d> {
    pub(crate) at: usize,
    entries: &'d DeTable<'d>,
}

/// Text and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'d> {
    pub(crate) text: &'d str,
    pub(crate) at: usize,
}

impl<'t> Document<'t> {
    /// Parses what can be parsed. Errors of syntax are problems already.
    pub(crate) fn parse(file: &'t str, text: &'t str) -> (Self, DeTable<'t>) {
        let (root, errors) = DeTable::parse_recoverable(text);
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut document =
            Self { file, text, line_starts, broken_lines: BTreeSet::new(), problems: Vec::new(), found: 0 };
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            document.problem(at, error.message(), Some(of_syntax(error.message())));
            document.broken_lines.insert(document.line(at));
        }
        (document, root.into_inner())
    }

    /// Line and column of a byte offset.
    pub(crate) fn place(&self, at: usize) -> Place {
        let line = self.line(at);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        Place { file: self.file.to_owned(), line, column }
    }

    fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at).max(1)
    }

    /// Something that is there is wrong.
    pub(crate) fn problem(&mut self, at: usize, message: impl Into<String>, remedy: Option<String>) {
        let place = self.place(at);
        self.problem_in(place, message, remedy);
    }

    /// The same, at a place that was kept.
    pub(crate) fn problem_in(&mut self, place: Place, message: impl Into<String>, remedy: Option<String>) {
        self.found += 1;
        if !self.broken_lines.contains(&place.line) {
            self.problems.push(Problem { place, message: message.into(), remedy });
        }
    }

    /// Something is not there. After an error of syntax nothing is known to be
    /// absent: what follows the error may be lost.
    pub(crate) fn absent(&mut self, at: usize, message: impl Into<String>, remedy: Option<String>) {
        if self.broken_lines.is_empty() {
            self.problem(at, message, remedy);
        }
    }

    /// How often something was wrong so far: what is read between two equal
    /// counts was read whole.
    pub(crate) fn found(&self) -> usize {
        self.found
    }

    /// Whether a part of the file may be lost behind an error of syntax.
    pub(crate) fn is_broken(&self) -> bool {
        !self.broken_lines.is_empty()
    }

    /// The problems, in the order of the file.
    pub(crate) fn finish(mut self) -> Vec<Problem> {
        self.problems.sort_by(|a, b| (&a.place, &a.message).cmp(&(&b.place, &b.message)));
        self.problems.dedup();
        self.problems
    }

    /// Every key that is not among `known` is a problem.
    pub(crate) fn only(&mut self, table: Table<'_>, what: &str, known: &[&str]) {
        for entry in table.entries.iter().map(entry).filter(|entry| !known.contains(&entry.key)) {
            let remedy = match nearest(entry.key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.problem(entry.key_at, format!("`{}` is no key of {what}", entry.key), Some(remedy));
        }
    }

    /// One of several words.
    pub(crate) fn word<T: Copy>(&mut self, entry: Entry<'_>, words: &[(&str, T)]) -> Option<T> {
        let found = self.text(entry)?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == found.text) {
            return Some(*meaning);
        }
        let known = words.iter().map(|(word, _)| *word);
        let remedy = match nearest(found.text, known.clone()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => {
                format!("one of {}", known.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
            }
        };
        self.problem(found.at, format!("\"{}\" is no `{}`", found.text, entry.key), Some(remedy));
        None
    }

    /// A value that must be text.
    pub(crate) fn text<'d>(&mut self, entry: Entry<'d>) -> Option<Text<'d>> {
        self.text_value(entry.key, entry.value, entry.value_at)
    }

    fn text_value<'d>(&mut self, key: &str, value: &'d DeValue<'d>, at: usize) -> Option<Text<'d>> {
        match value {
            DeValue::String(text) => Some(Text { text, at }),
            other => {
                self.wrong_kind(key, at, "text in quotes", other);
                None
            }
        }
    }

    /// A value that must be text, read by `reader`; what that refuses is a problem.
    pub(crate) fn read<'d, T, E: Display>(
        &mut self,
        entry: Entry<'d>,
        reader: impl FnOnce(&'d str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.text(entry)?;
        self.accept(text, reader(text.text))
    }

    /// The value of a result; its error is a problem at the text.
    pub(crate) fn accept<T, E: Display>(&mut self, text: Text<'_>, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.problem(text.at, error.to_string(), None)).ok()
    }

    /// A value that must be `true` or `false`.
    pub(crate) fn truth(&mut self, entry: Entry<'_>) -> Option<bool> {
        match entry.value {
            DeValue::Boolean(truth) => Some(*truth),
            other => {
                self.wrong_kind(entry.key, entry.value_at, "true or false", other);
                None
            }
        }
    }

    /// A value that must be a table.
    pub(crate) fn table<'d>(&mut self, entry: Entry<'d>) -> Option<Table<'d>> {
        match entry.value {
            DeValue::Table(entries) => Some(Table { at: entry.key_at, entries }),
            other => {
                self.wrong_kind(entry.key, entry.value_at, "a table", other);
                None
            }
        }
    }

    /// A value that must be a list of tables.
    pub(crate) fn tables<'d>(&mut self, entry: Entry<'d>) -> Vec<Table<'d>> {
        let DeValue::Array(items) = entry.value else {
            self.wrong_kind(entry.key, entry.value_at, "a list of tables", entry.value);
            return Vec::new();
        };
        let mut tables = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.get_ref() {
                DeValue::Table(entries) => tables.push(Table { at: item.span().start, entries }),
                other => self.wrong_kind(entry.key, item.span().start, "a table", other),
            }
        }
        tables
    }

    /// A value that must be a list of texts. `None` where it is not even a list.
    pub(crate) fn texts<'d>(&mut self, entry: Entry<'d>) -> Option<Vec<Text<'d>>> {
        let DeValue::Array(items) = entry.value else {
            self.wrong_kind(entry.key, entry.value_at, "a list of texts", entry.value);
            return None;
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items.iter() {
            texts.extend(self.text_value(entry.key, item.get_ref(), item.span().start));
        }
        Some(texts)
    }

    /// A text, or a list of them.
    pub(crate) fn one_or_more<'d>(&mut self, entry: Entry<'d>) -> Option<Vec<Text<'d>>> {
        match entry.value {
            DeValue::String(text) => Some(vec![Text { text, at: entry.value_at }]),
            DeValue::Array(_) => self.texts(entry),
            other => {
                self.wrong_kind(entry.key, entry.value_at, "text or a list of texts", other);
                None
            }
        }
    }

    /// The value is of another kind than asked for.
    pub(crate) fn wrong_kind(&mut self, key: &str, at: usize, wanted: &str, found: &DeValue<'_>) {
        let example = match wanted {
            "text in quotes" => format!("{key} = \"..\""),
            "a table" => format!("{key} = {{ .. }}"),
            "a list of tables" => format!("a heading [[..{key}]] for each"),
            "a list of texts" => format!("{key} = [\"..\"]"),
            "text or a list of texts" => format!("{key} = \"..\" or [\"..\", \"..\"]"),
            _ => format!("{key} = {wanted}"),
        };
        self.problem(at, format!("`{key}` is {wanted}, not {}", kind(found)), Some(example));
    }
}

impl<'d> Table<'d> {
    /// The whole document as a table.
    pub(crate) fn root(entries: &'d DeTable<'d>) -> Self {
        Self { at: 0, entries }
    }

    /// A table and where it stands.
    pub(crate) fn of(at: usize, entries: &'d DeTable<'d>) -> Self {
        Self { at, entries }
    }

    /// One entry.
    pub(crate) fn get(&self, key: &str) -> Option<Entry<'d>> {
        self.entries.get_key_value(key).map(entry)
    }

    /// Every entry in the order of the file, which is the order people meant.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'d>> + use<'d> {
        let mut entries: Vec<_> = self.entries.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.key_at);
        entries.into_iter()
    }
}

fn entry<'d>((key, value): (&'d Spanned<toml::de::DeString<'d>>, &'d Spanned<DeValue<'d>>)) -> Entry<'d> {
    Entry {
        key: key.get_ref(),
        key_at: key.span().start,
        value: value.get_ref(),
        value_at: value.span().start,
    }
}

/// What to do about an error of syntax, in the words of the parser.
fn of_syntax(message: &str) -> String {
    let first = match message {
        message if message.contains("duplicate key") => "keep one of the two, or put both into one list",
        message if message.contains("quoted") => "text stands in quotes: key = \"text\"",
        message if ["unclosed", "basic string", "array"].iter().any(|word| message.contains(word)) => {
            "close it, on this line or above"
        }
        message if message.contains("value") && !message.contains("expected `=`") => {
            "a value stands behind `=`, text in quotes: key = \"text\""
        }
        _ => "a line is key = value, or the heading [table] or [[table]] of those that follow",
    };
    format!("{first}. Mend this first: what follows it may not have been read")
}

/// A whole number that fits, whatever base it is written in.
pub(crate) fn whole_number(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_come_in_the_order_of_the_file() {
        let (_, root) = Document::parse("a.toml", "b = 1\na = 2\n[z]\n[c]\n");
        let keys: Vec<_> = Table::root(&root).entries().map(|entry| entry.key).collect();
        assert_eq!(keys, ["b", "a", "z", "c"]);
    }

    #[test]
    fn an_unknown_key_is_shown_with_the_nearest_known_one() {
        let (mut document, root) = Document::parse("a.toml", "vendor = 1\n  secretz = 2\nbanana = 3\n");
        document.only(Table::root(&root), "an endpoint", &["vendor", "secrets"]);
        assert_eq!(
            shown(&document.finish()),
            [
                "a.toml:2:3: `secretz` is no key of an endpoint (did you mean `secrets`?)",
                "a.toml:3:1: `banana` is no key of an endpoint (known here: vendor, secrets)",
            ]
        );
    }

    #[test]
    fn after_an_error_of_syntax_its_line_and_absences_say_nothing() {
        let (mut document, root) = Document::parse("a.toml", "a = \nb = 2\n");
        document.problem(0, "nonsense made of the broken line", None);
        document.absent(4, "`c` is missing", None);
        document.only(Table::root(&root), "this", &["a"]);
        let problems = shown(&document.finish());
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0].starts_with("a.toml:1:") && problems[0].contains("Mend this first"),
            "{problems:?}"
        );
        assert!(problems[1].starts_with("a.toml:2:1: `b`"), "{problems:?}");
    }

    #[test]
    fn a_value_of_another_kind_is_named() {
        let (mut document, root) = Document::parse("a.toml", "a = 1\nb = [\"x\", 2]\n");
        let root = Table::root(&root);
        assert!(document.text(root.get("a").unwrap()).is_none());
        assert_eq!(document.texts(root.get("b").unwrap()).unwrap().len(), 1);
        assert_eq!(
            shown(&document.finish()),
            [
                "a.toml:1:5: `a` is text in quotes, not a whole number (a = \"..\")",
                "a.toml:2:11: `b` is text in quotes, not a whole number (b = \"..\")",
            ]
        );
    }
}
