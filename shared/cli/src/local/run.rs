//! `sekali local run`, which is what `make run` calls.

use super::checkout::Checkout;
use super::configuration::LocalConfiguration;
use super::destination::LocalDestination;
use super::stack::{Spec, Stack};
use super::{emulator, package};
use crate::say::say;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How often we look whether the emulator is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Deploy to an emulator, play the demo, and stay up until Ctrl-C.
#[derive(Debug, Args)]
pub struct Run {
    /// The emulator's port.
    #[arg(long, default_value_t = 4566)]
    port: u16,
    /// The port of the destination that writes down every effect.
    #[arg(long, default_value_t = 4600)]
    destination_port: u16,
    /// Another configuration; no demo is played then.
    #[arg(long)]
    endpoints: Option<PathBuf>,
    /// Stop after the demo, and fail if an event was lost or an effect doubled.
    #[arg(long)]
    once: bool,
    /// Take the functions as they were built last.
    #[arg(long)]
    no_build: bool,
}

impl Run {
    /// Runs until it is done or interrupted. Whatever was started has ended then.
    ///
    /// # Errors
    /// What is missing, taken or wrong.
    pub async fn run(self) -> Result<()> {
        tokio::select! {
            ended = self.until_done() => ended,
            interrupted = interrupted() => {
                say("stopped");
                interrupted
            }
        }
    }

    async fn until_done(&self) -> Result<()> {
        let checkout = Checkout::around(&std::env::current_dir()?)?;
        checkout.tool("python")?;
        emulator::free(self.port, "PORT")?;
        emulator::free(self.destination_port, "DESTINATION_PORT")?;
        let folder = checkout.root().join("target/local");
        fs::create_dir_all(&folder)?;
        let file = self.endpoints.clone().unwrap_or_else(|| checkout.endpoints());
        let vendors = checkout.root().join("infra/vendors");
        let configuration = LocalConfiguration::read(&file, &vendors, self.destination_port)?;
        if !self.no_build {
            build(&checkout).await?;
        }
        let destination = LocalDestination::start(self.destination_port, &folder.join("effects.jsonl")).await?;
        say(format_args!("starting AWS on port {} and deploying infra/template.yaml", self.port));
        let mut stack = Stack::start(Spec {
            checkout: &checkout,
            folder: folder.clone(),
            port: self.port,
            configuration: &configuration,
            endpoint_secrets: BTreeMap::new(),
            destination_secrets: BTreeMap::new(),
            parameters: Vec::new(),
        })
        .await?;
        write_environment(&stack, &folder.join("env")).await?;
        say(format_args!("up: http://127.0.0.1:{}{}", self.port, stack.endpoint_path("{endpoint}")?));
        say(format_args!("effects: {}", destination.path().display()));
        say(format_args!("log: {}", stack.log().display()));
        if self.once {
            return Ok(());
        }
        loop {
            stack.alive()?;
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn build(checkout: &Checkout) -> Result<()> {
    match package::is_built(checkout) {
        true => say("building the functions"),
        false => say("building the functions; the first time this takes a few minutes"),
    }
    package::build(checkout).await
}

/// Leaves a file with the ingest function's environment, for `make watch` and
/// for anybody who wants to look into the tables with other tools.
async fn write_environment(stack: &Stack, path: &std::path::Path) -> Result<()> {
    let aws = stack.aws();
    let mut variables = aws.variables(stack.output("IngestFunction")?).await?;
    variables.extend(aws.variables(stack.output("ProcessorFunction")?).await?);
    let own = [
        ("AWS_ENDPOINT_URL", aws.endpoint()),
        ("AWS_REGION", super::aws::REGION.to_owned()),
        ("AWS_ACCESS_KEY_ID", "local".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
    ];
    variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let mut text = String::new();
    for (name, value) in &variables {
        writeln!(text, "{name}={value}")?;
    }
    Ok(fs::write(path, text)?)
}

/// Waits for Ctrl-C, for a polite request to end, or for the terminal to close.
async fn interrupted() -> Result<()> {
    let mut asked = signal(SignalKind::terminate())?;
    let mut closed = signal(SignalKind::hangup())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => Ok(pressed?),
        _ = asked.recv() => bail!("asked to end"),
        _ = closed.recv() => bail!("the terminal was closed"),
    }
}
