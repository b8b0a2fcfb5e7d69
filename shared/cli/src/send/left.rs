//! What was not delivered, in the form that `--as deliveries` reads.

use super::event::Event;
use super::sign::Signer;
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that takes what was not delivered.
#[derive(Debug)]
pub(super) struct Left {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Left {
    /// Begins the file, before anything is sent.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn begin(path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Writes an event down, without the headers that every delivery has: they
    /// are given again, and may hold a secret.
    ///
    /// # Errors
    /// The file takes no more, or the body is no text.
    pub(super) fn keep(&mut self, signer: &Signer, event: &Event) -> Result<()> {
        let line = line(signer, event)?;
        let written = writeln!(self.file, "{line}").and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn line(signer: &Signer, event: &Event) -> Result<Value> {
    let body = std::str::from_utf8(&event.body)
        .with_context(|| format!("{} is no text, so --left cannot keep it", event.at))?;
    let of_all = signer.common(Vec::new());
    let own = event.headers.iter().filter(|pair| !of_all.contains(pair));
    let headers: Map<String, Value> =
        own.map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    Ok(json!({ "id": event.id, "headers": headers, "body": body }))
}

#[cfg(test)]
mod tests {
    use super::super::event::event;
    use super::super::input::{Piece, Position};
    use super::super::sign::tests::signer;
    use super::*;

    #[test]
    fn what_is_kept_is_the_same_event_when_it_is_read_again() {
        let mut signer = signer("standard-webhooks");
        signer.headers = vec![("authorization".to_owned(), "Bearer invented".to_owned())];
        let piece = |bytes: &str| Piece { at: Position::Line(1), bytes: bytes.into() };
        let written = r#"{"id":"m_1","headers":{"X-Kind":"a"},"body":"{\"n\": 1.0}\n"}"#;
        for (bytes, is_written) in [(written, true), ("{\"n\":\"\\u00e9\"}", false)] {
            let first = event(&signer, piece(bytes), is_written).unwrap();
            let line = line(&signer, &first).unwrap().to_string();
            assert!(!line.contains("Bearer"), "{line}");
            let mut again = event(&signer, piece(&line), true).unwrap();
            again.headers.sort();
            let mut headers = first.headers.clone();
            headers.sort();
            assert_eq!((again.id, again.key, again.hash), (first.id, first.key, first.hash));
            assert_eq!((again.headers, again.body), (headers, first.body));
        }
    }
}
