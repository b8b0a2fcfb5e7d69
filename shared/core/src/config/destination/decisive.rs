//! Answers that are certain even after a call in doubt (INV-6): declared by
//! the destination's owner, in the words of its kind.

use super::{DestinationKind, statuses};
use crate::document::{Document, Entry};

const EXPECTED: &str =
    "lists HTTP statuses from 400 to 599: answers that certainly mean that nothing happened";

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
            statuses::read(document, entry, |status| (400..=599).contains(&status), EXPECTED)
                .map(|statuses| Decisive { statuses, ..Decisive::default() })
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
