//! The slices: ingest, processor, sweeper and human apart with more trouble
//! each, and the whole with one trouble of any kind.

mod parts;

use super::scenario::{Answer, Api, Bounds, Budget, Content, Pace, Promise, Slice, Story};
use super::world::Act;
use parts::{
    A, ASK, B, BOUNDS, EVERY_END, EVERY_END_AND_DECISIVE, NOTHING, OTHER, PACK, RETRY, SLICE, YOUNG,
    arriving, asks, named, once, received, says, signals, skips,
};

/// Small enough for every test run.
pub const QUICK: &[Slice] = &[
    PUTS,
    ADOPTION,
    ADOPTION_HELD,
    HELD,
    WINDOW,
    PARKED,
    EXPIRED,
    RETRIED,
    FORGOTTEN,
    SHARED,
    ROUNDS,
    DOUBT,
    ORDERED,
    HUMAN,
    TENANTS,
    NAMES,
    PARTS,
    ONCE_PER_EVENT,
    OTHER_WINDOW,
    PAUSED,
    ANEW,
    ACCEPTED,
    ERASED,
    SIGNALS,
    UNNUMBERED,
    ASKED,
    BROUGHT,
    BROUGHT_HELD,
    WHOLE_AT_ONCE,
];
/// For `make model`, which takes minutes.
pub const DEEP: &[Slice] = &[
    WHOLE,
    Slice {
        name: "a destination that does not know the key, with a crash and a redelivery",
        budget: once(1, 1, 0),
        ..PARKED
    },
    Slice {
        name: "a destination that does not know the key, with a lost answer",
        budget: once(0, 0, 1),
        ..PARKED
    },
    Slice {
        name: "a destination that does not know the key, with a write that lands late",
        budget: Budget { late_write: 1, ..Budget::NONE },
        ..PARKED
    },
    Slice { name: "a destination that honours the key, with a crash", budget: once(1, 0, 0), ..RETRIED },
    Slice {
        name: "a destination that honours the key, with a lost answer",
        budget: once(0, 0, 1),
        ..RETRIED
    },
    Slice {
        name: "a worker that outlives its lease, with two troubles of any kind",
        budget: Budget { any: 2, ..Budget::NONE },
        ..EXPIRED
    },
    Slice {
        name: "what failed or is in doubt, and a human, with a crash",
        budget: Budget { redrive: 1, operator: 1, ..once(1, 0, 0) },
        ..HUMAN
    },
    Slice { name: "two events that name one action, with a crash", budget: once(1, 0, 0), ..SHARED },
    Slice { name: "two events that name one action, with a sweeper", sweepers: 1, ..SHARED },
    Slice { name: "three deliveries of one event, with a lost answer", budget: once(0, 0, 1), ..PUTS },
    Slice { name: "three deliveries of one event, with a worker", workers: 1, worker: Pace::AtOnce, ..PUTS },
    Slice {
        name: "other content after a first delivery that died, with two troubles of any kind",
        budget: Budget { any: 2, ..Budget::NONE },
        ..ADOPTION
    },
    Slice { name: "other content after a first delivery that died, with a sweeper", sweepers: 1, ..ADOPTION },
    Slice {
        name: "two events of one resource, out of order, with a crash and a lost answer",
        budget: once(1, 0, 1),
        ..ORDERED
    },
    Slice { name: "two events of one resource, out of order, with a sweeper", sweepers: 1, ..ORDERED },
    Slice {
        name: "two sweepers at once",
        sweepers: 2,
        worker: Pace::AtOnce,
        budget: once(1, 0, 0),
        ..EXPIRED
    },
    Slice {
        name: "a pause, with two troubles of any kind",
        budget: Budget { any: 2, ..PAUSED.budget },
        ..PAUSED
    },
    Slice { name: "a pause, and a sweeper between any two calls", sweeper: Pace::Stepwise, ..PAUSED },
    ANEW_APART,
    Slice {
        name: "an effect wanted again, with a crash and a redelivery",
        budget: Budget { operator: 2, ..once(1, 1, 0) },
        ..ANEW
    },
    Slice {
        name: "events that are only signals, a worker's calls apart",
        worker: Pace::Stepwise,
        horizon: 1,
        ..SIGNALS
    },
    Slice {
        name: "events that are only signals, with a crash and a lost answer",
        worker: Pace::Stepwise,
        sweepers: 0,
        budget: Budget { crash: 1, lost_answer: 1, ..YOUNG },
        horizon: 1,
        ..SIGNALS
    },
    Slice {
        name: "events that are only signals, with a human",
        budget: Budget { redrive: 1, operator: 1, ..Budget::NONE },
        horizon: 1,
        ..SIGNALS
    },
    Slice {
        name: "answers without a number, and a trouble of any kind",
        budget: Budget { any: 1, ..YOUNG },
        ..UNNUMBERED
    },
    Slice {
        name: "a destination that can be asked, with decisive answers and a crash",
        answers: EVERY_END_AND_DECISIVE,
        budget: once(1, 0, 0),
        horizon: 4,
        ..ASKED
    },
    Slice {
        name: "a destination that can be asked, with two troubles of any kind",
        budget: Budget { any: 2, ..Budget::NONE },
        ..ASKED
    },
    Slice { name: "a destination that can be asked, and two workers", workers: 2, ..ASKED },
    Slice {
        name: "a destination that can be asked, and a human",
        answers: &[Answer::Done, Answer::Rejected, Answer::NotStarted, Answer::ActsLater],
        human: Pace::Stepwise,
        budget: Budget { redrive: 1, operator: 1, ..Budget::NONE },
        bounds: Bounds { sweeps: 1, ..BOUNDS },
        horizon: 4,
        ..ASKED
    },
    Slice {
        name: "two events that name one action, at a destination that can be asked",
        promise: ASK,
        horizon: 3,
        sweepers: 1,
        worker: Pace::AtOnce,
        ..SHARED
    },
    Slice {
        name: "one who brings an event, with two troubles of any kind",
        budget: Budget { any: 2, ..Budget::NONE },
        arrivals: &[A],
        ..BROUGHT
    },
    Slice {
        name: "an event born held in two deliveries, and one who brings it",
        arrivals: &[A, A],
        ..BROUGHT_HELD
    },
    Slice { name: "one who brings an event, a worker's calls apart", worker: Pace::Stepwise, ..BROUGHT },
    Slice { name: "half of the window used, with a worker", workers: 1, worker: Pace::AtOnce, ..WINDOW },
];

pub(super) const PUTS: Slice = Slice {
    name: "three deliveries of one event, one with other content",
    stories: &[arriving(PACK, OTHER)],
    arrivals: &[A, A, B],
    workers: 0,
    budget: once(1, 0, 0),
    horizon: 1,
    ..SLICE
};

pub(super) const ADOPTION: Slice = Slice {
    name: "other content after a first delivery that died",
    arrivals: &[A, B],
    workers: 1,
    sweepers: 0,
    ..PUTS
};

pub(super) const ADOPTION_HELD: Slice = Slice {
    name: "other content that would be held, after a first delivery that died",
    stories: &[arriving(PACK, Content { held: true, ..OTHER })],
    ..ADOPTION
};

pub(super) const HELD: Slice = Slice {
    name: "an event born held, and a human",
    stories: &[arriving(Content { held: true, ..PACK }, OTHER)],
    arrivals: &[A, B],
    worker: Pace::AtOnce,
    budget: Budget { operator: 1, ..once(1, 0, 0) },
    horizon: 1,
    ..SLICE
};

pub(super) const WINDOW: Slice = Slice {
    name: "half of the window used before there is an end",
    stories: &[arriving(PACK, OTHER)],
    arrivals: &[A, A],
    workers: 0,
    sweeper: Pace::Stepwise,
    budget: once(1, 0, 0),
    bounds: Bounds { window: 5, ..BOUNDS },
    horizon: 2,
    ..SLICE
};

pub(super) const PARKED: Slice = Slice {
    name: "one action at a destination that does not know the key",
    stories: &[received(PACK)],
    answers: EVERY_END,
    workers: 2,
    budget: once(1, 0, 0),
    ..SLICE
};

pub(super) const EXPIRED: Slice = Slice {
    name: "a worker that outlives its lease, and a sweeper between any two calls",
    workers: 1,
    sweeper: Pace::Stepwise,
    budget: Budget { any: 1, ..Budget::NONE },
    bounds: Bounds { sweeps: 1, ..BOUNDS },
    ..PARKED
};

pub(super) const RETRIED: Slice = Slice {
    name: "one action at a destination that honours the key",
    promise: RETRY,
    answers: EVERY_END_AND_DECISIVE,
    budget: Budget::NONE,
    ..PARKED
};

pub(super) const FORGOTTEN: Slice = Slice {
    name: "a destination that forgets the key soon",
    promise: Promise { honours: Some(1), ..RETRY },
    answers: &[Answer::Done, Answer::Rejected, Answer::ActsUnheard, Answer::ActsLater],
    workers: 1,
    budget: Budget { any: 1, ..Budget::NONE },
    horizon: 3,
    ..PARKED
};

pub(super) const ASKED: Slice = Slice {
    name: "one action at a destination that can be asked",
    promise: ASK,
    workers: 1,
    budget: Budget::NONE,
    horizon: 3,
    ..PARKED
};

pub(super) const SHARED: Slice = Slice {
    name: "two events that name one action",
    stories: &[received(PACK), received(PACK)],
    answers: &[Answer::Done, Answer::Rejected, Answer::NotStarted, Answer::Silent],
    workers: 2,
    sweepers: 0,
    horizon: 1,
    ..SLICE
};

pub(super) const ROUNDS: Slice = Slice {
    name: "two events that name one action, and a human",
    workers: 1,
    worker: Pace::AtOnce,
    sweepers: 1,
    human: Pace::Stepwise,
    answers: &[Answer::Done, Answer::NotStarted, Answer::Silent],
    budget: Budget { operator: 2, ..once(1, 0, 0) },
    horizon: 2,
    ..SHARED
};

pub(super) const DOUBT: Slice = Slice {
    name: "two events in doubt over one action, and a human who dies half way",
    answers: &[Answer::Silent, Answer::NotStarted],
    bounds: Bounds { attempts: 1, ..BOUNDS },
    horizon: 3,
    ..ROUNDS
};

pub(super) const ORDERED: Slice = Slice {
    name: "two events of one resource, out of order",
    stories: &[received(says("paid", "1", skips(PACK))), received(says("shipped", "2", OTHER))],
    answers: &[Answer::Done, Answer::NotStarted],
    workers: 2,
    sweepers: 0,
    horizon: 1,
    ..SLICE
};

pub(super) const HUMAN: Slice = Slice {
    name: "what failed or is in doubt, and a human",
    stories: &[received(PACK)],
    answers: &[Answer::Done, Answer::Rejected, Answer::NotStarted, Answer::ActsLater],
    human: Pace::Stepwise,
    budget: Budget { redrive: 1, operator: 1, ..Budget::NONE },
    bounds: Bounds { sweeps: 1, ..BOUNDS },
    horizon: 3,
    ..SLICE
};

pub(super) const PAUSED: Slice = Slice {
    name: "an endpoint that is paused and goes on",
    stories: &[received(PACK)],
    promise: RETRY,
    answers: &[Answer::Done, Answer::Rejected, Answer::NotStarted, Answer::Silent],
    budget: Budget { pause: 1, any: 1, ..Budget::NONE },
    bounds: Bounds { sweeps: 1, age: 4, window: 4, ..BOUNDS },
    horizon: 2,
    ..SLICE
};

pub(super) const ANEW: Slice = Slice {
    name: "two events that name one action, and a human who wants its effect again",
    wishes: &[Act::Again, Act::Replay, Act::ReplayAnew],
    budget: Budget { operator: 1, ..once(1, 0, 0) },
    ..ROUNDS
};

pub(super) const ANEW_APART: Slice =
    Slice { name: "an effect wanted again, a worker's calls apart", worker: Pace::Stepwise, ..ANEW };

pub(super) const ACCEPTED: Slice = Slice {
    name: "other content, and a human who takes it",
    stories: &[arriving(PACK, OTHER)],
    arrivals: &[A, B],
    worker: Pace::AtOnce,
    sweepers: 0,
    human: Pace::Stepwise,
    wishes: &[Act::Accept],
    answers: &[Answer::Done, Answer::Rejected],
    budget: Budget { operator: 1, ..once(1, 0, 0) },
    horizon: 1,
    ..SLICE
};

pub(super) const ERASED: Slice = Slice {
    name: "two events that name one action, and a human who gives up and erases",
    wishes: &[Act::Discard, Act::Erase],
    answers: &[Answer::Done, Answer::Rejected],
    budget: Budget { operator: 2, ..Budget::NONE },
    bounds: Bounds { attempts: 1, ..BOUNDS },
    horizon: 1,
    ..ROUNDS
};

pub(super) const BROUGHT: Slice = Slice {
    name: "an event in two deliveries, and one who brings it from the vendor's list",
    stories: &[arriving(PACK, PACK)],
    arrivals: &[A, A],
    brings: true,
    worker: Pace::AtOnce,
    budget: once(1, 0, 0),
    horizon: 1,
    ..SLICE
};

pub(super) const BROUGHT_HELD: Slice = Slice {
    name: "an event born held, and one who brings it from the vendor's list",
    stories: &[arriving(Content { held: true, ..PACK }, Content { held: true, ..PACK })],
    arrivals: &[A],
    budget: Budget { operator: 1, ..once(1, 0, 0) },
    ..BROUGHT
};

pub(super) const SIGNALS: Slice = Slice {
    name: "two events that are only signals, and an API that may be behind",
    stories: &[received(signals(0, PACK)), received(signals(1, OTHER))],
    api: Api {
        course: &[("active", Some("1")), ("resting", Some("2")), ("active", Some("3"))],
        since: 1,
        behind: true,
    },
    answers: &[Answer::Done, Answer::Rejected, Answer::NotStarted],
    worker: Pace::AtOnce,
    budget: YOUNG,
    bounds: Bounds { sweeps: 1, ..BOUNDS },
    horizon: 2,
    ..SLICE
};

pub(super) const UNNUMBERED: Slice = Slice {
    name: "two events that are only signals, two workers, and answers without a number",
    api: Api { course: &[("active", None), ("resting", None), ("active", None)], since: 1, behind: false },
    answers: &[Answer::Done],
    workers: 2,
    worker: Pace::Stepwise,
    sweepers: 0,
    horizon: 1,
    ..SIGNALS
};

pub(super) const TENANTS: Slice = Slice {
    name: "two tenants with orders of one name",
    stories: &[
        Story { tenant: Some("north"), ..received(asks(&["ab", "c"], 0)) },
        Story { tenant: Some("south"), ..received(asks(&["ab", "c"], 1)) },
    ],
    horizon: 1,
    ..SLICE
};

pub(super) const NAMES: Slice = Slice {
    name: "two actions with fields of one name",
    stories: &[received(PACK), received(named("refund", PACK, 1))],
    horizon: 1,
    ..SLICE
};

pub(super) const PARTS: Slice = Slice {
    name: "two actions whose key parts only together are alike",
    stories: &[received(asks(&["ab", "c"], 0)), received(asks(&["a", "bc"], 1))],
    horizon: 1,
    ..SLICE
};

pub(super) const ONCE_PER_EVENT: Slice = Slice {
    name: "one event in two deliveries, and an action without key fields",
    stories: &[arriving(asks(&[], 0), NOTHING), arriving(asks(&[], 0), NOTHING)],
    arrivals: &[A, A],
    worker: Pace::AtOnce,
    horizon: 1,
    ..SLICE
};

pub(super) const OTHER_WINDOW: Slice =
    Slice { name: "other content when half of the window is used", arrivals: &[A, B], ..WINDOW };

pub(super) const WHOLE: Slice = Slice {
    name: "everything, and one trouble of any kind",
    stories: &[arriving(says("paid", "1", PACK), NOTHING), received(says("shipped", "2", PACK))],
    arrivals: &[A, A],
    answers: &[Answer::Done, Answer::Silent, Answer::NotStarted],
    budget: Budget { any: 1, ..Budget::NONE },
    horizon: 1,
    ..SLICE
};

const WHOLE_AT_ONCE: Slice =
    Slice { name: "everything, what a worker does taken as one step", worker: Pace::AtOnce, ..WHOLE };
