//! What is wrong with a configuration or a vendor description, and where.
//! Problems are collected and reported all at once.

use std::fmt;

/// A place in a file: 1-based line and column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as the reader of the message would name it.
    pub file: String,
    /// From 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Place {
    /// The place of a byte offset within `text`.
    pub fn at(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The file as a whole.
    pub fn whole(file: &str) -> Self {
        Self { file: file.to_owned(), line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

/// One problem: where, what, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What was found and what was expected. Never shows a secret.
    pub message: String,
    /// The remedy, where one is known: `did you mean \`secrets\`?`
    pub remedy: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, " ({remedy})"))
    }
}

/// The known word nearest to `found`, if it is near enough to be what was meant.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (edit_distance(found, word), word))
        .min()
        .filter(|(distance, word)| *distance <= 1 + word.len().max(found.len()) / 4)
        .map(|(_, word)| word)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let place = Place::at("a.toml", "é = 1\nbad = 2", "é = 1\n".len() + 3);
        assert_eq!(place.to_string(), "a.toml:2:4");
    }

    #[test]
    fn the_nearest_word_must_be_near() {
        assert_eq!(nearest("secretz", ["secrets", "vendor"]), Some("secrets"));
        assert_eq!(nearest("banana", ["secrets", "vendor"]), None);
    }
}
