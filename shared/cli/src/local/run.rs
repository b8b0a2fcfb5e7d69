//! `sekali local run`, which is what `make run` calls.

use super::checkout::Checkout;
use super::configuration::LocalConfiguration;
use super::demo::script::Script;
use super::demo::send::Sender;
use super::demo::{self, Played};
use super::destination::LocalDestination;
use super::stack::{Spec, Stack};
use super::{emulator, package};
use crate::say::say;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
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
    /// Another configuration; no demo is played then, and secrets come from
    /// our own environment.
    #[arg(long)]
    endpoints: Option<PathBuf>,
    /// Stop after the demo, and fail if it did not go as written.
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
            why = interrupted() => {
                say(format_args!("stopped: {}", why?));
                if self.once { bail!("interrupted before it was done") } else { Ok(()) }
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
        let configuration =
            LocalConfiguration::read(&file, &checkout.root().join("infra/vendors"), self.destination_port)?;
        let script = match self.endpoints {
            Some(_) => None,
            None => Some(Script::read(&checkout.demo())?),
        };
        let secrets = Secrets::gather(&configuration, script.as_ref());
        if !self.no_build {
            build(&checkout).await?;
        }
        let destination =
            LocalDestination::start(self.destination_port, &folder.join("effects.jsonl")).await?;
        say(format_args!("starting AWS on port {} and deploying infra/template.yaml to it", self.port));
        let mut stack = Stack::start(Spec {
            checkout: &checkout,
            folder: folder.clone(),
            port: self.port,
            configuration: &configuration,
            endpoint_secrets: secrets.of_endpoints.clone(),
            destination_secrets: secrets.of_destinations.clone(),
            parameters: Vec::new(),
        })
        .await?;
        write_environment(&stack, &folder.join("env")).await?;
        let sender = Sender { stack: &stack, config: &configuration.config, secrets: &secrets.of_endpoints };
        if let Some(script) = &script {
            say("playing the demo of events/demo.toml\n");
            let played = demo::play(script, sender, &destination).await?;
            self.judge(&played)?;
        }
        if self.once {
            return Ok(());
        }
        describe(&checkout, sender, &configuration, &destination)?;
        loop {
            stack.alive()?;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Shows what came of the demo. With `--once`, what is wrong is an error;
    /// else it stays up, so that somebody can look.
    fn judge(&self, played: &Played) -> Result<()> {
        say(&played.table);
        for wrong in &played.wrong {
            say(format_args!("wrong: {wrong}"));
        }
        say(played.counts);
        if self.once && !played.is_as_written() {
            bail!("the demo did not go as it is written");
        }
        Ok(())
    }
}

/// The secrets of this run.
struct Secrets {
    of_endpoints: BTreeMap<String, String>,
    of_destinations: BTreeMap<String, String>,
}

impl Secrets {
    /// From the demo, or from our own environment where none is played.
    fn gather(configuration: &LocalConfiguration, script: Option<&Script>) -> Self {
        let given = |name: &str| match script {
            Some(script) => script.secrets.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        let (endpoints, destinations) = configuration.secret_variables();
        let (of_endpoints, offline) = LocalConfiguration::pick(&endpoints, given);
        let (of_destinations, unsigned) = LocalConfiguration::pick(&destinations, given);
        for name in &offline {
            say(format_args!("{name} is not set: its endpoint answers 503 until it is exported"));
        }
        for name in &unsigned {
            say(format_args!("{name} is not set: its destination cannot be called until it is exported"));
        }
        Self { of_endpoints, of_destinations }
    }
}

async fn build(checkout: &Checkout) -> Result<()> {
    match package::is_built(checkout) {
        true => say("building the functions"),
        false => say("building the functions; the first time this takes a few minutes"),
    }
    package::build(checkout).await
}

/// What there is, for whoever wants to try it.
fn describe(
    checkout: &Checkout,
    sender: Sender<'_>,
    configuration: &LocalConfiguration,
    destination: &LocalDestination,
) -> Result<()> {
    let aws = sender.stack.aws();
    say("");
    for (name, url) in &configuration.redirected {
        say(format_args!("destination {name} is the local one here, not {url}"));
    }
    say(format_args!("vendors call   {}{}", aws.endpoint(), sender.stack.endpoint_path("{endpoint}")?));
    say(format_args!("effects        {}", destination.path().display()));
    say(format_args!("log            {}", sender.stack.log().display()));
    say(format_args!("environment    {}", checkout.root().join("target/local/env").display()));
    if let Some((endpoint, file)) = sample(checkout, configuration) {
        let signed = sender.sign(&endpoint, &BTreeMap::new(), fs::read(&file)?, Duration::ZERO);
        if let Ok(signed) = signed {
            say("\na delivery, signed now (most vendors' signatures are good for five minutes):\n");
            say(signed.curl(&aws.endpoint(), &file));
        }
    }
    say("\nCtrl-C ends it");
    Ok(())
}

/// The first endpoint of whose vendor there is a sample body.
fn sample(checkout: &Checkout, configuration: &LocalConfiguration) -> Option<(String, PathBuf)> {
    configuration.config.endpoints.values().find_map(|endpoint| {
        let folder = checkout.root().join("events").join(endpoint.vendor.name().as_str());
        let mut files: Vec<_> =
            fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        Some((endpoint.name.to_string(), files.into_iter().next_back()?))
    })
}

/// Leaves a file with the functions' environment, for `make watch` and for
/// anybody who wants to look into the tables with other tools.
async fn write_environment(stack: &Stack, path: &Path) -> Result<()> {
    let aws = stack.aws();
    let mut variables = aws.variables(stack.output("IngestFunction")?).await?;
    variables.extend(aws.variables(stack.output("ProcessorFunction")?).await?);
    let own = [
        ("AWS_ENDPOINT_URL", aws.endpoint()),
        ("AWS_REGION", super::aws::REGION.to_owned()),
        ("AWS_ACCESS_KEY_ID", "local".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ("SEKALI_CONFIG", path.with_file_name("config").display().to_string()),
    ];
    variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
    let mut text = String::new();
    for (name, value) in &variables {
        writeln!(text, "{name}={value}")?;
    }
    Ok(fs::write(path, text)?)
}

/// Waits for Ctrl-C, for a polite request to end, or for the terminal to close.
async fn interrupted() -> Result<&'static str> {
    let mut asked = signal(SignalKind::terminate())?;
    let mut closed = signal(SignalKind::hangup())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.map(|()| "Ctrl-C").map_err(Into::into),
        _ = asked.recv() => Ok("asked to end"),
        _ = closed.recv() => Ok("the terminal was closed"),
    }
}
