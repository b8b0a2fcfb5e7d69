//! The command line of Sekali, as a library so that the end-to-end tests can
//! deploy what `sekali local run` deploys.

mod handshake;
pub mod local;
mod say;

use clap::{Parser, Subcommand};

/// Sekali: a webhook's effect happens once.
#[derive(Debug, Parser)]
#[command(name = "sekali", version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole of it on this machine.
    #[command(subcommand)]
    Local(local::Local),
    /// Secrets that vendors hand over.
    #[command(subcommand)]
    Handshake(handshake::Handshake),
}

impl Cli {
    /// Does what was asked for.
    ///
    /// # Errors
    /// A sentence for whoever asked.
    pub async fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Local(local) => local.run().await,
            Command::Handshake(handshake) => handshake.run().await,
        }
    }
}
