//! On call: every command against the tables and queues of a real receiver.

mod deciding;
mod destinations;
mod dlq;
mod erase;
mod load;
mod looking;
mod reconcile;
mod rights;
mod stack;
mod tail;

use anyhow::{Context, Result, ensure};
use sekali_cli::on_call::desk::Desk;
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::vendors::Delivery;
use sekali_tests::e2e::worker::Worker;

/// A receiver of one test alone, its functions, and whoever is on call.
struct Shift {
    receiver: Driven,
    ingest: Worker,
    processor: Worker,
    desk: Desk,
}

impl Shift {
    async fn begin() -> Result<Self> {
        let receiver = super::driven().await?;
        let ingest = receiver.worker("ingest").await?;
        let processor = receiver.worker("processor").await?;
        let desk = receiver.desk()?;
        Ok(Self { receiver, ingest, processor, desk })
    }

    /// A vendor sends it, and is answered so.
    async fn deliver(&self, delivery: Delivery, status: u16) -> Result<()> {
        let signed = self.receiver.vendors.sign(delivery)?;
        let answer = self.receiver.deliver(&self.ingest, &signed).await?.context("it answers")?;
        ensure!(answer.status == status, "{answer:?}");
        Ok(())
    }

    /// A vendor sends it, and it is processed as far as it goes.
    async fn process(&self, delivery: Delivery) -> Result<()> {
        self.deliver(delivery, 202).await?;
        self.receiver.drain(&self.processor).await
    }
}
