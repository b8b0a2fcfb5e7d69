//! `make storm`: misbehaving vendors against the real functions, until
//! everything has come to rest and is counted. Fails if anything was lost,
//! doubled or went back.

use anyhow::Result;
use clap::Parser;
use sekali_cli::local::checkout::Checkout;
use sekali_cli::local::emulator::{Emulator, any_port};
use sekali_cli::local::package;
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::storm::storm;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Misbehaving vendors against the real functions.
#[derive(Debug, Parser)]
struct Storm {
    /// How many events the vendors tell of.
    #[arg(long, default_value_t = 2_000)]
    events: usize,
    /// Draws the storm; the same one again is the same storm.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let Storm { events, seed } = Storm::parse();
    let checkout = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?;
    package::build(&checkout).await?;
    let folder = checkout.root().join("target/local/storm");
    std::fs::create_dir_all(&folder)?;
    let emulator = Emulator::start(&checkout, &folder, any_port()?).await?;
    let driven = Driven::new(&checkout, emulator.aws, &folder).await?;
    let report = storm(&driven, events, seed).await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "seed {seed}; what the functions said is in {}\n{report}", driven.folder().display())?;
    Ok(if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
