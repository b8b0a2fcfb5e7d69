//! A delivery met a stored event: the refused put returned it.

use super::step::At;
use super::{Decision, End, Read};
use crate::ids::PutNonce;
use crate::key::EventHash;
use crate::protocol::event::{Event, EventStatus};

/// What a delivery says of its event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// The nonce of its put.
    pub put_nonce: PutNonce,
    /// The hash of its content.
    pub hash: EventHash,
    /// By itself it would be held: a human has to look at its content first.
    pub held: bool,
    /// Whether the payload that the stored event points to is there.
    pub first_payload: Presence,
}

/// What is known of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Not read yet.
    NotRead,
    /// It is there.
    There,
    /// It is not there.
    Missing,
}

const WOULD_BE_HELD: &str =
    "the first content never became durable, and this one would be held: it cannot take its place";

/// Our own write, a duplicate, or a conflict.
pub(super) fn meets(event: &Event, delivery: &Delivery, at: At<'_>) -> Decision {
    let progress = &event.progress;
    if event.put_nonce == delivery.put_nonce && event.hash == delivery.hash {
        return Decision::End(End::AsNew);
    }
    if event.hash == delivery.hash {
        return Decision::End(End::Duplicate {
            unfinished: !progress.status.is_finished(),
            enqueue: progress.status == EventStatus::Received
                && at.now.since(progress.opened_at) >= at.limits.grace,
        });
    }
    // Only an unclaimed event whose own content was never durable takes other
    // content; a claimed one has frozen what it sends. What would be held goes
    // on only by a human's word: it stays a conflict, and without the first
    // content that is no reason to acknowledge anything (INV-1).
    let adoptable =
        progress.action.is_none() && matches!(progress.status, EventStatus::Received | EventStatus::Failed);
    Decision::End(match (adoptable, delivery.first_payload) {
        (true, Presence::NotRead) => return Decision::Read(Read::FirstPayload),
        (true, Presence::Missing) if delivery.held => End::Refuse(WOULD_BE_HELD),
        (true, Presence::Missing) => End::Adopt,
        (true, Presence::There) | (false, _) => End::Conflict,
    })
}
