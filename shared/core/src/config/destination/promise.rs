//! What a destination promises, and what a policy needs to be kept (INV-2).

use super::{Destination, DestinationKind, InDoubt};
use crate::config::value;
use crate::document::{Document, Entry, Table, Text};
use std::time::Duration;

/// How long a repeated key is recognised: as declared, within what the kind
/// itself can do. Nothing of ours makes a queue or a bus recognise more.
pub(super) fn honours_key_for(
    document: &mut Document<'_>,
    kind: Option<&DestinationKind>,
    entry: Option<Entry<'_>>,
) -> Option<Duration> {
    let declared = entry.and_then(|entry| Some((entry, super::positive_span(document, entry)?)));
    let own = kind.and_then(DestinationKind::own_window);
    match (own, declared) {
        (None, declared) => declared.map(|(_, span)| span),
        (Some(Duration::ZERO), None) => None,
        (Some(own), None) => Some(own),
        (Some(Duration::ZERO), Some((entry, _))) => {
            let what = match kind {
                Some(DestinationKind::EventBridge(_)) => "an event bus",
                _ => "a standard queue",
            };
            let message = format!("{what} recognises no repeated key, so a call to it is never repeated");
            let remedy = "leave it out; a FIFO queue recognises a key for 5 minutes";
            document.problem(entry.key_at, message, Some(remedy.to_owned()));
            None
        }
        (Some(own), Some((entry, span))) if span > own => {
            let message =
                format!("a FIFO queue recognises a repeated key for {} and no longer", value::show_span(own));
            document.problem(entry.value_at, message, Some(format!("\"{}\" or less", value::show_span(own))));
            None
        }
        (Some(_), Some((_, span))) => Some(span),
    }
}

/// What the policy needs to be kept (INV-2).
pub(super) fn check(
    document: &mut Document<'_>,
    name: Text<'_>,
    table: Table<'_>,
    destination: &Destination,
) {
    let policy_at = table.get("in_doubt").map_or(name.at, |entry| entry.value_at);
    match (destination.in_doubt, destination.honours_key_for) {
        // Where `honours_key_for` is there but malformed, that is the problem.
        (InDoubt::Retry, None) if table.get("honours_key_for").is_none() => {
            let message =
                format!("destination `{}` may be called again only while it honours the key", name.text);
            let remedy = match destination.kind {
                DestinationKind::Sqs(_) => "a FIFO queue, or in_doubt = \"park\"",
                DestinationKind::EventBridge(_) => "in_doubt = \"park\"",
                _ => {
                    "say how long it recognises a key, e.g. honours_key_for = \"24h\", or in_doubt = \"park\""
                }
            };
            document.problem(policy_at, message, Some(remedy.to_owned()));
        }
        (InDoubt::Retry, Some(honoured)) if honoured <= destination.timeout => {
            let message = format!(
                "a call of {} never fits twice into the {} for which the key is honoured",
                value::show_span(destination.timeout),
                value::show_span(honoured)
            );
            document.problem(
                policy_at,
                message,
                Some("a shorter timeout, or in_doubt = \"park\"".to_owned()),
            );
        }
        _ => {}
    }
}
