//! A function's process is killed at every call that it makes, before the
//! call reached AWS and after, and at its destination; or it is frozen. Then
//! workers that live bring everything to rest, and the counts are right.

mod frozen;
mod others;
mod processor;

use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::kept::Item;
use sekali_tests::e2e::proxy::Fault;
use sekali_tests::e2e::vendors::Delivery;
use sekali_tests::e2e::worker::Worker;

/// More calls than any function makes for one event.
const CALLS: usize = 40;

/// On which side of a call a process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Side {
    fn held(self, gate: &Gate) -> Fault {
        match self {
            Self::Before => Fault::HeldBefore(gate.clone()),
            Self::After => Fault::HeldAfter(gate.clone()),
        }
    }
}

/// The functions that live through everything.
struct Healthy {
    ingest: Worker,
    processor: Worker,
    sweeper: Worker,
}

impl Healthy {
    async fn of(driven: &Driven) -> Result<Self> {
        let ingest = driven.worker("ingest").await?;
        let processor = driven.worker("processor").await?;
        Ok(Self { ingest, processor, sweeper: driven.worker("sweeper").await? })
    }
}

/// A new event's delivery is taken and its message waits.
async fn received(driven: &Driven, healthy: &Healthy, delivery: Delivery) -> Result<()> {
    let answer = driven.deliver(&healthy.ingest, &driven.vendors.sign(delivery)?).await?;
    ensure!(answer.context("it answers")?.status == 202);
    Ok(())
}

async fn at_rest(driven: &Driven, healthy: &Healthy, endpoint: &str, id: &str) -> Result<Item> {
    driven.come_to_rest(&healthy.processor, &healthy.sweeper).await?;
    driven.kept.event(endpoint, id).await?.context("it is stored")
}
