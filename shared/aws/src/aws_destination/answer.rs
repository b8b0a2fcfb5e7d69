//! What a service's answer means where it is not that it was done.

use super::caller::Came;
use crate::connection::retry_after;
use crate::http_destination::LONGEST_RETRY_AFTER;
use crate::refusal::told;
use http::HeaderMap;
use sekali::ports::Outcome;
use serde::Deserialize;

/// Refusals that a later try need not meet: too much at once, a signature of
/// credentials or a clock that is set right meanwhile, a function that is just
/// being changed.
const FOR_NOW: [&str; 15] = [
    "ThrottlingException",
    "ThrottledException",
    "Throttling",
    "TooManyRequestsException",
    "RequestThrottled",
    "RequestLimitExceeded",
    "LimitExceededException",
    "SlowDown",
    "ExpiredTokenException",
    "ExpiredToken",
    "RequestExpired",
    "RequestTimeTooSkewed",
    "KmsThrottled",
    "ResourceConflictException",
    "SnapStartNotReadyException",
];

/// What the body of a refusal says, in the words of either protocol.
#[derive(Deserialize, Default)]
struct Refusal {
    #[serde(rename = "__type", default)]
    kind: String,
    #[serde(alias = "Message", default)]
    message: String,
}

/// The outcome of a call that was not answered with success.
pub(super) fn not_done(service: &str, came: &Came) -> Outcome {
    match came {
        Came::NotSent(cause) => Outcome::not_started(cause.clone()),
        Came::Unanswered(cause) => Outcome::unknown(cause.clone()),
        Came::Answered { status, headers, body, .. } => refused(service, *status, headers, body),
    }
}

/// What a refusal means. It is certain: the service names a reason before it
/// acts. Only 5xx leaves open what was done.
fn refused(service: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> Outcome {
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let in_header = headers.get("x-amzn-errortype").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = if refusal.kind.is_empty() { in_header } else { &refusal.kind };
    let kind = kind.rsplit('#').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let cause = match kind {
        "" => format!("{service} answered {status}"),
        _ => format!("{service} answered {status} {}", told(kind, &refusal.message)),
    };
    let not_before = retry_after(headers).map(|asked| asked.min(LONGEST_RETRY_AFTER));
    match status {
        429 => Outcome::NotStarted { cause, not_before, decisive: false },
        400..=499 if is_for_now(kind) => Outcome::NotStarted { cause, not_before, decisive: false },
        300..=499 => Outcome::rejected(cause),
        _ => Outcome::Unknown { cause, not_before },
    }
}

/// Whether a later try need not meet this refusal.
pub(super) fn is_for_now(kind: &str) -> bool {
    FOR_NOW.contains(&kind)
}
