//! Header fields that somebody declares for questions to a vendor's API.

use crate::document::{Document, Entry};
use crate::source::Source;

/// What whoever asks sets itself: who asks and where, and how the question goes
/// over the wire.
const TAKEN: &[&str] =
    &["authorization", "host", "content-length", "connection", "transfer-encoding", "cookie"];

/// The fields of a table, the same for every question. `who_asks` says where a
/// field that shows it is declared instead.
pub(crate) fn fixed(
    document: &mut Document<'_>,
    entry: Entry<'_>,
    who_asks: &str,
) -> Option<Vec<(String, String)>> {
    let mut fields = Vec::new();
    for entry in document.table(entry)?.entries() {
        let (name, value) = (name(document, (entry.key, entry.key_at), who_asks), document.text(entry));
        let (Some(name), Some(value)) = (name, value) else { continue };
        if value.text.trim().is_empty() || value.text.bytes().any(|byte| !(b' '..=b'~').contains(&byte)) {
            let message = "the value of a header field is plain ASCII text, and not empty";
            document.problem(value.at, message, None);
        }
        fields.push((name, value.text.to_owned()));
    }
    Some(fields)
}

/// A name that a header field may have here, in small letters.
pub(crate) fn name(document: &mut Document<'_>, (text, at): (&str, usize), who_asks: &str) -> Option<String> {
    let name = text.to_ascii_lowercase();
    if TAKEN.contains(&name.as_str()) {
        document.problem(at, format!("`{text}` is not set here"), Some(who_asks.to_owned()));
        return None;
    }
    // A place in a header is a name that a header can have.
    match Source::parse(&format!("header:{name}")) {
        Ok(_) => Some(name),
        Err(error) => {
            document.problem(at, error.to_string(), None);
            None
        }
    }
}
