//! What slices are put together from: contents, arrivals, promises, answers,
//! budgets.

use crate::model::scenario::{
    Answer, Api, Arrival, Bounds, Budget, Content, Pace, Promise, Slice, Story, Wish,
};
use sekali::config::InDoubt;
use sekali::protocol::decide::Late;

pub(super) const NOTHING: Content = Content { held: false, moves: None, asks: None, signal: None };
pub(super) const NOBODY: Api = Api { course: &[], since: 0, behind: false };

/// Asks for an effect under one key field.
pub(super) const fn asks(field: &'static [&'static str], effect: u8) -> Content {
    Content { asks: Some(Wish { name: "pack", fields: field, effect, late: Late::Act }), ..NOTHING }
}

/// The same fields under another action's name.
pub(super) const fn named(name: &'static str, content: Content, effect: u8) -> Content {
    match content.asks {
        Some(wish) => Content { asks: Some(Wish { name, effect, ..wish }), ..content },
        None => content,
    }
}

/// Where the event is late, it is ignored.
pub(super) const fn skips(content: Content) -> Content {
    match content.asks {
        Some(wish) => Content { asks: Some(Wish { late: Late::Skip, ..wish }), ..content },
        None => content,
    }
}

pub(super) const fn says(status: &'static str, number: &'static str, content: Content) -> Content {
    Content { moves: Some((status, number)), ..content }
}

/// Only a signal that the resource has come to this step of its course.
pub(super) const fn signals(step: u8, content: Content) -> Content {
    Content { signal: Some(step), ..content }
}

pub(super) const PACK: Content = asks(&["order_1"], 0);
pub(super) const OTHER: Content = asks(&["order_2"], 1);

pub(super) const fn received(content: Content) -> Story {
    Story { tenant: None, received: true, contents: [content, NOTHING] }
}

pub(super) const fn arriving(a: Content, b: Content) -> Story {
    Story { tenant: None, received: false, contents: [a, b] }
}

pub(super) const A: Arrival = Arrival { story: 0, content: 0 };
pub(super) const B: Arrival = Arrival { story: 0, content: 1 };

pub(super) const PARK: Promise = Promise { in_doubt: InDoubt::Park, honours: None, settling: 1 };
pub(super) const RETRY: Promise = Promise { in_doubt: InDoubt::Retry, honours: Some(3), settling: 1 };

pub(super) const ASK: Promise = Promise { in_doubt: InDoubt::Probe, honours: None, settling: 1 };

pub(super) const BOUNDS: Bounds = Bounds { attempts: 2, sweeps: 2, age: 50, window: 60 };

pub(super) const EVERY_END: &[Answer] = &[
    Answer::Done,
    Answer::Rejected,
    Answer::NotStarted,
    Answer::ActsUnheard,
    Answer::Silent,
    Answer::ActsLater,
];
pub(super) const EVERY_END_AND_DECISIVE: &[Answer] = &[
    Answer::Done,
    Answer::Rejected,
    Answer::RejectedDecisive,
    Answer::NotStarted,
    Answer::NotStartedDecisive,
    Answer::ActsUnheard,
    Answer::Silent,
    Answer::ActsLater,
];

pub(super) const SLICE: Slice = Slice {
    name: "",
    stories: &[],
    arrivals: &[],
    brings: false,
    promise: PARK,
    api: NOBODY,
    answers: &[Answer::Done],
    workers: 1,
    sweepers: 1,
    worker: Pace::Stepwise,
    sweeper: Pace::AtOnce,
    human: Pace::AtOnce,
    budget: Budget::NONE,
    bounds: BOUNDS,
    wishes: &[],
    horizon: 2,
};

/// A budget of one kind of trouble each.
pub(super) const fn once(crash: u8, redelivery: u8, lost_answer: u8) -> Budget {
    Budget { crash, redelivery, lost_answer, ..Budget::NONE }
}

/// A message comes again soon after a question that got no answer, once.
pub(super) const YOUNG: Budget = Budget { young: 1, ..Budget::NONE };
