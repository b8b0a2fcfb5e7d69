//! The shapes of traffic that are simulated: what is sent, what the
//! destination promises and how it behaves.

use super::setup::{Edition, Promise};
use super::traffic::{Payment, Says, Sent};
use crate::fault::{Fault, PortCall, Trouble};
use crate::memory::StoreCall;
use std::time::Duration;

/// How the destination behaves, whatever it promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    /// Acts and says so.
    Willing,
    /// Acts on the first call, and nobody hears of it.
    ActsUnheard,
    /// Does nothing on the first call, and says nothing.
    SilentAtFirst,
    /// Acts on the first call unheard, and says nothing this often when asked.
    AskedInVain(u32),
    /// Says nothing at first, then no: a no that is not certain any more.
    SilentThenRefuses,
    /// Says no to the first call.
    RefusesFirst,
    /// Cannot be reached this often.
    Unreachable(u32),
    /// Acts this long after the call came, whether the caller still listens or not.
    Slow(Duration),
    /// The first call panics before anything was sent.
    PanicsBefore,
    /// The first call panics after the effect.
    PanicsAfter,
}

/// How the API of a vendor behaves that only signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// Says what is so.
    Prompt,
    /// Says what was so this long ago: it is behind its own signals.
    Behind(Duration),
    /// Knows nothing of the job the first times.
    NotThere(u32),
    /// Asks for patience the first times.
    Busy(u32),
    /// Says nothing the first times.
    Silent(u32),
    /// Says what was so when it was asked, this much later.
    Slow(Duration),
}

/// One shape of traffic.
#[derive(Debug, Clone)]
pub struct Shape {
    /// A sentence.
    pub name: &'static str,
    /// What vendors send.
    pub sent: Vec<Sent>,
    /// What the destination promises.
    pub promise: Promise,
    /// What it does.
    pub temper: Temper,
    /// What the API of a vendor does that only signals.
    pub api: Outlook,
    /// A deploy: when, and of what.
    pub deploy: Option<(Duration, Edition)>,
    /// A human pauses every endpoint from here to there.
    pub pause: Option<(Duration, Duration)>,
    /// From then on a human is to erase everything, discarding first what
    /// failed, and tries until it is done.
    pub erased: Option<Duration>,
    /// A human discards what failed before the dead letters are moved.
    pub discarded: bool,
    /// A fault that belongs to the shape, at the first call of this kind.
    pub mishap: Option<(PortCall, Fault)>,
    /// Letters that one invocation is handed.
    pub batch: usize,
    /// How many effects happen where nothing else goes wrong.
    pub effects: usize,
    /// Whether every pair of faults is tried, or every single one.
    pub pairs: bool,
}

const FIRST_PAID: Payment = Payment { id: "evt_paid", order: "A-1", created: 60, amount: 4200 };
const AUTHORIZED: Payment = Payment { id: "evt_authorized", created: 0, ..FIRST_PAID };
const REFUNDED: Payment = Payment { id: "evt_refunded", created: 90, ..FIRST_PAID };

const AT_ONCE: Duration = Duration::ZERO;
const DAY: Duration = Duration::from_secs(86_400);

/// A vendor that tries for a day.
const FOR_A_DAY: &[Duration] = &[seconds(30), seconds(10 * 60), seconds(2 * 3600), seconds(20 * 3600)];

/// A vendor that tries again after two days, once.
const AFTER_TWO_DAYS: &[Duration] = &[seconds(48 * 3600)];

/// The event is durable, and its payload is not.
const DIES_HALF_WAY: (PortCall, Fault) =
    (PortCall::Store(StoreCall::PutPayload), Fault::Refused(Trouble::Unanswered));

fn sent(at: Duration, says: Says) -> Sent {
    Sent { at, again: FOR_A_DAY, says }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl Shape {
    fn new(name: &'static str, sent: Vec<Sent>, effects: usize) -> Self {
        Self {
            name,
            sent,
            promise: Promise::Honours,
            temper: Temper::Willing,
            api: Outlook::Prompt,
            deploy: None,
            pause: None,
            erased: None,
            discarded: false,
            mishap: None,
            batch: 1,
            effects,
            pairs: false,
        }
    }

    fn promising(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    fn tempered(self, temper: Temper) -> Self {
        Self { temper, ..self }
    }

    fn deploying(self, at: Duration, edition: Edition) -> Self {
        Self { deploy: Some((at, edition)), ..self }
    }

    fn paused(self, from: Duration, until: Duration) -> Self {
        Self { pause: Some((from, until)), ..self }
    }

    fn erased(self, from: Duration) -> Self {
        Self { erased: Some(from), ..self }
    }

    fn discarded(self) -> Self {
        Self { discarded: true, ..self }
    }

    fn in_pairs(self) -> Self {
        Self { pairs: true, ..self }
    }

    /// Every shape.
    pub fn all() -> Vec<Self> {
        [basic(), moody(), asked(), deployed(), together(), signalled(), confirmed(), unwanted()].concat()
    }

    /// The shape of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|shape| shape.name == name)
    }
}

/// One payment, delivered three times at once.
fn thrice(name: &'static str) -> Shape {
    Shape::new(name, vec![sent(AT_ONCE, Says::Paid(FIRST_PAID)); 3], 1)
}

/// One payment, delivered once and once more a day later.
fn once_and_again(name: &'static str) -> Shape {
    let again = sent(DAY, Says::Paid(FIRST_PAID));
    Shape::new(name, vec![sent(AT_ONCE, Says::Paid(FIRST_PAID)), again], 1)
}

fn basic() -> Vec<Shape> {
    let status_only = vec![sent(AT_ONCE, Says::Authorized(AUTHORIZED)); 2];
    let reordered = vec![
        sent(AT_ONCE, Says::Refunded(REFUNDED)),
        sent(AT_ONCE, Says::Paid(FIRST_PAID)),
        sent(seconds(1), Says::Authorized(AUTHORIZED)),
    ];
    let other = Payment { amount: 9900, ..FIRST_PAID };
    let conflict = vec![sent(AT_ONCE, Says::Paid(FIRST_PAID)), sent(seconds(5), Says::Paid(other))];
    let after_days = vec![Sent { again: AFTER_TWO_DAYS, ..sent(AT_ONCE, Says::Paid(FIRST_PAID)) }];
    let late = vec![
        sent(AT_ONCE, Says::Paid(FIRST_PAID)),
        sent(20 * DAY, Says::Paid(FIRST_PAID)),
        sent(80 * DAY, Says::Paid(FIRST_PAID)),
    ];
    vec![
        thrice("a payment delivered three times").in_pairs(),
        thrice("a payment delivered three times to a destination that promises nothing")
            .promising(Promise::Nothing)
            .in_pairs(),
        Shape::new("a status and no action", status_only, 0).in_pairs(),
        Shape::new("three events of one payment in the wrong order", reordered, 1),
        Shape {
            mishap: Some(DIES_HALF_WAY),
            ..Shape::new("other content after a first delivery that died half way", conflict.clone(), 1)
        }
        .in_pairs(),
        Shape::new("two contents under one id", conflict, 1),
        Shape {
            mishap: Some(DIES_HALF_WAY),
            ..Shape::new("a delivery that died half way and comes again after two days", after_days, 1)
        },
        Shape::new("the same payment after twenty and after eighty days", late, 1),
    ]
}

fn moody() -> Vec<Shape> {
    vec![
        once_and_again("acts on a call that nobody hears of").tempered(Temper::ActsUnheard),
        once_and_again("acts unheard and promises nothing")
            .tempered(Temper::ActsUnheard)
            .promising(Promise::Nothing)
            .in_pairs(),
        once_and_again("acts unheard and honours the key for too short a time")
            .tempered(Temper::ActsUnheard)
            .promising(Promise::Briefly),
        once_and_again("is silent and then refuses").tempered(Temper::SilentThenRefuses),
        once_and_again("refuses, until a human sends it again").tempered(Temper::RefusesFirst),
        once_and_again("cannot be reached twice").tempered(Temper::Unreachable(2)),
        once_and_again("cannot be reached twice and promises nothing")
            .tempered(Temper::Unreachable(2))
            .promising(Promise::Nothing),
        once_and_again("cannot be reached for longer than anybody tries").tempered(Temper::Unreachable(12)),
        once_and_again("is slow and answers in time").tempered(Temper::Slow(seconds(9))),
        once_and_again("acts after its caller has gone").tempered(Temper::Slow(seconds(30))),
        once_and_again("acts after its caller has gone and promises nothing")
            .tempered(Temper::Slow(seconds(30)))
            .promising(Promise::Nothing),
        once_and_again("panics before the effect").tempered(Temper::PanicsBefore),
        once_and_again("panics after the effect").tempered(Temper::PanicsAfter),
        once_and_again("panics after the effect and promises nothing")
            .tempered(Temper::PanicsAfter)
            .promising(Promise::Nothing),
    ]
}

/// A destination that honours no key, and that can be asked.
fn asked() -> Vec<Shape> {
    let asked = |name, temper| once_and_again(name).tempered(temper).promising(Promise::Asked);
    vec![
        thrice("a payment delivered three times to a destination that can be asked")
            .promising(Promise::Asked),
        asked("acts unheard and says so when it is asked", Temper::ActsUnheard).in_pairs(),
        asked("is silent and says, when it is asked, that nothing happened", Temper::SilentAtFirst),
        asked("acts after its caller has gone and can be asked", Temper::Slow(seconds(30))),
        asked("acts unheard and is asked in vain at first", Temper::AskedInVain(2)),
        asked("is silent, then refuses, and can be asked", Temper::SilentThenRefuses),
        asked("panics after the effect and can be asked", Temper::PanicsAfter),
    ]
}

fn deployed() -> Vec<Shape> {
    let tried = |name| once_and_again(name).tempered(Temper::Unreachable(1));
    vec![
        tried("the fields of the action change between two tries")
            .deploying(seconds(1), Edition::OtherFields),
        once_and_again("the fields of the action change after an effect that nobody heard of")
            .tempered(Temper::ActsUnheard)
            .deploying(seconds(1), Edition::OtherFields),
        tried("the rule is gone between two tries").deploying(seconds(1), Edition::NoRule),
        tried("the destination is gone between two tries").deploying(seconds(1), Edition::NoDestination),
    ]
}

fn together() -> Vec<Shape> {
    let token = |token| sent(AT_ONCE, Says::HandsOver(token));
    let two_vendors = vec![
        sent(AT_ONCE, Says::Paid(FIRST_PAID)),
        sent(AT_ONCE, Says::ShopPaid { id: "msg_paid", order: "A-1" }),
    ];
    let lots = Says::Lots(vec![("lot_1", "A-1"), ("lot_2", "B-2"), ("lot_3", "")]);
    let told = |delivery| sent(AT_ONCE, Says::Told { id: "tell_1", delivery });
    vec![
        Shape::new("two vendors name the same action", two_vendors.clone(), 1).in_pairs(),
        Shape::new(
            "two vendors name the same action of a destination that promises nothing",
            two_vendors.clone(),
            1,
        )
        .promising(Promise::Nothing),
        Shape::new("two vendors name an action that is refused at first", two_vendors.clone(), 1)
            .tempered(Temper::RefusesFirst),
        Shape::new("two vendors name an action that acts unheard", two_vendors, 1)
            .tempered(Temper::ActsUnheard)
            .promising(Promise::Nothing),
        Shape {
            batch: 10,
            ..Shape::new("a batch with one event that lacks its key", vec![sent(AT_ONCE, lots.clone())], 2)
        }
        .in_pairs(),
        Shape { batch: 10, ..Shape::new("a batch whose first call panics", vec![sent(AT_ONCE, lots)], 2) }
            .tempered(Temper::PanicsBefore),
        Shape::new(
            "a secret handed over twice, and another one",
            vec![token("first"), token("first"), token("other")],
            0,
        ),
        // Longer than any round may last.
        once_and_again("its endpoint is paused for five days").paused(AT_ONCE, 5 * DAY),
        once_and_again("its endpoint is paused while its destination cannot be reached")
            .tempered(Temper::Unreachable(2))
            .paused(seconds(3), DAY / 2),
        once_and_again("its endpoint is paused after an effect that nobody heard of")
            .tempered(Temper::ActsUnheard)
            .paused(seconds(3), seconds(7_200)),
        Shape::new(
            "something told once, in three deliveries of their own",
            vec![told("d1"), told("d2"), told("d3")],
            1,
        ),
    ]
}

/// A vendor signals each change of a job; what is so, its API says.
fn signalled() -> Vec<Shape> {
    let signal = |at, id, n| sent(seconds(at), Says::Changed { id, n });
    let signals = vec![signal(0, "sig_1", 1), signal(10, "sig_2", 2), signal(60, "sig_3", 3)];
    let asked = |name, api| Shape { api, ..Shape::new(name, signals.clone(), 1) };
    let at_once = vec![signal(61, "sig_1", 1), signal(61, "sig_2", 2), signal(61, "sig_3", 3)];
    vec![
        asked("signals, and an API that says what is so", Outlook::Prompt),
        asked("an API that is behind its own signals", Outlook::Behind(seconds(40))),
        asked("an API that knows nothing of the job at first", Outlook::NotThere(2)),
        asked("an API that asks for patience", Outlook::Busy(2)),
        asked("an API that says nothing at first", Outlook::Silent(2)),
        asked("an API that is slow, and overtaken meanwhile", Outlook::Slow(seconds(4))),
        Shape { batch: 10, ..Shape::new("three signals of one job in one batch", at_once, 1) },
    ]
}

/// A vendor is called back once, however often it asks to be.
fn confirmed() -> Vec<Shape> {
    let asks = |at| sent(at, Says::Subscribes { id: "sub_1" });
    let asked = |name, temper| {
        Shape::new(name, vec![asks(AT_ONCE), asks(AT_ONCE), asks(DAY)], 1)
            .tempered(temper)
            .promising(Promise::Confirms)
    };
    vec![
        asked("a subscription that is confirmed by one call", Temper::Willing),
        asked("a confirmation that nobody hears of", Temper::ActsUnheard),
        asked("a confirmation that is silent and then refused", Temper::SilentThenRefuses),
        asked("a confirmation that is refused, until a human sends it again", Temper::RefusesFirst),
        asked("a confirmation that cannot be made twice", Temper::Unreachable(2)),
    ]
}

/// A human discards and erases, while vendors and workers go on.
fn unwanted() -> Vec<Shape> {
    let one_after_the_other = vec![
        sent(AT_ONCE, Says::Paid(FIRST_PAID)),
        sent(seconds(3_600), Says::ShopPaid { id: "msg_paid", order: "A-1" }),
    ];
    let other = Payment { amount: 9900, ..FIRST_PAID };
    let conflict = vec![sent(AT_ONCE, Says::Paid(FIRST_PAID)), sent(seconds(5), Says::Paid(other))];
    vec![
        once_and_again("it is erased, and comes again").erased(seconds(2)),
        once_and_again("it is erased after an effect that nobody heard of")
            .tempered(Temper::ActsUnheard)
            .promising(Promise::Nothing)
            .erased(seconds(60)),
        once_and_again("it is refused, discarded and erased")
            .tempered(Temper::RefusesFirst)
            .erased(seconds(60)),
        once_and_again("it cannot be reached for long, is discarded and erased")
            .tempered(Temper::Unreachable(12))
            .erased(seconds(60)),
        once_and_again("it is refused and discarded, and its letter is moved all the same")
            .tempered(Temper::RefusesFirst)
            .discarded(),
        Shape::new("two contents under one id, and both are erased", conflict, 1).erased(seconds(10)),
        Shape::new("the first of two vendors that name one action is erased", one_after_the_other.clone(), 1)
            .erased(seconds(60)),
        Shape::new("the first of two is refused, discarded and erased", one_after_the_other, 1)
            .tempered(Temper::RefusesFirst)
            .erased(seconds(60)),
    ]
}
