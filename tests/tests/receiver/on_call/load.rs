//! A pause and its end while deliveries stream in and several processors work.

use super::Shift;
use anyhow::{Context, Result, ensure};
use futures_util::future::{join_all, try_join_all};
use sekali_cli::Ended::Well;
use sekali_tests::e2e::desk::ask;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::proxy::{Aim, Fault};
use sekali_tests::e2e::until::until;
use sekali_tests::e2e::vendors::{shop, unique};
use sekali_tests::e2e::worker::Worker;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::time::Duration;

/// Processes of each function that work at the same time.
const INGESTS: usize = 2;
const PROCESSORS: usize = 3;

/// Each ingest is sent a delivery so often.
const BETWEEN: Duration = Duration::from_millis(60);
/// Between two looks at a queue that was empty.
const IDLE: Duration = Duration::from_millis(50);

/// Deliveries of each part of the test, besides those that come while the
/// processors have not heard of the pause, or of its end.
const SOME: usize = 80;

/// So many of what waited the sweeper sends in one of its runs.
const PER_MINUTE: usize = 60;

/// Deliveries and processors that do not stand still.
struct Load<'a> {
    shift: &'a Shift,
    processors: Vec<Worker>,
    streaming: Cell<bool>,
    acknowledged: RefCell<Vec<(String, String)>>,
    /// Invocations that have ended, by processor.
    ended: [Cell<usize>; PROCESSORS],
}

impl Load<'_> {
    /// Sends deliveries, one after the other, as long as they are to stream.
    async fn ingest(&self) -> Result<Infallible> {
        let worker = self.shift.receiver.worker("ingest").await?;
        let mut ticks = tokio::time::interval(BETWEEN);
        loop {
            ticks.tick().await;
            if !self.streaming.get() {
                continue;
            }
            let (id, order) = (unique("msg"), unique("order"));
            let signed = self.shift.receiver.vendors.sign(shop("order.paid", &id, &order))?;
            let answer = self.shift.receiver.deliver(&worker, &signed).await?.context("it answers")?;
            ensure!(answer.status == 202, "pause or no pause, it is acknowledged: {answer:?}");
            self.acknowledged.borrow_mut().push((id, order));
        }
    }

    async fn process(&self, place: usize) -> Result<Infallible> {
        let mut ticks = tokio::time::interval(IDLE);
        loop {
            let messages = self.shift.receiver.hand_over(&self.processors[place]).await?;
            self.ended[place].set(self.ended[place].get() + 1);
            if messages == 0 {
                ticks.tick().await;
            }
        }
    }

    async fn acknowledged(&self, number: usize) -> Result<()> {
        until(format_args!("{number} deliveries"), async || {
            Ok((self.acknowledged.borrow().len() >= number).then_some(()))
        })
        .await
    }

    /// Until every processor has read the pauses once more, which it does every
    /// ten seconds, and has ended whatever it had begun before that.
    async fn heard(&self) -> Result<()> {
        let gates = self.processors.iter().map(|worker| {
            let gate = Gate::shut();
            let reading = Aim::any().at("GetItem").naming("\"pauses\"").times(1);
            worker.proxy.plan(reading, Fault::HeldAfter(gate.clone()));
            gate
        });
        let gates: Vec<Gate> = gates.collect();
        join_all(gates.iter().map(|gate| async {
            gate.reached().await;
            gate.open();
        }))
        .await;
        let before = self.ended.each_ref().map(Cell::get);
        until("what was begun before", async || {
            Ok(self.ended.iter().zip(before).all(|(ended, before)| ended.get() > before).then_some(()))
        })
        .await
    }

    async fn queue_is_empty(&self) -> Result<()> {
        let kept = &self.shift.receiver.kept;
        until("an empty queue", async || Ok((kept.aws.depth(&kept.queue).await? == (0, 0)).then_some(())))
            .await
    }

    fn acts(&self) -> usize {
        self.shift.receiver.destination.all().iter().filter(|call| call.acted).count()
    }

    /// A pause amid the stream, its end, and all that waited.
    async fn paused_and_resumed(&self) -> Result<()> {
        let (desk, receiver) = (&self.shift.desk, &self.shift.receiver);
        self.acknowledged(SOME).await?;
        ask(desk, &["pause", "shop", "--reason", "packing is down"], Well).await?;
        self.heard().await?;
        let (known, begun) = (self.acknowledged.borrow().len(), receiver.destination.all().len());
        self.acknowledged(known + SOME).await?;
        self.streaming.set(false);
        self.queue_is_empty().await?;
        ensure!(receiver.destination.all().len() == begun, "an effect began in the pause");
        ensure!(self.acts() >= 1 && begun < known, "the pause came amid the stream");

        ask(desk, &["resume", "shop", "--per-minute", &PER_MINUTE.to_string()], Well).await?;
        self.streaming.set(true);
        self.heard().await?;
        let known = self.acknowledged.borrow().len();
        self.acknowledged(known + SOME).await?;
        self.streaming.set(false);
        self.queue_is_empty().await?;
        self.drained().await
    }

    /// What waited goes at its rate: so many in a run of the sweeper, which
    /// comes once a minute.
    async fn drained(&self) -> Result<()> {
        let receiver = &self.shift.receiver;
        // A new process knows the rate.
        let sweeper = receiver.worker("sweeper").await?;
        let all = self.acknowledged.borrow().len();
        let waiting = all - self.acts();
        ensure!(waiting > PER_MINUTE, "only {waiting} waited");
        for _ in 0..=all / PER_MINUTE {
            let before = self.acts();
            if before == all {
                break;
            }
            receiver.kept.pass_for_all_open(Duration::from_secs(3_600)).await?;
            receiver.sweep(&sweeper).await?;
            self.queue_is_empty().await?;
            ensure!(self.acts() - before <= PER_MINUTE, "{} in one run of the sweeper", self.acts() - before);
        }
        Ok(())
    }
}

// INV-1, INV-2
#[tokio::test]
async fn a_pause_under_load_begins_nothing_refuses_nothing_and_drains_to_one_effect_each() -> Result<()> {
    let shift = Shift::begin().await?;
    let load = Load {
        shift: &shift,
        processors: try_join_all((0..PROCESSORS).map(|_| shift.receiver.worker("processor"))).await?,
        streaming: Cell::new(true),
        acknowledged: RefCell::default(),
        ended: Default::default(),
    };
    let ingests = try_join_all((0..INGESTS).map(|_| load.ingest()));
    let processors = try_join_all((0..PROCESSORS).map(|place| load.process(place)));
    tokio::select! {
        ended = load.paused_and_resumed() => ended?,
        failed = ingests => drop(failed?),
        failed = processors => drop(failed?),
    }
    for (id, order) in load.acknowledged.take() {
        let event = shift.receiver.kept.event("shop", &id).await?.context("it is stored")?;
        ensure!(event.status() == "processed", "{event:?}");
        let calls = shift.receiver.destination.calls(&order);
        ensure!(calls.len() == 1 && calls[0].acted, "{order}: {} calls", calls.len());
    }
    Ok(())
}
