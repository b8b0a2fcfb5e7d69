//! The metrics of a delivery.

use super::line::Lines;
use super::list::{Dimension, Metric};
use sekali::ingest::tally::{Signature, Tally};
use sekali::secret::{SecretPlace, Stage};
use std::borrow::Cow;
use std::time::Duration;

/// Where nothing of the configuration is meant: what a stranger wrote is no name.
const UNKNOWN: &str = "unknown";

/// What a delivery came to, as metrics.
pub fn of_delivery<'a>(tally: &'a Tally<'_>) -> Lines<'a> {
    let mut lines = Lines::default();
    let name = tally.endpoint.map_or(UNKNOWN, |endpoint| endpoint.name.as_str());
    let vendor = tally.endpoint.map_or(UNKNOWN, |endpoint| endpoint.vendor.name().as_str());
    let endpoint = (Dimension::Endpoint, Cow::Borrowed(name));
    let mut by = vec![
        endpoint.clone(),
        (Dimension::Vendor, Cow::Borrowed(vendor)),
        (Dimension::Answer, Cow::Owned(tally.answer.to_string())),
    ];
    by.extend(tally.event_type.map(|event_type| (Dimension::Type, Cow::Borrowed(event_type.as_str()))));
    lines.count(Metric::Deliveries, 1, &by);

    let by = [endpoint.clone()];
    let counts = [
        (Metric::Events, tally.new),
        (Metric::Duplicates, tally.duplicates),
        (Metric::Conflicts, tally.conflicts),
        (Metric::Filtered, tally.filtered),
        (Metric::Handshakes, u64::from(tally.handshake)),
        (Metric::SecretUnusable, u64::from(tally.secret_unusable)),
        (Metric::Unavailable, u64::from(tally.is_unavailable())),
        (Metric::EnqueueDeferred, tally.deferred),
    ];
    for (metric, many) in counts {
        lines.count(metric, many, &by);
    }
    for (reason, many) in &tally.held {
        let reason = (Dimension::Reason, Cow::Borrowed(reason.as_str()));
        lines.count(Metric::Held, *many, &[endpoint.clone(), reason]);
    }
    if let Some(signature) = tally.signature {
        of_signature(&mut lines, signature, endpoint);
    }

    if let Some(verified_after) = tally.verified_after {
        lines.measure(Metric::VerificationTime, millis(verified_after), &by);
    }
    lines.measure(Metric::AckTime, millis(tally.answered_after), &by);
    if let Some(share) = tally.deadline_share() {
        lines.measure(Metric::AckDeadlineShare, share, &by);
    }
    lines
}

fn of_signature<'a>(lines: &mut Lines<'a>, signature: Signature, endpoint: (Dimension, Cow<'a, str>)) {
    let old = u64::from(signature.is_by_an_old_secret());
    lines.count(Metric::OldSecretMatched, old, std::slice::from_ref(&endpoint));
    match signature {
        Signature::Matched(Some(place)) => {
            let secret = (Dimension::Secret, Cow::Owned(word(place)));
            lines.count(Metric::SecretMatched, 1, &[endpoint, secret]);
        }
        Signature::Matched(None) => {}
        Signature::Refused(reason) => {
            let reason = (Dimension::Reason, Cow::Borrowed(reason));
            lines.count(Metric::SignatureFailures, 1, &[endpoint, reason]);
        }
        Signature::Offline => lines.count(Metric::EndpointOffline, 1, &[endpoint]),
    }
}

/// Positions are counted as people count.
fn word(place: SecretPlace) -> String {
    let previous = if place.stage == Stage::Previous { "-previous" } else { "" };
    format!("{}{previous}", place.position + 1)
}

/// A span in milliseconds.
pub(super) fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}
