//! The local run: the template deployed to an emulator on this machine, with a
//! destination that writes down every effect.

pub mod aws;
pub mod checkout;
pub mod configuration;
pub mod demo;
pub mod destination;
pub mod emulator;
pub mod environment;
mod group;
mod needed;
pub mod package;
mod run;
pub mod secrets;
pub mod stack;
pub mod wire;

use clap::Subcommand;

/// The local run.
#[derive(Debug, Subcommand)]
pub enum Local {
    /// Deploy to an emulator, play the demo, and stay up until Ctrl-C.
    #[command(after_help = "Examples:
  sekali local run
  sekali local run --endpoints my/endpoints.toml --port 4600 --destination-port 4601
  sekali local run --once                       ends after the demo, in an error where its counts are wrong")]
    Run(run::Run),
}

impl Local {
    /// Does what was asked for.
    ///
    /// # Errors
    /// A sentence that says what is missing, taken or wrong.
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Run(run) => run.run().await,
        }
    }
}
