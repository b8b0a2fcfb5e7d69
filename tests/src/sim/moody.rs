//! The destination as it behaves in a shape: around the one that records and
//! acts, a temper.

use super::executor::{Slot, Spawner};
use super::shape::{Shape, Temper};
use crate::memory::{MemoryDestination, Script, VirtualClock};
use futures_util::future::{Either, select};
use sekali::ids::{ActionName, DestinationName};
use sekali::key::ResourceKey;
use sekali::ports::{Call, Destination, Found, Outcome, Probe};
use sekali::protocol::action::IdempotencyKey;
use sekali::time::UnixMillis;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A destination with a temper; clones are the same destination.
#[derive(Clone)]
pub struct Moody {
    yard: MemoryDestination,
    temper: Temper,
    clock: VirtualClock,
    spawner: Spawner,
    called: Arc<AtomicBool>,
}

impl Moody {
    /// The destination of a shape.
    pub fn of(shape: &Shape, clock: &VirtualClock, spawner: &Spawner) -> Self {
        let yard = match shape.promise.span() {
            Some(span) => MemoryDestination::honouring_keys_for(span, clock.clone()),
            None => MemoryDestination::new(clock.clone()),
        };
        for script in scripts(shape.temper) {
            yard.script(script);
        }
        if let Temper::AskedInVain(times) = shape.temper {
            yard.says_nothing(times);
        }
        let called = Arc::default();
        Self { yard, temper: shape.temper, clock: clock.clone(), spawner: spawner.clone(), called }
    }

    /// What reached it.
    pub fn yard(&self) -> &MemoryDestination {
        &self.yard
    }

    /// It goes on whether its caller listens or not, and acts when it is done.
    async fn slowly(&self, call: Call<'_>, span: Duration) -> Outcome {
        let answered = Slot::default();
        let (yard, sleep, slot) = (self.yard.clone(), self.clock.sleep(span), answered.clone());
        let owned = Owned::of(&call);
        self.spawner.spawn(async move {
            sleep.await;
            slot.fill(yard.call(owned.call()).await);
        });
        match select(answered.take(), pin!(self.clock.sleep(call.timeout))).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Outcome::unknown("no answer in time"),
        }
    }
}

impl Destination for Moody {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let first = !self.called.swap(true, Ordering::SeqCst);
        match self.temper {
            // A panic without the hook's report: it is meant.
            Temper::PanicsBefore if first => std::panic::resume_unwind(Box::new("before the effect")),
            Temper::PanicsAfter if first => {
                self.yard.call(call).await;
                std::panic::resume_unwind(Box::new("after the effect"))
            }
            // What it knows by its key it answers at once.
            Temper::Slow(span) if self.yard.effects_of(call.key) == 0 => self.slowly(call, span).await,
            _ => self.yard.call(call).await,
        }
    }

    async fn probe(&self, probe: Probe<'_>) -> Found {
        self.yard.probe(probe).await
    }
}

/// What the first calls meet.
fn scripts(temper: Temper) -> Vec<Script> {
    match temper {
        Temper::Willing | Temper::Slow(_) | Temper::PanicsBefore | Temper::PanicsAfter => Vec::new(),
        Temper::ActsUnheard | Temper::AskedInVain(_) => vec![Script::acts_and_is_not_heard()],
        Temper::SilentAtFirst => vec![Script::is_silent()],
        Temper::SilentThenRefuses => vec![Script::acts_and_is_not_heard(), Script::rejects()],
        Temper::RefusesFirst => vec![Script::rejects()],
        Temper::Unreachable(times) => (0..times).map(|_| Script::cannot_be_reached()).collect(),
    }
}

/// A call that outlives its caller.
struct Owned {
    destination: DestinationName,
    action: ActionName,
    key: IdempotencyKey,
    body: Vec<u8>,
    resource: Option<ResourceKey>,
    at: UnixMillis,
    attempt: u32,
    correlation: String,
    timeout: Duration,
}

impl Owned {
    fn of(call: &Call<'_>) -> Self {
        Self {
            destination: call.destination.clone(),
            action: call.action.clone(),
            key: call.key.clone(),
            body: call.body.to_vec(),
            resource: call.resource.cloned(),
            at: call.at,
            attempt: call.attempt,
            correlation: call.correlation.to_owned(),
            timeout: call.timeout,
        }
    }

    fn call(&self) -> Call<'_> {
        Call {
            destination: &self.destination,
            action: &self.action,
            key: &self.key,
            body: &self.body,
            resource: self.resource.as_ref(),
            at: self.at,
            attempt: self.attempt,
            correlation: &self.correlation,
            trace: None,
            timeout: self.timeout,
        }
    }
}
