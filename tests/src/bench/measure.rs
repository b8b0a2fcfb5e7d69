//! Measuring one subject: several starts, then many events.

use super::figures::{Figures, Starts, as_float, millis, per_event, quantile};
use super::process::Running;
use super::quota::Quota;
use super::subject::{Ground, Kind, Subject};
use anyhow::{Context, Result, bail, ensure};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Starts of each subject.
    pub starts: usize,
    /// Events that only warm it.
    pub warming: usize,
    /// Events that count.
    pub events: usize,
}

impl Plan {
    /// For figures.
    pub const FULL: Self = Self { starts: 10, warming: 50, events: 500 };
    /// For counts alone.
    pub const QUICK: Self = Self { starts: 1, warming: 1, events: 3 };

    fn all(self) -> usize {
        self.starts + self.warming + self.events
    }
}

/// Measures a subject. A processor is handed what `ingest` sends meanwhile.
///
/// # Errors
/// It does not do its work.
pub async fn measure(ground: &Ground, subject: &Subject, ingest: &Subject, plan: Plan) -> Result<Figures> {
    let mut events = match subject.kind {
        Kind::Receiver => (0..plan.all()).map(|_| ground.delivery(0)).collect::<Result<Vec<_>>>()?,
        Kind::Processor => messages(ground, ingest, plan.all()).await?,
    }
    .into_iter();
    let mut next = || events.next().context("too few events");
    let (mut inits, mut cpus, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..plan.starts {
        // The one before ends first: two of them would share the machine.
        drop(last.take());
        let mut running = Running::start(&subject.program).await?;
        inits.push(running.ready().await.with_context(|| format!("{} did not start", subject.name))?);
        cpus.push(running.cpu()?);
        firsts.push(invoke(subject, &running, &next()?).await?);
        last = Some(running);
    }
    let running = last.context("no start was planned")?;
    for _ in 0..plan.warming {
        invoke(subject, &running, &next()?).await?;
    }
    let (bill, cpu) = (ground.metered.bill(), running.cpu()?);
    let mut walls = Vec::new();
    for _ in 0..plan.events {
        walls.push(invoke(subject, &running, &next()?).await?);
    }
    let cpu = running.cpu()?.saturating_sub(cpu);
    let (calls_per_event, write_units_per_event) = per_event(&(ground.metered.bill() - bill), plan.events);
    walls.sort();
    Ok(Figures {
        init_ms: Starts::of(inits),
        init_cpu_ms: Starts::of(cpus),
        first_ms: Starts::of(firsts),
        cpu_per_event_ms: millis(cpu) / as_float(u64::try_from(plan.events.max(1))?),
        wall_p50_ms: millis(quantile(&walls, 0.5)),
        wall_p99_ms: millis(quantile(&walls, 0.99)),
        memory_mib: as_float(running.peak_memory()?) / 1_024.0,
        calls_per_event,
        write_units_per_event,
        events: plan.events,
    })
}

async fn invoke(subject: &Subject, running: &Running, event: &Value) -> Result<Duration> {
    let (answer, took) =
        running.invoke(event).await.with_context(|| format!("{} was invoked", subject.name))?;
    subject.kind.check(&answer).with_context(|| subject.name.clone())?;
    Ok(took)
}

async fn messages(ground: &Ground, ingest: &Subject, count: usize) -> Result<Vec<Value>> {
    ground.metered.take_sent();
    let mut running = Running::start(&ingest.program).await?;
    running.ready().await?;
    for _ in 0..count {
        invoke(ingest, &running, &ground.delivery(0)?).await?;
    }
    let batches = ground.batches();
    ensure!(!batches.is_empty(), "no message was sent");
    Ok(batches)
}

/// A cold start with a small share of a processor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Slow {
    /// The function's memory.
    pub megabytes: f64,
    /// From its start to the answer of its first delivery, with the share from
    /// the first moment, in milliseconds.
    pub all_slow_ms: Starts,
    /// The same with a whole processor until it asks for its first event, as
    /// Lambda gives it.
    pub slow_after_init_ms: Starts,
}

/// Measures cold starts at the share of a function with this much memory.
///
/// # Errors
/// This machine gives no share, or the subject does not do its work.
pub async fn slowly(ground: &Ground, subject: &Subject, megabytes: f64, starts: usize) -> Result<Slow> {
    let quota = Quota::of_memory(megabytes)?;
    let mut taken = [Vec::new(), Vec::new()];
    for (after_init, taken) in taken.iter_mut().enumerate() {
        for _ in 0..starts {
            let event = ground.delivery(0)?;
            let mut running = Running::start(&subject.program).await?;
            if after_init == 0 {
                running.slow_down(&quota)?;
            }
            let init = running.ready().await?;
            if after_init == 1 {
                running.slow_down(&quota)?;
            }
            taken.push(init + invoke(subject, &running, &event).await?);
        }
    }
    let [all, after] = taken;
    Ok(Slow { megabytes, all_slow_ms: Starts::of(all), slow_after_init_ms: Starts::of(after) })
}

/// How many deliveries a second so many processes take together, each one at a
/// time, as Lambda does.
///
/// # Errors
/// The subject does not do its work.
pub async fn throughput(ground: &Ground, subject: &Subject, processes: usize, each: usize) -> Result<f64> {
    let lanes = lanes(ground, &[subject], processes, each).await?;
    rate(
        lanes.len() * each,
        lanes.iter().map(async |lane| {
            let [receiver] = lane.running.as_slice() else { bail!("a lane of one") };
            for event in &lane.events {
                invoke(subject, receiver, event).await?;
            }
            Ok(())
        }),
    )
    .await
}

/// How many events a second so many pairs of processes take together, from
/// the delivery until its effect has happened.
///
/// # Errors
/// A subject does not do its work.
pub async fn whole(
    ground: &Ground,
    [ingest, processor]: [&Subject; 2],
    pairs: usize,
    each: usize,
) -> Result<f64> {
    ground.metered.take_sent();
    let lanes = lanes(ground, &[ingest, processor], pairs, each).await?;
    rate(
        lanes.len() * each,
        lanes.iter().map(async |lane| {
            let [receiver, worker] = lane.running.as_slice() else { bail!("a lane of two") };
            for event in &lane.events {
                invoke(ingest, receiver, event).await?;
                // Whoever comes first takes what was sent, as from a queue.
                for batch in ground.batches() {
                    invoke(processor, worker, &batch).await?;
                }
            }
            Ok(())
        }),
    )
    .await
}

/// Processes that work one after the other, and what the first is handed.
struct Lane {
    running: Vec<Running>,
    events: Vec<Value>,
}

async fn lanes(ground: &Ground, subjects: &[&Subject], count: usize, each: usize) -> Result<Vec<Lane>> {
    let mut lanes = Vec::new();
    for _ in 0..count {
        let mut running = Vec::new();
        for subject in subjects {
            let mut process = Running::start(&subject.program).await?;
            process.ready().await?;
            running.push(process);
        }
        let events = (0..each).map(|_| ground.delivery(0)).collect::<Result<_>>()?;
        lanes.push(Lane { running, events });
    }
    Ok(lanes)
}

/// So many events by the time that all the work takes.
async fn rate(events: usize, work: impl Iterator<Item = impl Future<Output = Result<()>>>) -> Result<f64> {
    let began = SystemClock.monotonic();
    futures_util::future::try_join_all(work).await?;
    Ok(as_float(u64::try_from(events)?) / SystemClock.monotonic().0.saturating_sub(began.0).as_secs_f64())
}
