//! Order is decided once: is what an event says of a resource news, a
//! repetition, or late?

use crate::config::Graph;
use crate::ids::Status;
use crate::key::ResourceKey;
use crate::protocol::resource::Resource;
use crate::rule::OrderValue;
use crate::time::UnixMillis;
use std::cmp::Ordering;
use std::time::Duration;

/// An event that claims to come from further ahead than this would outrank
/// every honest one that follows; it is held. A day covers date-only times in
/// any zone.
pub const FARTHEST_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// What an event says about its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move<'a> {
    /// Which resource.
    pub resource: ResourceKey,
    /// The status that it says the resource has.
    pub to: Status,
    /// How late it says so.
    pub order: OrderValue,
    /// Who says so.
    pub told_by: ToldBy,
    /// The declared moves.
    pub graph: &'a Graph,
}

/// Who says what a resource's status is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToldBy {
    /// The event: as of when it happened.
    Event,
    /// The vendor's API: as of now. It was asked after the resource was read,
    /// and the write names that reading, so the answer is newer than what is
    /// stored, whoever's clock says what.
    Api,
}

/// What comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The resource moves to the new status.
    Moves,
    /// Same status, later fact: only the order is written, so that an older
    /// fact cannot pass between the two (INV-3).
    Confirms,
    /// Same status: nothing to write.
    Repeats,
    /// The resource has moved past this: older, a tie, or not reachable.
    Late,
    /// The API answered with less than it had answered before: ask it again.
    Outdated,
    /// Its time is too far ahead to order anything by.
    TooFarAhead,
    /// The graph does not know the status.
    UnknownStatus,
}

/// Judges a move against the resource as read.
pub fn judge(wanted: &Move<'_>, stored: Option<&Resource>, now: UnixMillis) -> Verdict {
    if !wanted.graph.declares(&wanted.to) {
        return Verdict::UnknownStatus;
    }
    if matches!(&wanted.order, OrderValue::Time(time) if *time > now.plus(FARTHEST_AHEAD)) {
        return Verdict::TooFarAhead;
    }
    let Some(stored) = stored else {
        return Verdict::Moves;
    };
    // A resource whose order kind was changed by a deploy compares as equal:
    // then the graph alone decides, which never moves it back.
    let age = wanted.order.compare(&stored.order).unwrap_or(Ordering::Equal);
    let forth = wanted.graph.reaches(&stored.status, &wanted.to);
    let back = wanted.graph.reaches(&wanted.to, &stored.status);
    if wanted.told_by == ToldBy::Api {
        return match (wanted.to == stored.status, age) {
            (_, Ordering::Less) => Verdict::Outdated,
            (true, Ordering::Greater) => Verdict::Confirms,
            (true, Ordering::Equal) => Verdict::Repeats,
            (false, _) if forth => Verdict::Moves,
            (false, _) => Verdict::Late,
        };
    }
    match (wanted.to == stored.status, age) {
        (true, Ordering::Greater) => Verdict::Confirms,
        (true, _) => Verdict::Repeats,
        (false, Ordering::Less) => Verdict::Late,
        (false, Ordering::Greater) if forth => Verdict::Moves,
        // A tie, or ranks alone: only a move that cannot be undone counts.
        (false, Ordering::Equal) if forth && !back => Verdict::Moves,
        (false, _) => Verdict::Late,
    }
}
