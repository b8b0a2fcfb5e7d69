//! The binary `sekali`.

use clap::Parser;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match sekali_cli::Cli::parse().run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sekali: {error:#}");
            ExitCode::FAILURE
        }
    }
}
