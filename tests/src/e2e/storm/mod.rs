//! A storm: misbehaving vendors against the real functions on an emulated
//! DynamoDB and SQS. Events are delivered several times, out of order, again
//! when all is over, forged, and in conflict with themselves; functions are
//! killed over their calls and AWS fails under them; destinations act and are
//! not heard. Then everything comes to rest and is counted.

mod dice;
mod plan;
mod play;
mod report;
mod watch;

pub use report::Report;

use super::driven::Driven;
use super::worker::Worker;
use anyhow::{Context, Result, ensure};
use dice::Dice;
use plan::Plan;
use std::time::Duration;
use watch::Watch;

/// A storm ends by itself; one that has not by then never will.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Plays a storm of so many events on a driven receiver that nothing else
/// uses. The same seed draws the same storm; how its parts race is up to the
/// machine.
///
/// # Errors
/// A function failed, which it never may, an event never came to an end, or
/// the emulator is gone. A broken promise is in the report.
pub async fn storm(driven: &Driven, events: usize, seed: u64) -> Result<Report> {
    let played = tokio::time::timeout(PATIENCE, in_time(driven, events, seed)).await;
    played.with_context(|| format!("the storm did not end within {PATIENCE:?}"))?
}

async fn in_time(driven: &Driven, events: usize, seed: u64) -> Result<Report> {
    let dice = Dice::of(seed);
    let plan = Plan::draw(events, &dice);
    let mut watch = Watch::default();
    let mut played = play::play(driven, &plan, &dice, &mut watch).await?;
    let (processor, sweeper) = (driven.worker("processor").await?, driven.worker("sweeper").await?);
    driven.come_to_rest(&processor, &sweeper).await?;
    played.deliveries += replay(driven, &plan, &processor, &sweeper).await?;
    watch.look(&driven.kept, driven.vendors.config()).await?;
    report::judge(driven, &plan, &played, watch).await
}

/// Sends finished events once more. Each is known, and nothing happens.
async fn replay(driven: &Driven, plan: &Plan, processor: &Worker, sweeper: &Worker) -> Result<usize> {
    let ingest = driven.worker("ingest").await?;
    for sent in &plan.replays {
        let signed = driven.vendors.sign(sent.delivery.clone())?;
        let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
        ensure!(answer.status == 200, "a replayed event was answered {answer:?}");
    }
    driven.come_to_rest(processor, sweeper).await?;
    Ok(plan.replays.len())
}
