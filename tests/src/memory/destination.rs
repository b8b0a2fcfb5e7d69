//! A destination in memory: it records every call, acts or does not, and then
//! answers whatever the test scripted.

use super::clock::VirtualClock;
use super::lock;
use sekali::ids::DestinationName;
use sekali::ports::{Call, Destination, Found, Outcome, Probe};
use sekali::protocol::action::{EffectResult, IdempotencyKey};
use sekali::time::{Clock, UnixMillis};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the destination does with one call. The two need not agree: a
/// destination can act and then answer anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Whether the effect happens.
    pub acts: bool,
    /// What the caller is told.
    pub answer: Outcome,
}

impl Script {
    /// It happens and nobody hears of it.
    pub fn acts_and_is_not_heard() -> Self {
        Self { acts: true, answer: Outcome::unknown("the answer was lost") }
    }

    /// Nothing happens and nobody hears of it.
    pub fn is_silent() -> Self {
        Self { acts: false, answer: Outcome::unknown("no answer") }
    }

    /// Nothing happens, for certain and for good.
    pub fn rejects() -> Self {
        Self { acts: false, answer: Outcome::Rejected { cause: "422".to_owned(), decisive: false } }
    }

    /// Nothing happens, for certain and for now.
    pub fn cannot_be_reached() -> Self {
        let cause = "connection refused".to_owned();
        Self { acts: false, answer: Outcome::NotStarted { cause, not_before: None, decisive: false } }
    }

    /// The same, and the destination declares its answer decisive: certain
    /// even after a call that ended unknown.
    #[must_use]
    pub fn decisively(mut self) -> Self {
        match &mut self.answer {
            Outcome::Rejected { decisive, .. } | Outcome::NotStarted { decisive, .. } => *decisive = true,
            Outcome::Done(_) | Outcome::Unknown { .. } => {}
        }
        self
    }
}

/// One call as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// Where it went.
    pub destination: DestinationName,
    /// Its idempotency key.
    pub key: IdempotencyKey,
    /// Its bytes.
    pub body: Vec<u8>,
    /// Its number, as the caller counts.
    pub attempt: u32,
    /// From the request to the effect.
    pub correlation: String,
    /// When it arrived, by the true clock.
    pub at: UnixMillis,
    /// Whether an effect happened.
    pub acted: bool,
    /// What was answered.
    pub answer: Outcome,
}

/// A handle to the destinations; clones share them.
#[derive(Debug, Clone)]
pub struct MemoryDestination {
    yard: Arc<Mutex<Yard>>,
    clock: VirtualClock,
}

#[derive(Debug, Default)]
struct Yard {
    calls: Vec<CallRecord>,
    scripts: VecDeque<Script>,
    says_nothing: u32,
    probes: Vec<(IdempotencyKey, Found)>,
    honours_key_for: Option<Duration>,
}

impl MemoryDestination {
    /// Destinations that act on every call and say so. They do not know the key.
    pub fn new(clock: VirtualClock) -> Self {
        Self { yard: Arc::default(), clock }
    }

    /// Destinations that recognise a repeated key for that long, counted from
    /// the effect: they answer as at first and do not act again.
    pub fn honouring_keys_for(span: Duration, clock: VirtualClock) -> Self {
        let yard = Yard { honours_key_for: Some(span), ..Yard::default() };
        Self { yard: Arc::new(Mutex::new(yard)), clock }
    }

    /// What happens with the next call that has no script yet.
    pub fn script(&self, script: Script) {
        lock(&self.yard).scripts.push_back(script);
    }

    /// The next so many questions are answered without saying anything.
    pub fn says_nothing(&self, times: u32) {
        lock(&self.yard).says_nothing = times;
    }

    /// What it said to each question so far, in order.
    pub fn probes(&self) -> Vec<(IdempotencyKey, Found)> {
        lock(&self.yard).probes.clone()
    }

    /// Every call so far, in order.
    pub fn calls(&self) -> Vec<CallRecord> {
        lock(&self.yard).calls.clone()
    }

    /// How often an effect happened under this key.
    pub fn effects_of(&self, key: &IdempotencyKey) -> usize {
        lock(&self.yard).calls.iter().filter(|call| call.acted && call.key == *key).count()
    }

    /// How many effects happened.
    pub fn effects(&self) -> usize {
        lock(&self.yard).calls.iter().filter(|call| call.acted).count()
    }
}

impl Yard {
    /// The effect under this key that the destination still remembers.
    fn remembered(&self, key: &IdempotencyKey, now: UnixMillis) -> Option<&CallRecord> {
        let span = self.honours_key_for?;
        self.calls.iter().rev().find(|call| call.acted && call.key == *key && now.since(call.at) <= span)
    }

    fn next_effect(&self) -> EffectResult {
        EffectResult(format!("effect-{}", self.calls.iter().filter(|call| call.acted).count() + 1))
    }
}

impl Destination for MemoryDestination {
    async fn call(&self, call: Call<'_>) -> Outcome {
        let now = self.clock.now();
        let mut yard = lock(&self.yard);
        let script = yard.scripts.pop_front();
        let remembered = yard.remembered(call.key, now).map(|first| match &first.answer {
            Outcome::Done(result) => result.clone(),
            _ => EffectResult("the effect under this key".to_owned()),
        });
        let acts = script.as_ref().is_none_or(|script| script.acts) && remembered.is_none();
        let done = remembered.unwrap_or_else(|| yard.next_effect());
        let answer = script.map_or(Outcome::Done(done), |script| script.answer);
        yard.calls.push(CallRecord {
            destination: call.destination.clone(),
            key: call.key.clone(),
            body: call.body.to_vec(),
            attempt: call.attempt,
            correlation: call.correlation.to_owned(),
            at: now,
            acted: acts,
            answer: answer.clone(),
        });
        answer
    }

    /// What it knows is the truth of this moment.
    async fn probe(&self, probe: Probe<'_>) -> Found {
        let mut yard = lock(&self.yard);
        let acted = yard.calls.iter().any(|call| call.acted && call.key == *probe.key);
        let found = match (yard.says_nothing.checked_sub(1), acted) {
            (Some(left), _) => {
                yard.says_nothing = left;
                Found::Unknown("503".to_owned())
            }
            (None, true) => Found::Done(EffectResult("the effect under this key".to_owned())),
            (None, false) => Found::NotDone("404".to_owned()),
        };
        yard.probes.push((probe.key.clone(), found.clone()));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use sekali::ids::Generation;
    use sekali::key::ActionKey;

    const DAY: Duration = Duration::from_secs(86_400);

    fn call(destination: &MemoryDestination) -> Outcome {
        let key = key();
        let call = Call {
            destination: &DestinationName::from("packing"),
            action: &"pack".into(),
            key: &key,
            body: b"{}",
            resource: None,
            at: UnixMillis(0),
            attempt: 1,
            correlation: "c",
            trace: None,
            timeout: Duration::from_secs(1),
        };
        destination.call(call).now_or_never().unwrap()
    }

    fn key() -> IdempotencyKey {
        IdempotencyKey::of(&ActionKey::from_stored("action|4:pack"), Generation::FIRST)
    }

    fn clock() -> VirtualClock {
        VirtualClock::at(UnixMillis(0))
    }

    #[test]
    fn an_unscripted_call_acts_each_time_it_is_made() {
        let destination = MemoryDestination::new(clock());
        assert_ne!(call(&destination), call(&destination));
        assert_eq!(destination.effects_of(&key()), 2);
    }

    #[test]
    fn a_destination_can_act_and_answer_otherwise() {
        let destination = MemoryDestination::new(clock());
        destination.script(Script { acts: true, ..Script::rejects().decisively() });
        destination.script(Script::cannot_be_reached());
        assert!(matches!(call(&destination), Outcome::Rejected { decisive: true, .. }));
        assert!(matches!(call(&destination), Outcome::NotStarted { decisive: false, .. }));
        assert_eq!((destination.effects(), destination.calls().len()), (1, 2));
    }

    #[test]
    fn a_key_is_honoured_for_as_long_as_promised_and_no_longer() {
        let clock = clock();
        let destination = MemoryDestination::honouring_keys_for(DAY, clock.clone());
        let first = call(&destination);
        clock.advance(DAY);
        assert_eq!(call(&destination), first);
        assert_eq!(destination.effects(), 1);
        clock.advance(Duration::from_millis(1));
        call(&destination);
        assert_eq!(destination.effects(), 2);
    }

    #[test]
    fn a_destination_that_is_asked_says_what_is_true_by_then() {
        let destination = MemoryDestination::new(clock());
        let (name, key) = ("packing".into(), key());
        let ask = || {
            let probe = Probe { destination: &name, key: &key, at: UnixMillis(0), timeout: DAY };
            destination.probe(probe).now_or_never().unwrap()
        };
        destination.says_nothing(1);
        assert!(matches!((ask(), ask()), (Found::Unknown(_), Found::NotDone(_))));
        destination.script(Script::acts_and_is_not_heard());
        call(&destination);
        assert!(matches!(ask(), Found::Done(_)));
    }

    #[test]
    fn an_effect_nobody_heard_of_is_not_repeated_under_an_honoured_key() {
        let destination = MemoryDestination::honouring_keys_for(DAY, clock());
        destination.script(Script::acts_and_is_not_heard());
        call(&destination);
        assert!(matches!(call(&destination), Outcome::Done(_)));
        assert_eq!(destination.effects_of(&key()), 1);
    }
}
