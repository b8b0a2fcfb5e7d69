//! The body of an answer, up to a limit: its sender decides nothing about our
//! memory (INV-8).

use http::HeaderMap;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How the reading of a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// All of it was read.
    Whole,
    /// There is more than the limit; what was read has exactly so many bytes.
    TooLarge,
    /// It broke off.
    Broken(String),
    /// It did not end in time.
    TooLate,
}

/// Reads at most `largest` bytes until `deadline`.
pub(crate) async fn read(mut body: Incoming, largest: usize, deadline: Instant) -> (Vec<u8>, End) {
    let mut read = Vec::new();
    loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(None) => return (read, End::Whole),
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                let room = largest - read.len();
                read.extend_from_slice(&data[..data.len().min(room)]);
                if data.len() > room {
                    return (read, End::TooLarge);
                }
            }
            Ok(Some(Err(error))) => return (read, End::Broken(crate::describe(&error))),
            Err(_) => return (read, End::TooLate),
        }
    }
}

/// How long an answer asks to wait. Whole seconds only; a date would need a clock.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
