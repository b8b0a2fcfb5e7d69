//! What an answer means. The status alone decides.

use crate::connection::retry_after;
use http::{HeaderMap, StatusCode};
use sekali::ports::Outcome;
use std::time::Duration;

/// A destination may ask for a longer wait; then it is asked again sooner.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(15 * 60);

/// What the head of an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It happened; the body says more.
    Done,
    /// Any other end; the body is not read.
    Other(Outcome),
}

/// Reads status and headers.
///
/// - 2xx: done.
/// - 307, 308: rejected. They ask for the same call elsewhere, and a redirect
///   followed would be another destination.
/// - Other 3xx: unknown. Many servers answer 302 or 303 to a POST that they have
///   carried out (RFC 9110, section 15.4.4).
/// - 429: not started, with the wait that it asks for.
/// - 408, 409, 425: unknown. They speak of another try, which may have acted.
/// - Other 4xx: rejected, for certain.
/// - 5xx and anything else: unknown. It may have failed after the effect.
///
/// A status that the destination declares decisive is certain: what would be
/// unknown has not started then.
pub(super) fn of_head(status: StatusCode, headers: &HeaderMap, decisive: &[u16]) -> Answer {
    let status = status.as_u16();
    let decisive = decisive.contains(&status);
    let cause = format!("the destination answered {status}");
    let not_started = |cause| Outcome::NotStarted { cause, not_before: wait(headers), decisive };
    Answer::Other(match status {
        200..=299 => return Answer::Done,
        307 | 308 => {
            Outcome::Rejected { cause: format!("{cause}, and redirects are not followed"), decisive }
        }
        429 => not_started(cause),
        400..=499 if !matches!(status, 408 | 409 | 425) => Outcome::Rejected { cause, decisive },
        _ if decisive => not_started(cause),
        _ => Outcome::Unknown {
            cause: format!("{cause}, which leaves open whether it happened"),
            not_before: wait(headers),
        },
    })
}

/// A wait that is asked for, within our bound.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    retry_after(headers).map(|asked| asked.min(LONGEST_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::RETRY_AFTER;

    fn answer(status: u16, decisive: &[u16]) -> Answer {
        of_head(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), decisive)
    }

    fn word(answer: &Answer) -> &'static str {
        match answer {
            Answer::Done | Answer::Other(Outcome::Done(_)) => "done",
            Answer::Other(Outcome::Rejected { .. }) => "rejected",
            Answer::Other(Outcome::NotStarted { .. }) => "not started",
            Answer::Other(Outcome::Unknown { .. }) => "unknown",
        }
    }

    #[test]
    fn every_status_has_one_meaning() {
        for status in 100..=999 {
            let expected = match status {
                200..=299 => "done",
                429 => "not started",
                408 | 409 | 425 => "unknown",
                307 | 308 | 400..=499 => "rejected",
                _ => "unknown",
            };
            assert_eq!(word(&answer(status, &[])), expected, "{status}");
        }
    }

    // INV-6: only what the destination declares is certain after a doubt.
    #[test]
    fn a_declared_status_is_certain_and_no_other() {
        for (status, expected) in
            [(409, "not started"), (503, "not started"), (404, "rejected"), (429, "not started")]
        {
            let (declared, not) = (answer(status, &[status]), answer(status, &[418]));
            assert_eq!(word(&declared), expected, "{status}");
            let certain = |answer: &Answer| {
                matches!(
                    answer,
                    Answer::Other(
                        Outcome::Rejected { decisive: true, .. } | Outcome::NotStarted { decisive: true, .. }
                    )
                )
            };
            assert!(certain(&declared) && !certain(&not), "{status}");
        }
        assert_eq!(answer(200, &[200]), Answer::Done);
    }

    #[test]
    fn a_wait_that_is_asked_for_is_bounded() {
        let asked = |value: &str| wait(&HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]));
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("999999999"), Some(LONGEST_RETRY_AFTER));
        assert_eq!(asked("-1"), None);
        assert_eq!(asked("Fri, 31 Dec 1999 23:59:59 GMT"), None);
    }
}
