//! The calls that a sequence is made of.

use super::aim::{Aim, Stale, aim, stale};
use super::{CONTENTS, EVENTS, Pick};
use proptest::prelude::*;
use sekali::protocol::event::EventStatus;

/// A call of the store. What it names it finds in the model when its turn
/// comes, mostly as it stands there.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Create {
        event: Pick,
        content: Pick,
        status: EventStatus,
        nonce: u8,
    },
    PutPayload {
        event: Pick,
        content: Pick,
        seconds: u8,
    },
    KeepPayload {
        event: Pick,
        content: Pick,
        generation: u64,
    },
    ExpirePayload {
        event: Pick,
        content: Pick,
        generation: u64,
        seconds: u8,
    },
    Count {
        event: Pick,
        other: Option<Pick>,
        at: u8,
    },
    Conflict {
        event: Pick,
        content: Pick,
        at: u8,
    },
    Adopt {
        event: Pick,
        stale: Option<Stale>,
        content: Pick,
        at: u8,
    },
    Write(Box<Aim>),
    /// The last transition once more, as after a lost answer.
    WriteAgain,
}

/// Calls, made one after the other.
#[derive(Debug, Clone)]
pub struct Sequence(pub(super) Vec<Call>);

/// Sequences of up to two dozen calls; the first makes an event, or most of
/// the others would meet nothing.
pub fn sequences() -> impl Strategy<Value = Sequence> {
    (first(), prop::collection::vec(call(), 1..24)).prop_map(|(first, mut calls)| {
        calls.insert(0, first);
        Sequence(calls)
    })
}

fn first() -> impl Strategy<Value = Call> {
    event_status().prop_map(|status| Call::Create { event: 0, content: 0, status, nonce: 0 })
}

/// Mostly the same few, so that calls meet each other.
pub(super) fn pick(of: usize) -> impl Strategy<Value = Pick> {
    prop_oneof![3 => Just(0), 1 => 0..of]
}

pub(super) fn event_status() -> impl Strategy<Value = EventStatus> {
    prop::sample::select(EventStatus::ALL.to_vec())
}

fn call() -> impl Strategy<Value = Call> {
    let (event, hash) = (|| pick(EVENTS.len()), || pick(CONTENTS.len()));
    let seconds = || 0..4_u8;
    prop_oneof![
        3 => (event(), hash(), event_status(), 0..3_u8)
            .prop_map(|(event, content, status, nonce)| Call::Create { event, content, status, nonce }),
        2 => (event(), hash(), seconds())
            .prop_map(|(event, content, seconds)| Call::PutPayload { event, content, seconds }),
        2 => (event(), hash(), 1..4_u64)
            .prop_map(|(event, content, generation)| Call::KeepPayload { event, content, generation }),
        2 => (event(), hash(), 1..4_u64, seconds()).prop_map(|(event, content, generation, seconds)| {
            Call::ExpirePayload { event, content, generation, seconds }
        }),
        1 => (event(), prop::option::of(hash()), seconds())
            .prop_map(|(event, other, at)| Call::Count { event, other, at }),
        2 => (event(), hash(), seconds()).prop_map(|(event, content, at)| Call::Conflict { event, content, at }),
        2 => (event(), stale(), hash(), seconds())
            .prop_map(|(event, stale, content, at)| Call::Adopt { event, stale, content, at }),
        8 => aim().prop_map(|aim| Call::Write(Box::new(aim))),
        2 => Just(Call::WriteAgain),
    ]
}
