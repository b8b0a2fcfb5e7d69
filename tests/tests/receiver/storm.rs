//! A small storm, so that every change meets one; `make storm` is the large.

use super::driven;
use anyhow::{Result, ensure};
use sekali_tests::e2e::storm::storm;

const EVENTS: usize = 150;
const SEED: u64 = 1;

#[tokio::test]
async fn a_storm_loses_nothing_doubles_nothing_and_sends_nothing_back() -> Result<()> {
    let driven = driven().await?;
    let report = storm(&driven, EVENTS, SEED).await?;
    ensure!(report.is_good(), "\n{report}\nwhat the functions said is in {}", driven.folder().display());
    ensure!(report.killed > 0, "nobody was killed: that was no storm");
    Ok(())
}
