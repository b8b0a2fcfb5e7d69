//! What is known here of an event that the vendor lists. Pure.

use crate::config::Endpoint;
use crate::ids::EventType;
use crate::protocol::event::{Event, EventStatus};
use crate::rule;
use crate::time::UnixMillis;
use std::time::Duration;

/// Vendors' clocks and ours: so much before the end of the dedup window an
/// absent record says nothing any more.
pub const CLOCK_MARGIN: Duration = Duration::from_secs(60 * 60);

/// What is known of a listed event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was received.
    Received {
        /// How far it has come.
        status: EventStatus,
        /// Deliveries of it with other content.
        conflicts: u64,
    },
    /// It was not, and its record could not have expired.
    NeverArrived,
    /// It is not there, and no rule of the endpoint names its type: it would be
    /// ignored, and the vendor may never have been asked to send it.
    NoRule,
    /// A guard of the endpoint leaves such events out.
    Filtered,
    /// It is not there, and may have been: to take it in could make it act a
    /// second time.
    Unproven(Unproven),
    /// It makes no event of this endpoint, and why.
    Unreadable(String),
}

/// Why an absent record proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unproven {
    /// It is so old that its record would have expired.
    Expired,
    /// Nobody says when it happened.
    NoTime,
    /// It is from before this receiver got the events, under the endpoint's
    /// present name: another receiver, or this one under another name, may have.
    BeforeUs,
}

impl Standing {
    /// Whether nobody has to look at it: it is only counted.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Received { conflicts: 0, .. } | Self::NoRule | Self::Filtered)
    }

    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Received { conflicts: 0, .. } => "received",
            Self::Received { .. } => "received with conflicts",
            Self::NeverArrived => "never arrived",
            Self::NoRule => "no rule",
            Self::Filtered => "filtered",
            Self::Unproven(_) => "unknown",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// For how long an event that was received is recognised.
#[derive(Debug, Clone, Copy)]
pub struct Recognised {
    /// What the time is.
    pub now: UnixMillis,
    /// The endpoint's dedup window.
    pub window: Duration,
    /// Since when events are received under the endpoint's present name.
    pub since: UnixMillis,
    /// How much earlier than the list says it may have come first.
    pub sent_late: Duration,
}

/// What a record, or its absence, says of a listed event: of which type, and
/// when it happened.
///
/// An event is received no earlier than it happens, and its record stays for
/// the dedup window from then on (INV-9). So a younger event without a record
/// never came, if it is not from before this receiver; of an older one nobody
/// knows. Of a list of deliveries the time
/// may be that of a repeat, so as much less is known as repeats may be late.
pub fn standing(
    endpoint: &Endpoint,
    stored: Option<&Event>,
    (event_type, at): (Option<&EventType>, Option<UnixMillis>),
    recognised: Recognised,
) -> Standing {
    if let Some(event) = stored {
        return Standing::Received { status: event.progress.status, conflicts: event.seen.conflicts };
    }
    if !rule::names(endpoint, event_type) {
        return Standing::NoRule;
    }
    let surely_kept = recognised.window.saturating_sub(CLOCK_MARGIN).saturating_sub(recognised.sent_late);
    match at {
        None => Standing::Unproven(Unproven::NoTime),
        Some(at) if recognised.now.since(at) >= surely_kept => Standing::Unproven(Unproven::Expired),
        Some(at) if at.minus(recognised.sent_late) < recognised.since => {
            Standing::Unproven(Unproven::BeforeUs)
        }
        Some(_) => Standing::NeverArrived,
    }
}
