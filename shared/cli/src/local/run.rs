//! `sekali local run`, which is what `make run` calls.

use super::checkout::Checkout;
use super::configuration::LocalConfiguration;
use super::demo::script::{Delivery, Script};
use super::demo::send::Sender;
use super::demo::{self, Played};
use super::destination::LocalDestination;
use super::needed;
use super::secrets::Secrets;
use super::stack::{Spec, Stack};
use super::{emulator, package};
use crate::interrupted::interrupted;
use crate::say::say;
use anyhow::{Result, bail};
use clap::Args;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        let _alone = alone(&folder)?;
        let file = self.endpoints.clone().unwrap_or_else(|| checkout.endpoints());
        let configuration = LocalConfiguration::read(&file, self.destination_port)?;
        let script = match self.endpoints {
            Some(_) => None,
            None => Some(Script::read(&checkout.demo())?),
        };
        // Before anything is built: half a demo would call what the file names.
        if let Some(script) = &script {
            script.fits(&configuration.config, file.strip_prefix(checkout.root()).unwrap_or(&file))?;
        }
        let configuration = match &script {
            Some(_) => configuration.with_local_apis(self.destination_port)?,
            None => configuration,
        };
        let secrets = Secrets::gather(&configuration.config, script.as_ref());
        secrets.missing.iter().for_each(say);
        if !self.no_build {
            build(&checkout).await?;
        }
        let destination =
            LocalDestination::start(self.destination_port, &folder.join("effects.jsonl")).await?;
        if let Some(script) = &script {
            destination.play(script.answers()?);
        }
        say(format_args!("starting AWS on port {} and deploying infra/template.yaml to it", self.port));
        let mut stack = Stack::start(Spec {
            checkout: &checkout,
            folder: folder.clone(),
            port: self.port,
            configuration: &configuration,
            endpoint_secrets: secrets.of_endpoints.clone(),
            destination_secrets: secrets.of_processor.clone(),
            parameters: Vec::new(),
        })
        .await?;
        let _environment = EnvironmentFile::write(&stack, &folder).await?;
        let sender = Sender { stack: &stack, config: &configuration.config, secrets: &secrets.of_endpoints };
        if let Some(script) = &script {
            say("playing the demo of events/demo.toml\n");
            let played = demo::play(script, sender, &destination).await?;
            self.judge(&played)?;
        }
        if self.once {
            return Ok(());
        }
        let ingest = aws_log(&stack, "IngestFunction").await?;
        describe(&checkout, sender, &configuration, (&destination, &ingest))?;
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

/// Two runs in one folder would take each other's files away.
fn alone(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => bail!("another local run is up in this checkout: end it first"),
        Err(TryLockError::Error(error)) => Err(error.into()),
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
    (destination, ingest_log): (&LocalDestination, &str),
) -> Result<()> {
    let aws = sender.stack.aws();
    say("");
    for (name, url) in &configuration.redirected {
        say(format_args!("destination {name} is the local one here, not {url}"));
    }
    say(format_args!("vendors call   {}{}", aws.endpoint(), sender.stack.endpoint_path("{endpoint}")?));
    say(format_args!("effects        {}", destination.path().display()));
    say(format_args!("log            {} (processor and sweeper)", sender.stack.log().display()));
    say(format_args!("log of ingest  {}", ingest_log));
    say(format_args!("environment    {}", checkout.root().join("target/local/env").display()));
    if let Some((endpoint, delivery, folder)) = sample(&Script::read(&checkout.demo())?, configuration) {
        let file = folder.join(&delivery.body);
        // A secret that is not there, or one that does not suit, was said before.
        if let Ok(signed) = sender.sign(&endpoint, &delivery.headers, fs::read(&file)?, Duration::ZERO) {
            say("\na delivery, signed now (most vendors' signatures are good for five minutes):\n");
            say(signed.curl(&aws.endpoint(), &file));
        }
    }
    let commands = needed::commands(&configuration.config);
    if !commands.is_empty() {
        say("\nwhat the emulator has to be given, from another shell in this folder:\n");
        say("set -a; . target/local/env; set +a");
        commands.iter().for_each(say);
    }
    say("\nto look at it: sekali events list --local (README, On call: what `sekali` is)");
    say(format_args!(
        "to see a destination fail: echo 'NAME 503' >{}, and to mend it: rm of that file",
        destination.failing().display()
    ));
    say("\nCtrl-C ends it, and its events are gone with it");
    Ok(())
}

/// The command that shows what a function has written, where the emulator
/// keeps it as CloudWatch would. Both versions of `aws` know it.
async fn aws_log(stack: &Stack, function: &str) -> Result<String> {
    let function = stack.output(function)?.to_owned();
    let configured = stack.aws().function(&function).await?;
    let group = configured["LoggingConfig"]["LogGroup"].as_str();
    let group = group.map_or_else(|| format!("/aws/lambda/{function}"), str::to_owned);
    Ok(format!(
        "set -a; . target/local/env; set +a; aws logs filter-log-events --log-group-name {group} --query 'events[].message' --output text"
    ))
}

/// A delivery of the demo that suits an endpoint: best one that the demo sends
/// only to be refused, since nothing knows its event yet. Bodies lie in
/// folders named like their vendors.
fn sample<'a>(
    script: &'a Script,
    configuration: &LocalConfiguration,
) -> Option<(String, &'a Delivery, &'a Path)> {
    let suits = |delivery: &Delivery| {
        configuration
            .config
            .endpoints
            .values()
            .find(|endpoint| delivery.body.starts_with(endpoint.vendor.name().as_str()))
            .map(|endpoint| endpoint.name.to_string())
    };
    let refused = script.deliveries.iter().filter(|delivery| delivery.event.is_none());
    let (endpoint, delivery) =
        refused.chain(&script.deliveries).find_map(|delivery| Some((suits(delivery)?, delivery)))?;
    Some((endpoint, delivery, &script.folder))
}

/// The functions' environment in a file, for `make watch` and for anybody who
/// wants to look into the tables with other tools. It is there only as long
/// as the tables are.
struct EnvironmentFile(PathBuf);

impl EnvironmentFile {
    async fn write(stack: &Stack, folder: &Path) -> Result<Self> {
        let aws = stack.aws();
        let mut variables = aws.variables(stack.output("IngestFunction")?).await?;
        variables.extend(aws.variables(stack.output("ProcessorFunction")?).await?);
        let own = [
            ("AWS_ENDPOINT_URL", aws.endpoint()),
            ("AWS_REGION", super::aws::REGION.to_owned()),
            // Version 1 of `aws` reads this one alone.
            ("AWS_DEFAULT_REGION", super::aws::REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
            ("SEKALI_CONFIG", folder.join("config").display().to_string()),
        ];
        variables.extend(own.map(|(name, value)| (name.to_owned(), value)));
        let mut text = String::new();
        for (name, value) in &variables {
            // Quoted so that a shell and cargo-lambda read the same.
            let quote = if value.contains('\'') { '"' } else { '\'' };
            writeln!(text, "{name}={quote}{value}{quote}")?;
        }
        let file = Self(folder.join("env"));
        fs::write(&file.0, text)?;
        Ok(file)
    }
}

impl Drop for EnvironmentFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
