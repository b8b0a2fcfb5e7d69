//! Plays a storm: vendors send, functions work and die, messages come round.

use super::dice::Dice;
use super::plan::{Plan, Sent};
use super::watch::Watch;
use crate::e2e::driven::Driven;
use crate::e2e::gate::Gate;
use crate::e2e::proxy::{Aim, Fault};
use crate::e2e::worker::Worker;
use anyhow::{Result, bail};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// Processes of each function that work at the same time.
const INGESTS: u64 = 3;
const PROCESSORS: u64 = 4;

/// Between two looks at a queue that was empty.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two looks at all that is stored, and how many times as long as the
/// last look took: what is watched must not stand still for it.
const WATCH: Duration = Duration::from_secs(2);
const WATCH_RATIO: u128 = 8;

/// How often a vendor sends a delivery again that was not answered 2xx.
const RETRIES: usize = 20;

/// What happened so far.
#[derive(Debug, Default)]
pub struct Played {
    /// Deliveries that were sent, repeats and retries included.
    pub deliveries: usize,
    /// Events of which a delivery was answered 2xx.
    pub acknowledged: BTreeSet<usize>,
    /// Forged deliveries that were not refused.
    pub believed: usize,
    /// Processes that were killed.
    pub killed: usize,
}

/// The vendors' side of a storm.
struct Vendors<'a> {
    driven: &'a Driven,
    waiting: RefCell<VecDeque<(&'a Sent, usize)>>,
    under_way: Cell<usize>,
    played: RefCell<Played>,
    dice: Dice,
}

/// A process, and the call over which it will be killed.
struct Mortal {
    worker: Worker,
    end: Gate,
}

impl Mortal {
    /// A process that is killed at a call drawn now, and that AWS treats badly
    /// at a few others.
    async fn born(driven: &Driven, function: &str, dice: &mut Dice, life: usize) -> Result<Self> {
        let (worker, end) = (driven.worker(function).await?, Gate::shut());
        let call = life / 4 + dice.below(life);
        let fault =
            if dice.percent(50) { Fault::HeldBefore(end.clone()) } else { Fault::HeldAfter(end.clone()) };
        worker.proxy.plan(Aim::any().number(call), fault);
        for _ in 0..life / 40 {
            let fault = match dice.below(4) {
                0 => Fault::AnswerLost,
                1 => Fault::Unreachable,
                2 => Fault::Says(500, "InternalServerError"),
                _ => Fault::Says(400, "ThrottlingException"),
            };
            worker.proxy.plan(Aim::any().number(dice.below(life)), fault);
        }
        let conflict = Aim::any().at("TransactWriteItems").nth(dice.below(40));
        worker.proxy.plan(conflict, Fault::Cancelled("TransactionConflict"));
        Ok(Self { worker, end })
    }

    /// Does `work`, and is killed over it if its call comes. `None`: it was,
    /// and what it was doing has ended with it.
    async fn live<T>(&self, work: impl Future<Output = Result<T>>) -> Result<Option<T>> {
        self.worker.killed_at(&self.end, work).await
    }
}

/// Plays the deliveries of `plan` and watches, until all are answered and the
/// queue is empty.
///
/// # Errors
/// A function failed, which it never may, or the emulator is gone.
pub async fn play(driven: &Driven, plan: &Plan, dice: &Dice, watch: &mut Watch) -> Result<Played> {
    for (naming, manners) in &plan.manners {
        driven.destination.tell(naming.as_str(), manners.iter().cloned());
    }
    let vendors = Vendors {
        driven,
        waiting: RefCell::new(plan.deliveries.iter().map(|sent| (sent, 0)).collect()),
        under_way: Cell::new(0),
        played: RefCell::default(),
        dice: dice.clone(),
    };
    let ingests = futures_util::future::try_join_all((0..INGESTS).map(|seat| vendors.ingest(seat)));
    let processors = futures_util::future::try_join_all((0..PROCESSORS).map(|seat| vendors.processor(seat)));
    let work = async { tokio::try_join!(ingests, processors) };
    tokio::select! {
        ended = work => drop(ended?),
        failed = keep_watching(driven, watch) => drop(failed?),
    }
    watch.look(&driven.kept, driven.vendors.config()).await?;
    Ok(vendors.played.take())
}

/// Looks at everything again and again.
async fn keep_watching(driven: &Driven, watch: &mut Watch) -> Result<Infallible> {
    let mut ticks = tokio::time::interval(WATCH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let before = SystemClock.monotonic();
        watch.look(&driven.kept, driven.vendors.config()).await?;
        let took = SystemClock.monotonic().0.saturating_sub(before.0);
        for _ in 0..=took.as_millis() * WATCH_RATIO / WATCH.as_millis() {
            ticks.tick().await;
        }
    }
}

impl<'a> Vendors<'a> {
    /// One seat of ingest: a delivery after the other, and a new process for
    /// one that was killed.
    async fn ingest(&self, seat: u64) -> Result<()> {
        let mut dice = self.dice.part(100 + seat);
        let mut mortal = Mortal::born(self.driven, "ingest", &mut dice, 250).await?;
        let mut ticks = tokio::time::interval(PAUSE);
        loop {
            let next = self.waiting.borrow_mut().pop_front();
            let Some((sent, tries)) = next else {
                if self.under_way.get() == 0 {
                    return Ok(());
                }
                ticks.tick().await;
                continue;
            };
            self.under_way.set(self.under_way.get() + 1);
            let answered = self.deliver(&mortal, sent).await?;
            self.under_way.set(self.under_way.get() - 1);
            self.note(sent, tries, answered)?;
            if answered.is_none() {
                self.played.borrow_mut().killed += 1;
                mortal = Mortal::born(self.driven, "ingest", &mut dice, 250).await?;
            }
        }
    }

    async fn deliver(&self, ingest: &Mortal, sent: &Sent) -> Result<Option<u16>> {
        let signed = self.driven.vendors.sign(sent.delivery.clone())?;
        let signed = if sent.event.is_none() { signed.forged() } else { signed };
        let answer = ingest.live(self.driven.deliver(&ingest.worker, &signed)).await?;
        Ok(answer.flatten().map(|answer| answer.status))
    }

    /// What a vendor does with an answer: anything but a 2xx is sent again.
    fn note(&self, sent: &'a Sent, tries: usize, answered: Option<u16>) -> Result<()> {
        let mut played = self.played.borrow_mut();
        played.deliveries += 1;
        match (sent.event, answered) {
            (Some(event), Some(200 | 202)) => {
                played.acknowledged.insert(event);
            }
            (None, Some(401)) => {}
            (None, Some(200 | 202)) => played.believed += 1,
            (_, Some(503) | None) if tries < RETRIES => {
                self.waiting.borrow_mut().push_back((sent, tries + 1));
            }
            (_, answered) => bail!("{:?} was answered {answered:?}", sent.delivery),
        }
        Ok(())
    }

    /// One seat of the processor, as long as vendors send or messages wait.
    async fn processor(&self, seat: u64) -> Result<()> {
        let mut dice = self.dice.part(200 + seat);
        let mut mortal = Mortal::born(self.driven, "processor", &mut dice, 600).await?;
        let mut ticks = tokio::time::interval(PAUSE);
        loop {
            match mortal.live(self.driven.hand_over(&mortal.worker)).await? {
                Some(0) if self.waiting.borrow().is_empty() && self.under_way.get() == 0 => return Ok(()),
                Some(0) => drop(ticks.tick().await),
                Some(_) => {}
                None => {
                    self.played.borrow_mut().killed += 1;
                    mortal = Mortal::born(self.driven, "processor", &mut dice, 600).await?;
                }
            }
        }
    }
}
