//! Answers that are certain even after a call in doubt (INV-6): declared by
//! the destination's owner, in the words of its kind.

use super::DestinationKind;
use crate::document::{Document, Entry, whole_number};
use toml::de::DeValue;

/// Answers that certainly mean that nothing happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decisive {
    /// HTTP statuses, of an `http` destination.
    pub statuses: Vec<u16>,
    /// Types of errors that a `function` ends with.
    pub errors: Vec<String>,
}

/// Reads `decisive = [..]`.
pub(super) fn read(
    document: &mut Document<'_>,
    kind: Option<&DestinationKind>,
    entry: Entry<'_>,
) -> Option<Decisive> {
    match kind {
        Some(DestinationKind::Function(_)) => {
            let errors = document.texts(entry)?.into_iter().map(|error| error.text.to_owned()).collect();
            Some(Decisive { errors, ..Decisive::default() })
        }
        Some(DestinationKind::Http(_)) | None => {
            statuses(document, entry).map(|statuses| Decisive { statuses, ..Decisive::default() })
        }
        Some(DestinationKind::Sqs(_) | DestinationKind::EventBridge(_)) => {
            let message = "AWS's own answers are read by what they mean: `decisive` has no place here";
            document.problem(entry.key_at, message.to_owned(), None);
            None
        }
        Some(DestinationKind::Code(_)) => {
            let message = "code says itself whether its outcome is decisive: `decisive` has no place here";
            document.problem(entry.key_at, message.to_owned(), None);
            None
        }
    }
}

fn statuses(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Vec<u16>> {
    let DeValue::Array(items) = entry.value else {
        document.wrong_kind(entry.key, entry.value_at, "a list of HTTP statuses", entry.value);
        return None;
    };
    let mut statuses = Vec::with_capacity(items.len());
    for item in items.iter() {
        let status = match item.get_ref() {
            DeValue::Integer(integer) => whole_number(integer).and_then(|status| u16::try_from(status).ok()),
            _ => None,
        };
        match status.filter(|status| (400..=599).contains(status)) {
            Some(status) => statuses.push(status),
            None => document.problem(
                item.span().start,
                "`decisive` lists HTTP statuses from 400 to 599: answers that certainly mean that nothing happened",
                None,
            ),
        }
    }
    Some(statuses)
}
