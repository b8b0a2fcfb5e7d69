//! The whole receiver, end to end: the template deployed to an emulator, the
//! real functions, vendors and destinations that misbehave.

mod answers;
mod canary;
mod confirmations;
mod crash;
mod effects;
mod guards;
mod handshakes;
mod letters;
mod log;
mod on_call;
mod secrets;
mod sender;
mod sizes;
mod storage;
mod storm;

use sekali_tests::e2e::deployed::Deployed;
use sekali_tests::e2e::driven::Driven;
use std::path::Path;

/// The receiver that all tests of this process share.
async fn deployed() -> anyhow::Result<&'static Deployed> {
    Deployed::get(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("receiver")).await
}

/// A receiver of one test alone, on the same emulator.
async fn driven() -> anyhow::Result<Driven> {
    let deployed = deployed().await?;
    Driven::new(&deployed.checkout, deployed.aws(), deployed.folder()).await
}

/// The same with endpoints of its own.
async fn driven_with(endpoints: &str) -> anyhow::Result<Driven> {
    let deployed = deployed().await?;
    Driven::with(&deployed.checkout, deployed.aws(), deployed.folder(), endpoints).await
}
