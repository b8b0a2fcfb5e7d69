//! The command line of Sekali, as a library so that the end-to-end tests can
//! deploy what `sekali local run` deploys and ask what people on call ask.

pub mod capture;
pub mod check;
pub mod cost;
pub mod doctor;
mod ended;
mod handshake;
mod interrupted;
pub mod local;
pub mod on_call;
mod paint;
mod say;
mod send;
mod team;
mod vectors;
mod vendors;

pub use ended::{COULD_NOT, Ended};

use clap::{CommandFactory, Parser, Subcommand};

/// Sekali: a webhook's effect happens once.
#[derive(Debug, Parser)]
#[command(name = "sekali", version, about, propagate_version = true)]
#[command(after_help = "Examples:
  sekali check                                        every problem of infra/endpoints.toml
  sekali check --against body.json --type order.paid  what a real payload would do
  sekali doctor request.http --endpoint stripe        why a request does not verify
  sekali vendors stripe                               what an endpoint of a vendor needs
  sekali send events.jsonl --url URL --secret env:S   events to a receiver, as a vendor sends them
  sekali events show evt_1NxZ --stack sekali-prod     what happened to an event
  sekali stats --stack sekali-prod                    what is open or needs a human
  sekali local run                                    the whole of it on this machine")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole of it on this machine.
    #[command(subcommand)]
    Local(local::Local),
    Check(check::Check),
    Doctor(doctor::Doctor),
    Vendors(vendors::Vendors),
    Send(send::Send),
    Cost(cost::Cost),
    #[command(hide = true)]
    Vectors(vectors::Vectors),
    /// Secrets that vendors hand over.
    #[command(subcommand)]
    Handshake(handshake::Handshake),
    #[command(flatten)]
    OnCall(on_call::OnCall),
    /// Write completions for your shell to standard output.
    #[command(
        after_help = "Example:\n  sekali completions bash > ~/.local/share/bash-completion/completions/sekali"
    )]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// Does what was asked for.
    ///
    /// # Errors
    /// A sentence for whoever asked.
    pub async fn run(self) -> anyhow::Result<Ended> {
        match self.command {
            Command::Local(local) => local.run().await.map(|()| Ended::Well),
            Command::Check(check) => check.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Vendors(vendors) => vendors.run(),
            Command::Send(send) => send.run().await,
            Command::Cost(cost) => cost.run(),
            Command::Vectors(vectors) => vectors.run(),
            Command::Handshake(handshake) => handshake.run().await.map(|()| Ended::Well),
            Command::OnCall(on_call) => on_call.run().await,
            Command::Completions { shell } => {
                clap_complete::generate(shell, &mut Self::command(), "sekali", &mut std::io::stdout());
                Ok(Ended::Well)
            }
        }
    }
}
