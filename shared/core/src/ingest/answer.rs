//! What a delivery is answered: small JSON with the correlation id. Generic
//! where it refuses: the reason goes to log and metric, never to the caller.

use super::{Arrived, Repeated};
use crate::ids::CorrelationId;
use crate::json::JsonText;
use crate::protocol::event::EventStatus;
use crate::secret::SecretPlace;
use std::time::Duration;

/// After how long a refused vendor may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Header fields besides the content type.
    pub headers: Vec<(String, String)>,
    /// The content type; `None` where there is no body.
    pub content_type: Option<String>,
    /// The body.
    pub body: String,
}

/// Why a delivery was not taken, as far as its sender is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Refused {
    /// 404: no such endpoint.
    UnknownEndpoint,
    /// 405, with what is allowed: `GET, POST`.
    Method(String),
    /// 413: larger than the endpoint takes.
    TooLarge,
    /// 413: more events than one delivery may carry.
    TooManyEvents,
    /// 415: not a content type that the vendor sends.
    ContentType,
    /// 429, and when the endpoint's rate allows the next.
    TooMany(Duration),
    /// 403: a guard of the endpoint stops it.
    Guard,
    /// 401, or what the vendor's description says.
    Signature(u16),
    /// A handshake that the vendor's description does not take: 400 where it
    /// is incomplete, else what the description says.
    Handshake(u16),
    /// 400: well signed, but no event can be made of it.
    Unusable(Unusable),
    /// 503: no usable secret, or the store did not take it. Promises nothing;
    /// the vendor's retry repairs it.
    Unavailable,
}

/// Why no event can be made of a well signed delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unusable {
    /// The content is not what the content type says.
    Unreadable,
    /// No event id, and the description gives no fallback.
    NoEventId,
    /// A required field is missing.
    RequiredMissing,
    /// A batch without items.
    EmptyBatch,
    /// A version that the endpoint refuses.
    UnknownVersion,
    /// A part of a key is missing, and the endpoint refuses such events.
    MissingKeyPart,
}

impl Unusable {
    /// Its word in answers, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::NoEventId => "no_event_id",
            Self::RequiredMissing => "required_missing",
            Self::EmptyBatch => "empty_batch",
            Self::UnknownVersion => "unknown_version",
            Self::MissingKeyPart => "missing_key_part",
        }
    }
}

impl Refused {
    /// Its word in answers, logs and metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::UnknownEndpoint => "unknown_endpoint",
            Self::Method(_) => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::TooManyEvents => "too_many_events",
            Self::ContentType => "unsupported_content_type",
            Self::TooMany(_) => "too_many",
            Self::Guard => "forbidden",
            Self::Signature(_) => "unauthorized",
            Self::Handshake(_) => "handshake_refused",
            Self::Unusable(unusable) => unusable.as_str(),
            Self::Unavailable => "unavailable",
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::UnknownEndpoint => 404,
            Self::Method(_) => 405,
            Self::TooLarge | Self::TooManyEvents => 413,
            Self::ContentType => 415,
            Self::TooMany(_) => 429,
            Self::Guard => 403,
            Self::Signature(status) | Self::Handshake(status) => *status,
            Self::Unusable(_) => 400,
            Self::Unavailable => 503,
        }
    }

    /// The answer.
    pub fn answer(&self, correlation: &CorrelationId) -> Answer {
        let headers = match self {
            Self::Method(allowed) => vec![("allow", allowed.clone())],
            Self::Unavailable => vec![("retry-after", RETRY_AFTER.as_secs().to_string())],
            // Whole seconds, and never too few of them.
            Self::TooMany(wait) => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                vec![("retry-after", seconds.max(1).to_string())]
            }
            _ => Vec::new(),
        };
        json(self.status(), headers, &[("error", self.as_str())], correlation)
    }
}

/// What became of one event of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Taken {
    /// New and durable.
    New(EventStatus),
    /// A known event; its present status.
    Duplicate(EventStatus),
    /// A known id with other content; the known event's status.
    Conflict(EventStatus),
}

impl Taken {
    fn status(self) -> u16 {
        match self {
            Self::New(_) => 202,
            Self::Duplicate(_) | Self::Conflict(_) => 200,
        }
    }

    /// Its word in answers, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New(_) => "new",
            Self::Duplicate(_) => "duplicate",
            Self::Conflict(_) => "conflict",
        }
    }

    /// Where the event stands.
    pub fn event_status(self) -> EventStatus {
        match self {
            Self::New(status) | Self::Duplicate(status) | Self::Conflict(status) => status,
        }
    }
}

/// What became of a delivery whose events are all durable or filtered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What became of each event that was taken.
    pub taken: Vec<Taken>,
    /// How many events a guard left out.
    pub filtered: usize,
    /// The secret that made the signature, for the log.
    pub secret: Option<SecretPlace>,
    /// What is told of the first request, where the endpoint answers a repeated
    /// one with its result.
    pub repeated: Option<Repeated>,
}

impl Outcome {
    /// A guard stopped the whole delivery before it was verified.
    pub fn filtered() -> Self {
        Self { taken: Vec::new(), filtered: 1, secret: None, repeated: None }
    }

    /// The answer.
    pub fn answer(&self, correlation: &CorrelationId) -> Answer {
        match (self.taken.as_slice(), self.filtered) {
            ([one], 0) => {
                let members = [("result", one.as_str()), ("status", one.event_status().as_str())];
                json(one.status(), Vec::new(), &members, correlation)
            }
            ([], 1) => json(200, Vec::new(), &[("result", "filtered")], correlation),
            (many, filtered) => {
                let status = many.iter().map(|taken| taken.status()).max().unwrap_or(200);
                let count = |word| many.iter().filter(|taken| taken.as_str() == word).count().to_string();
                let mut counts: Vec<(&'static str, String)> =
                    ["new", "duplicate", "conflict"].map(|word| (word, count(word))).into();
                if filtered > 0 {
                    counts.push(("filtered", filtered.to_string()));
                }
                let members: Vec<(&'static str, &str)> =
                    counts.iter().map(|(name, count)| (*name, count.as_str())).collect();
                json(status, Vec::new(), &members, correlation)
            }
        }
    }

    /// One line for the events that were left out, if any.
    pub(super) fn log_left_out(&self, arrived: &Arrived<'_>) {
        if self.filtered > 0 {
            tracing::info!(
                endpoint.name = %arrived.endpoint.name,
                vendor.name = %arrived.endpoint.vendor.name(),
                correlation.id = %arrived.addressed.correlation,
                delivery.result = "filtered",
                delivery.filtered_count = self.filtered,
                signature.secret = self.secret.map(|secret| secret.to_string()),
                "delivery"
            );
        }
    }
}

fn json(
    status: u16,
    headers: Vec<(&'static str, String)>,
    members: &[(&'static str, &str)],
    correlation: &CorrelationId,
) -> Answer {
    let texts =
        |(name, value): &(&'static str, &str)| (*name, JsonText::from_text(value).as_json().to_owned());
    json_raw(status, headers, &members.iter().map(texts).collect::<Vec<_>>(), correlation)
}

/// The same with values that are JSON already.
pub(super) fn json_raw(
    status: u16,
    headers: Vec<(&'static str, String)>,
    members: &[(&'static str, String)],
    correlation: &CorrelationId,
) -> Answer {
    let id = JsonText::from_text(correlation.as_str()).as_json().to_owned();
    let members: Vec<String> = members
        .iter()
        .chain([&("correlation_id", id)])
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    let body = format!("{{{}}}", members.join(","));
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Answer { status, headers, content_type: Some("application/json".to_owned()), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> CorrelationId {
        CorrelationId::new("c1")
    }

    #[test]
    fn a_refusal_tells_its_kind_and_nothing_else() {
        let answer = Refused::Signature(401).answer(&id());
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (401, r#"{"error":"unauthorized","correlation_id":"c1"}"#)
        );
    }

    #[test]
    fn one_new_event_among_known_ones_makes_it_202() {
        let taken = vec![Taken::Duplicate(EventStatus::Processed), Taken::New(EventStatus::Received)];
        let answer = Outcome { taken, filtered: 0, secret: None, repeated: None }.answer(&id());
        assert_eq!(answer.status, 202);
        assert_eq!(answer.body, r#"{"new":"1","duplicate":"1","conflict":"0","correlation_id":"c1"}"#);
    }

    #[test]
    fn what_a_guard_left_out_is_counted_beside_the_others() {
        let taken = vec![Taken::New(EventStatus::Received)];
        let outcome = Outcome { taken, filtered: 2, secret: None, repeated: None };
        let answer = outcome.answer(&id());
        assert_eq!(answer.status, 202);
        assert!(answer.body.starts_with(r#"{"new":"1","duplicate":"0","conflict":"0","filtered":"2""#));
        let answer = Outcome::filtered().answer(&id());
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"filtered","correlation_id":"c1"}"#)
        );
    }

    #[test]
    fn whoever_comes_too_often_hears_when_to_come_back() {
        for (wait, told) in [(0, "1"), (1_000, "1"), (1_001, "2")] {
            let answer = Refused::TooMany(Duration::from_millis(wait)).answer(&id());
            assert_eq!(answer.status, 429);
            assert_eq!(answer.headers, [("retry-after".to_owned(), told.to_owned())]);
        }
    }

    #[test]
    fn what_promises_nothing_says_when_to_come_back() {
        let answer = Refused::Unavailable.answer(&id());
        assert_eq!(answer.headers, [("retry-after".to_owned(), "5".to_owned())]);
    }
}
