//! `sekali cost`: dollars for a mix of deliveries, from what was counted and a
//! price list with a date.

pub mod counted;
mod mix;
mod prices;
mod report;
mod watch;

use crate::ended::Ended;
use crate::say::say;
use anyhow::{Result, ensure};
use clap::Args;
use mix::Mix;
use prices::Prices;
use report::Report;
use std::path::PathBuf;

/// Reckon what a mix of deliveries costs, by service, beside the floor.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:
  sekali cost                                      a million deliveries of 1.5 KiB
  sekali cost --duplicates 20 --effects 10 --body 8KiB
  sekali cost --deliveries 250000 --batch 5 --json

Units and requests of each step are counted by a test over the real functions; how long a
function takes is assumed, and is yours to say after a look at your own logs. Not in it:
free tiers, discounts, transfer to destinations outside AWS, secrets and keys.

{}",
    crate::ended::EXIT_CODES
))]
pub struct Cost {
    /// How many deliveries.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    deliveries: u32,
    /// How many of them repeat a known event.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    duplicates: f64,
    /// How long a body is.
    #[arg(long, value_name = "SIZE", default_value = "1536B", value_parser = sekali::config::size)]
    body: u64,
    /// How long it is as stored, where it compresses [default: as --body].
    #[arg(long, value_name = "SIZE", value_parser = sekali::config::size)]
    stored: Option<u64>,
    /// How many events move a resource and have an effect.
    #[arg(long, value_name = "PERCENT", default_value_t = 40.0, value_parser = percent)]
    effects: f64,
    /// How many events have an effect without a resource.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    effects_alone: f64,
    /// How many events only move a resource; the others meet no rule.
    #[arg(long, value_name = "PERCENT", default_value_t = 40.0, value_parser = percent)]
    statuses: f64,
    /// Messages in one invocation of the processor: about 1 in a quiet hour, up to 10.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=10))]
    batch: u8,
    /// Memory of each function, in MB, as the template gives it.
    #[arg(long, value_name = "MB", default_value_t = 512, value_parser = clap::value_parser!(u16).range(128..=10_240))]
    memory: u16,
    /// How long ingest takes for a delivery, in milliseconds; assumed.
    #[arg(long, value_name = "MS", default_value_t = 10)]
    ingest_ms: u32,
    /// How long the processor takes besides the call, in milliseconds; assumed.
    #[arg(long, value_name = "MS", default_value_t = 30)]
    processor_ms: u32,
    /// How long a destination takes to answer, in milliseconds; assumed.
    #[arg(long, value_name = "MS", default_value_t = 100)]
    call_ms: u32,
    /// Lines that each function writes for a delivery or an event: one of log, one of metrics.
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    log_lines: u16,
    /// How long a line is.
    #[arg(long, value_name = "SIZE", default_value = "500B", value_parser = sekali::config::size)]
    log_bytes: u64,
    /// Lambda writes its own lines about each invocation: the template's PlatformLogLevel is INFO.
    #[arg(long)]
    platform_lines: bool,
    /// How many days events and payloads are kept: the dedup window.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    kept_days: u16,
    /// How many days the logs are kept.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    logs_kept_days: u16,
    /// How many endpoints are busy all month: each has metrics of its own.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    endpoints: u16,
    /// A price list of your own, in the form of the built-in one.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// One JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

impl Cost {
    /// Reckons.
    ///
    /// # Errors
    /// The shares are more than everything, or the price list cannot be read.
    pub fn run(&self) -> Result<Ended> {
        let report = Report {
            mix: self.mix()?,
            prices: Prices::read(self.prices.as_deref())?,
            endpoints: self.endpoints,
        };
        match self.json {
            true => say(report.json()),
            false => report.say(),
        }
        Ok(Ended::Well)
    }

    fn mix(&self) -> Result<Mix> {
        let shares = self.effects + self.effects_alone + self.statuses;
        ensure!(
            shares <= 100.0,
            "--effects, --effects-alone and --statuses are {shares} % together, more than all events"
        );
        let seconds = |millis: u32| f64::from(millis) / 1_000.0;
        Ok(Mix {
            deliveries: f64::from(self.deliveries),
            duplicates: self.duplicates / 100.0,
            body: self.body,
            stored: self.stored.unwrap_or(self.body),
            effects: self.effects / 100.0,
            effects_alone: self.effects_alone / 100.0,
            statuses: self.statuses / 100.0,
            batch: f64::from(self.batch),
            memory: f64::from(self.memory) / 1_024.0,
            ingest: seconds(self.ingest_ms),
            processor: seconds(self.processor_ms),
            call: seconds(self.call_ms),
            log_lines: f64::from(self.log_lines),
            log_bytes: mix::float(self.log_bytes),
            platform_lines: self.platform_lines,
            kept_days: f64::from(self.kept_days),
            logs_kept_days: f64::from(self.logs_kept_days),
        })
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or_else(|| "a share is a number from 0 to 100, in percent".to_owned())
}
