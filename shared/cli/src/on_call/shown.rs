//! Events, actions and resources as JSON, and times as people read them.

use sekali::instant::Instant;
use sekali::protocol::action::Action;
use sekali::protocol::event::Event;
use sekali::protocol::history::History;
use sekali::protocol::reason::Reason;
use sekali::protocol::resource::Resource;
use sekali::time::UnixMillis;
use serde_json::{Value, json};
use std::time::Duration;

/// A time in UTC.
pub fn time(at: UnixMillis) -> String {
    Instant(at).to_string()
}

/// How long something took or lies back, coarsely: `3d 4h`, `12m`, `40s`.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) => format!("{hours}h {minutes}m"),
        (days, hours, _) => format!("{days}d {hours}h"),
    }
}

/// A reason with its cause on one line.
pub fn reason(reason: Option<&Reason>) -> String {
    match reason {
        None => String::new(),
        Some(Reason { slug, cause: None }) => slug.as_str().to_owned(),
        Some(Reason { slug, cause: Some(cause) }) => format!("{}: {cause}", slug.as_str()),
    }
}

/// An event; its payload is no part of it.
pub fn event(event: &Event) -> Value {
    let progress = &event.progress;
    json!({
        "key": event.key.as_str(),
        "endpoint": event.endpoint.as_str(),
        "vendor": event.vendor.as_str(),
        "tenant": event.tenant.as_ref().map(|tenant| tenant.as_str()),
        "id": event.id,
        "type": event.event_type.as_ref().map(|event_type| event_type.as_str()),
        "version": event.version,
        "occurred_at": event.occurred_at.map(time),
        "received_at": time(event.received_at),
        "correlation": event.correlation.as_str(),
        "signature": {
            "scheme": event.signature.scheme,
            "secret": event.signature.secret.map(|secret| secret.position),
            "stage": event.signature.secret.map(|secret| secret.stage.as_str()),
            "signed_at": event.signature.signed_at.map(time),
        },
        "hash": event.hash.as_str(),
        "deliveries": event.seen.deliveries,
        "last_delivery_at": time(event.seen.last_at),
        "conflicts": event.seen.conflicts,
        "conflict_hashes": event.seen.conflict_hashes.iter().map(|hash| hash.as_str()).collect::<Vec<_>>(),
        "status": progress.status.as_str(),
        "reason": progress.reason.as_ref().map(|reason| reason.slug.as_str()),
        "cause": progress.reason.as_ref().and_then(|reason| reason.cause.clone()),
        "generation": progress.generation.get(),
        "opened_at": time(progress.opened_at),
        "attempts": progress.attempts,
        "sweeps": progress.sweeps,
        "action": progress.action.as_ref().map(|action| action.as_str()),
        "action_generation": progress.action_generation.map(|generation| generation.get()),
        "failed_at": progress.failed_at.map(time),
        "due": progress.due.map(time),
        "waits": progress.waits,
        "expires_at": progress.expires.map(|expires| time(expires.as_millis())),
    })
}

/// An action; the frozen request only by its size and destination.
pub fn action(action: &Action) -> Value {
    json!({
        "key": action.key.as_str(),
        "name": action.name.as_str(),
        "status": action.status.as_str(),
        "generation": action.generation.get(),
        "token": action.token.get(),
        "lease_until": time(action.lease_until),
        "first_begun_at": time(action.first_begun_at),
        "destination": action.request.destination.as_str(),
        "request_bytes": action.request.body.len(),
        "idempotency_key": action.idempotency_key().as_str(),
        "input": action.input.as_str(),
        "begun_by": action.begun_by.as_str(),
        "doubted": action.doubted,
        "result": action.result.as_ref().map(|result| result.0.as_str()),
        "reason": action.reason.as_ref().map(|reason| reason.slug.as_str()),
        "cause": action.reason.as_ref().and_then(|reason| reason.cause.clone()),
        "settled_at": action.settled_at.map(time),
    })
}

/// What humans decided about an event.
pub fn history(history: &History) -> Value {
    let decisions = history.decisions.iter().map(|decided| {
        json!({
            "at": time(decided.at),
            "who": decided.who.as_str(),
            "what": decided.what,
            "about": decided.about,
            "why": decided.why,
            "from": decided.from.as_str(),
            "generation": decided.generation.get(),
        })
    });
    decisions.collect()
}

/// A resource.
pub fn resource(resource: &Resource) -> Value {
    json!({
        "key": resource.key.as_str(),
        "status": resource.status.as_str(),
        "order": resource.order.to_string(),
        "version": resource.version.get(),
        "moved_by": resource.moved_by.as_str(),
        "moved_at": time(resource.moved_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_shown_by_its_two_largest_parts() {
        let shown = [0, 59, 61, 3_661, 90_000, 864_000].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0s", "59s", "1m", "1h 1m", "1d 1h", "10d 0h"]);
    }
}
