//! What a process can do wrong. Each is a mistake that receivers have made; a
//! simulation that does not notice one of them proves nothing.

use super::seat::{Desk, Seat};
use super::setup::Edition;
use crate::memory::{MemoryStore, SeededEntropy, VirtualClock};
use sekali::ids::{CorrelationId, Generation, OwnerNonce, PutNonce};
use sekali::key::{ActionKey, EventHash, EventKey};
use sekali::payload::Payload;
use sekali::ports::{Call, Entropy, Outcome, Store, StoreError, Write};
use sekali::protocol::action::{ActionGuard, EffectResult, IdempotencyKey};
use sekali::protocol::transition::{ActionWrite, Transition};
use sekali::time::{Clock, ExpiresAt, Monotonic, UnixMillis};
use std::time::Duration;

const THRICE: &str = "a payment delivered three times";

/// A mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutant {
    /// The delivery is acknowledged before its payload is durable.
    AcknowledgesBeforeThePut,
    /// A repeated delivery gives a kept payload a TTL again.
    RestoresATtl,
    /// What needs a human keeps its payload's TTL.
    NeverKeepsAPayload,
    /// The items of a transaction are written one after the other.
    SplitsTransactions,
    /// The outcome is written whoever holds the action by now.
    CompletesWithoutCondition,
    /// The sweeper sends and does not write down that it did.
    SweepsWithoutWriting,
    /// Nobody looks again at what was left open.
    NeverSweeps,
    /// The clock is read once, when the invocation begins.
    ReadsTheClockOnce,
    /// Every claim has the same owner.
    DrawsOneOwner,
    /// Each attempt has an idempotency key of its own.
    KeysByAttempt,
    /// Each attempt sends its own bytes.
    SendsItsAttempt,
    /// No answer is taken for no effect.
    TakesSilenceForNo,
    /// No answer is taken for an effect.
    TakesSilenceForYes,
    /// Every message of a batch is deleted, whatever became of it.
    DeletesTheWholeBatch,
    /// An event is told apart by the id of its delivery.
    ToldApartByDelivery,
    /// What has not happened by now is taken for what never will.
    TakesNotYetForNever,
    /// Content is erased without asking whether somebody still needs it.
    ErasesWhatIsOpen,
}

impl Mutant {
    /// Every mistake, the promise that it breaks, and a shape that shows it.
    pub const ALL: [(Self, &'static str, &'static str); 17] = [
        (Self::AcknowledgesBeforeThePut, "INV-1", THRICE),
        (Self::RestoresATtl, "INV-9", "acts unheard and promises nothing"),
        (Self::NeverKeepsAPayload, "INV-9", "acts unheard and promises nothing"),
        (Self::SplitsTransactions, "INV-2", THRICE),
        (Self::CompletesWithoutCondition, "INV-3", THRICE),
        (Self::SweepsWithoutWriting, "INV-8", "a delivery that died half way and comes again after two days"),
        (Self::NeverSweeps, "INV-1", THRICE),
        (Self::ReadsTheClockOnce, "INV-2", THRICE),
        (Self::DrawsOneOwner, "INV-2", THRICE),
        (Self::KeysByAttempt, "INV-2", "acts on a call that nobody hears of"),
        (Self::SendsItsAttempt, "INV-2", "acts on a call that nobody hears of"),
        (Self::TakesSilenceForNo, "INV-6", "acts unheard and promises nothing"),
        (Self::TakesSilenceForYes, "INV-6", THRICE),
        (Self::DeletesTheWholeBatch, "INV-1", "refuses, until a human sends it again"),
        (Self::ToldApartByDelivery, "INV-2", "something told once, in three deliveries of their own"),
        (Self::TakesNotYetForNever, "INV-2", "acts after its caller has gone and can be asked"),
        (Self::ErasesWhatIsOpen, "INV-9", "it is erased after an effect that nobody heard of"),
    ];

    /// The edition of the configuration that it runs under.
    pub fn edition(self) -> Option<Edition> {
        match self {
            Self::ToldApartByDelivery => Some(Edition::ByDelivery),
            Self::TakesNotYetForNever => Some(Edition::NoSettling),
            _ => None,
        }
    }

    pub(super) async fn put_payload(
        self,
        seat: &Seat<MemoryStore>,
        (key, hash): (&EventKey, &EventHash),
        payload: &Payload,
        expires: ExpiresAt,
    ) -> Result<(), StoreError> {
        match self {
            Self::AcknowledgesBeforeThePut => {
                let (port, key, hash, payload) =
                    (seat.port.clone(), key.clone(), hash.clone(), payload.clone());
                seat.desk.spawner.spawn(async move {
                    // Nobody waits for it, and nobody hears how it ends.
                    let _unheard = port.put_payload(&key, &hash, &payload, expires).await;
                });
                Ok(())
            }
            Self::RestoresATtl => {
                let put = seat.port.put_payload(key, hash, payload, expires).await;
                seat.port.inner().tamper(|tables| {
                    tables.expire_payload(key, hash, Generation::from_stored(u64::MAX), expires);
                });
                put
            }
            _ => seat.port.put_payload(key, hash, payload, expires).await,
        }
    }

    pub(super) async fn write(
        self,
        seat: &Seat<MemoryStore>,
        transition: &Transition,
    ) -> Result<Write, StoreError> {
        match self {
            Self::SplitsTransactions => split(seat, transition).await,
            Self::CompletesWithoutCondition => {
                let bent = seat.port.inner().look(|tables| {
                    let mut bent = transition.clone();
                    if let Some(ActionWrite::Put { from: from @ ActionGuard::Held { .. }, to }) =
                        &mut bent.action
                        && let Some(stored) = tables.action(&to.key)
                    {
                        *from = stored.as_read();
                    }
                    bent
                });
                seat.port.write(&bent).await
            }
            Self::SweepsWithoutWriting if only_counts(seat, transition) => Ok(Write::Applied),
            _ => seat.port.write(transition).await,
        }
    }

    pub(super) fn bend(self, call: Call<'_>) -> Bent<'_> {
        let mut bent = Bent::from(call);
        match self {
            Self::KeysByAttempt => {
                let key = ActionKey::from_stored(bent.call.key.as_str());
                bent.key = Some(IdempotencyKey::of(&key, Generation::from_stored(bent.call.attempt.into())));
            }
            Self::SendsItsAttempt => {
                let attempt = format!(",\"attempt\":{}}}", bent.call.attempt);
                let body = bent.call.body.strip_suffix(b"}").unwrap_or_default();
                bent.body = Some([body, attempt.as_bytes()].concat());
            }
            _ => {}
        }
        bent
    }

    pub(super) fn hears(self, outcome: Outcome) -> Outcome {
        match (self, outcome) {
            (Self::TakesSilenceForNo, Outcome::Unknown { cause, .. }) => {
                Outcome::NotStarted { cause, not_before: None, decisive: false }
            }
            (Self::TakesSilenceForYes, Outcome::Unknown { cause, .. }) => Outcome::Done(EffectResult(cause)),
            (_, outcome) => outcome,
        }
    }
}

/// Whether the sweeper only writes down that it was here.
fn only_counts(seat: &Seat<MemoryStore>, transition: &Transition) -> bool {
    let counts = transition.event.as_ref().is_some_and(|write| write.from.status == write.to.status);
    counts && transition.action.is_none() && seat.desk.name.starts_with("sweeper")
}

async fn split(seat: &Seat<MemoryStore>, transition: &Transition) -> Result<Write, StoreError> {
    let nothing = Transition::default();
    let parts = [
        Transition { resource: transition.resource.clone(), ..nothing.clone() },
        Transition { event: transition.event.clone(), ..nothing.clone() },
        Transition { action: transition.action.clone(), ..nothing.clone() },
    ];
    let mut end = Write::Applied;
    for part in parts.iter().filter(|part| **part != nothing) {
        if seat.port.write(part).await? == Write::Refused {
            end = Write::Refused;
        }
    }
    Ok(end)
}

/// A call as a process makes it, mistakes included.
pub(super) struct Bent<'a> {
    call: Call<'a>,
    key: Option<IdempotencyKey>,
    body: Option<Vec<u8>>,
}

impl<'a> From<Call<'a>> for Bent<'a> {
    fn from(call: Call<'a>) -> Self {
        Self { call, key: None, body: None }
    }
}

impl Bent<'_> {
    pub(super) fn as_call(&self) -> Call<'_> {
        Call {
            key: self.key.as_ref().unwrap_or(self.call.key),
            body: self.body.as_deref().unwrap_or(self.call.body),
            ..self.call.clone()
        }
    }
}

/// A process's clock.
#[derive(Clone)]
pub struct Watchmaker {
    clock: VirtualClock,
    stopped: Option<(UnixMillis, Monotonic)>,
}

impl Watchmaker {
    /// The clock of this process.
    pub fn of(clock: VirtualClock, desk: &Desk) -> Self {
        let stopped = desk.mutant == Some(Mutant::ReadsTheClockOnce);
        let stopped = stopped.then(|| (clock.now(), clock.monotonic()));
        Self { clock, stopped }
    }
}

impl Clock for Watchmaker {
    fn now(&self) -> UnixMillis {
        self.stopped.map_or_else(|| self.clock.now(), |(now, _)| now)
    }

    fn monotonic(&self) -> Monotonic {
        self.stopped.map_or_else(|| self.clock.monotonic(), |(_, monotonic)| monotonic)
    }
}

/// A process's randomness.
#[derive(Clone)]
pub struct Dice {
    dice: SeededEntropy,
    one_owner: bool,
}

impl Dice {
    /// The randomness of this process.
    pub fn of(dice: SeededEntropy, desk: &Desk) -> Self {
        Self { dice, one_owner: desk.mutant == Some(Mutant::DrawsOneOwner) }
    }
}

impl Entropy for Dice {
    fn owner(&self) -> OwnerNonce {
        if self.one_owner { OwnerNonce::new("owner") } else { self.dice.owner() }
    }

    fn put(&self) -> PutNonce {
        self.dice.put()
    }

    fn correlation(&self) -> CorrelationId {
        self.dice.correlation()
    }

    fn below(&self, ceiling: Duration) -> Duration {
        self.dice.below(ceiling)
    }
}
