//! The binary `sekali`.

use clap::Parser;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match sekali_cli::Cli::parse().run().await {
        Ok(ended) => ended.into(),
        Err(error) => {
            eprintln!("sekali: {error:#}");
            sekali_cli::COULD_NOT.into()
        }
    }
}
