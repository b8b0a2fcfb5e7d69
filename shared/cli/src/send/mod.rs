//! `sekali send`: events to any receiver, as a vendor sends them.

mod answer;
mod book;
mod event;
mod input;
mod left;
mod progress;
mod report;
mod run;
mod schedule;
mod sign;

use crate::doctor::secrets;
use crate::ended::Ended;
use crate::paint::Paint;
use crate::say::say;
use crate::team;
use anyhow::{Context, Result, bail, ensure};
use book::Book;
use clap::{Args, ValueEnum};
use http::Uri;
use input::Form;
use left::Left;
use report::Report;
use run::{Over, Run};
use schedule::Schedule;
use sekali::config::{rate, span};
use sekali::rate::Rate;
use sekali::source::Pointer;
use sekali::time::Clock;
use sekali::vendor::{Params, Vendor};
use sekali_aws::SystemClock;
use sekali_aws::post::Receiver;
use sign::{Mode, Signer};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long a vendor waits for an answer where its description does not say.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long ago a stale delivery was signed, unless it is said.
const STALE: &str = "1h";

/// Send events to any receiver: signed as a vendor signs, repeated until they are taken.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:
  sekali send events.jsonl --url https://hooks.example.com/in --secret env:HOOK_SECRET
  sekali send order.json --url http://127.0.0.1:3000/in --vendor stripe --secret file:secret.txt
  tail -f events.jsonl | sekali send - --url https://hooks.example.com/in --secret env:HOOK_SECRET
  sekali send order.json --url http://127.0.0.1:3000/in --vendor github --secret env:S \\
      --tamper --expect refused      does the receiver verify what it is sent?

The input is one JSON body, JSON lines or a JSON list of bodies. Each event goes out in
one series of attempts, under one id and with the same bytes, however often the input
repeats it. Every 2xx ends its series well, 410 ends everything, any other 3xx or 4xx
ends it badly; 408, 409, 425, 429, 5xx and no answer are tried again, not before a
Retry-After and not beyond --attempts and --max-age. Ctrl-C begins nothing more, awaits
what is under way and says what is left.

{}",
    crate::ended::EXIT_CODES
))]
pub struct Send {
    /// What is sent; `-` is standard input.
    file: PathBuf,
    /// The receiver.
    #[arg(long)]
    url: String,
    /// As whose deliveries.
    #[arg(long, default_value = "standard-webhooks")]
    vendor: String,
    /// A folder with vendor descriptions that come before the built-in ones
    /// [default: infra/vendors here or above].
    #[arg(long, value_name = "FOLDER")]
    vendors: Option<PathBuf>,
    /// What the receiver verifies with, as env:NAME or file:PATH.
    #[arg(long, value_name = "PLACE", required_unless_present = "unsigned")]
    secret: Option<String>,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    test: Test,
    #[command(flatten)]
    pace: Pace,
    /// A file that takes every event that is not delivered; `--as deliveries` sends it again.
    #[arg(long, value_name = "FILE")]
    left: Option<PathBuf>,
    /// One JSON object at the end instead of sentences.
    #[arg(long)]
    json: bool,
}

/// What a delivery holds.
#[derive(Debug, Args)]
struct Content {
    /// What the input is.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Auto)]
    form: Form,
    /// Where a body says its id, e.g. /id, where the vendor has it in a header
    /// [default: a digest of the body].
    #[arg(long, value_name = "POINTER")]
    id: Option<String>,
    /// A header of every delivery.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// The media type of the bodies [default: the vendor's JSON].
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// A parameter of the vendor's description.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The URL that is signed, where the receiver knows itself by another one than --url.
    #[arg(long, value_name = "URL")]
    signed_url: Option<String>,
}

/// Deliveries that a receiver must refuse.
#[derive(Debug, Args)]
struct Test {
    /// Without a signature.
    #[arg(long, conflicts_with_all = ["secret", "stale", "tamper"])]
    unsigned: bool,
    /// Rightly signed, but so long ago.
    #[arg(long, value_name = "SPAN", num_args = 0..=1, default_missing_value = STALE, value_parser = span, conflicts_with = "tamper")]
    stale: Option<Duration>,
    /// Signed over other bytes, which as JSON are the same.
    #[arg(long)]
    tamper: bool,
    /// What is as it should be.
    #[arg(long, value_enum, default_value_t = Expect::Delivered)]
    expect: Expect,
}

/// How fast, how often and for how long.
#[derive(Debug, Args)]
struct Pace {
    /// Most attempts at one event.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    attempts: u32,
    /// How long after its first attempt an event is sent again.
    #[arg(long, value_name = "SPAN", default_value = "1h", value_parser = span)]
    max_age: Duration,
    /// The longest wait after the first attempt; it doubles with each, and is drawn anew.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = span)]
    first_wait: Duration,
    /// The longest wait of all.
    #[arg(long, value_name = "SPAN", default_value = "5m", value_parser = span)]
    longest_wait: Duration,
    /// How long an attempt may take [default: the vendor's deadline, or 30s].
    #[arg(long, value_name = "SPAN", value_parser = span)]
    timeout: Option<Duration>,
    /// Most attempts at once.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    concurrency: u16,
    /// How fast attempts may begin, e.g. 50/s.
    #[arg(long, value_parser = rate)]
    rate: Option<Rate>,
}

/// What should become of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Expect {
    /// Each is taken.
    Delivered,
    /// Each is refused for good.
    Refused,
}

impl Expect {
    fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
        }
    }
}

impl Send {
    /// Sends everything.
    ///
    /// # Errors
    /// It cannot be read, signed or kept; nothing was sent, unless the input
    /// broke off later.
    pub async fn run(&self) -> Result<Ended> {
        let url = receiver(&self.url)?;
        let signer = self.signer(&url)?;
        let timeout = self.pace.timeout.or(signer.vendor.reply().deadline).unwrap_or(PATIENCE);
        ensure!(!timeout.is_zero(), "--timeout 0s leaves no time for an answer");
        let input = self.input()?;
        let run = Run {
            signer,
            book: Book::new(self.pace.schedule()),
            concurrency: usize::from(self.pace.concurrency),
            rate: self.pace.rate.map(evenly),
            timeout,
            written: self.content.form == Form::Deliveries,
            finite: self.file != Path::new("-"),
            left: self.left.as_deref().map(Left::begin).transpose()?,
            unreadable: Vec::new(),
        };
        let began = SystemClock.monotonic();
        let Over { run, all_read, fault } = run.until_over(&Receiver::new(url), input).await?;
        let report = Report {
            url: self.url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            vendor: run.signer.vendor.name().to_string(),
            expect: self.test.expect,
            stopped: run.book.stopped(),
            tally: run.book.tally().clone(),
            unreadable: run.unreadable,
            all_read,
            took: SystemClock.monotonic().0.saturating_sub(began.0),
        };
        if let (Some(fault), 0) = (&fault, report.tally.read) {
            bail!("{}: {fault}", self.file.display());
        }
        match self.json {
            true => say(report.json()),
            false => report.say(Paint::for_output()),
        }
        match fault {
            Some(fault) => bail!("{}: {fault}", self.file.display()),
            None => Ok(Ended::with(!report.is_as_expected())),
        }
    }

    fn input(&self) -> Result<mpsc::Receiver<Result<input::Piece, input::NotRead>>> {
        let form = self.content.form;
        if self.file == Path::new("-") {
            return Ok(run::reading(BufReader::new(std::io::stdin()), form));
        }
        let file = File::open(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?;
        Ok(run::reading(BufReader::new(file), form))
    }

    fn signer(&self, url: &Uri) -> Result<Signer> {
        let own = team::own(self.vendors.as_deref())?;
        let vendor = team::vendor(&self.vendor, &own)?;
        let content = &self.content;
        let content_type = content.content_type.clone().unwrap_or_else(|| usual_media_type(&vendor));
        let signed_url = content.signed_url.as_deref().unwrap_or(&self.url);
        let mut params = Params::with_url(signed_url.split(['?', '#']).next().unwrap_or_default());
        for pair in &content.params {
            let (name, value) = pair.split_once('=').context("a --param is not NAME=VALUE")?;
            params.named.insert(name.to_owned(), value.to_owned());
        }
        let signer = Signer {
            mode: self.mode()?,
            params,
            path: url.path().to_owned(),
            query: url.query().unwrap_or_default().to_owned(),
            headers: content.headers.iter().map(|text| header(text)).collect::<Result<_>>()?,
            content_type,
            id: content.id.as_deref().map(Pointer::parse).transpose().context("--id")?,
            vendor,
        };
        signer.check()?;
        Ok(signer)
    }

    fn mode(&self) -> Result<Mode> {
        let Some(place) = &self.secret else { return Ok(Mode::Unsigned) };
        let secret = secrets::named(place, Path::new(""), true)?.secret;
        Ok(match (self.test.stale, self.test.tamper) {
            (Some(age), _) => Mode::Stale(secret, age),
            (None, true) => Mode::Tampered(secret),
            (None, false) => Mode::Signed(secret),
        })
    }
}

impl Pace {
    fn schedule(&self) -> Schedule {
        Schedule {
            first_wait: self.first_wait,
            longest_wait: self.longest_wait,
            attempts: self.attempts,
            max_age: self.max_age,
        }
    }
}

/// The same rate without bursts of more than a hundredth of a second's worth.
fn evenly(rate: Rate) -> Rate {
    let hundredths = u32::try_from(rate.per.as_millis() / 10).unwrap_or(u32::MAX).max(1);
    let many = (rate.many / hundredths).max(1);
    Rate { many, per: rate.per * many / rate.many }
}

fn receiver(text: &str) -> Result<Uri> {
    let url: Uri = text.parse().context("--url is no URL: write https://host/path")?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    ensure!(
        is_http && url.host().is_some_and(|host| !host.is_empty()),
        "--url must begin with https:// or http:// and a host"
    );
    let authority = url.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    ensure!(
        !authority.contains('@'),
        "--url must not hold a user or a password; --header 'Authorization: ..' can"
    );
    Ok(url)
}

fn header(text: &str) -> Result<(String, String)> {
    // The value may be a secret, so it is not shown.
    let (name, value) = text.split_once(':').context("a --header is not 'NAME: VALUE'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// JSON where the vendor sends it, else what it sends.
fn usual_media_type(vendor: &Vendor) -> String {
    let types = vendor.content_types();
    let json = types.iter().find(|media| media.ends_with("json"));
    let first = json.or_else(|| types.iter().find(|media| *media != "*"));
    first.map_or("application/json", String::as_str).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_spread_over_its_span() {
        let shown = |text| {
            let Rate { many, per } = evenly(rate(text).unwrap());
            (many, per)
        };
        assert_eq!(shown("50/s"), (1, Duration::from_millis(20)));
        assert_eq!(shown("2/h"), (1, Duration::from_secs(1_800)));
        assert_eq!(shown("1000/s"), (10, Duration::from_millis(10)));
    }

    #[test]
    fn a_receiver_is_an_absolute_url_without_a_password() {
        assert!(receiver("http://127.0.0.1:3000/in?x=1").is_ok());
        for bad in ["hooks.example.com", "ftp://hooks.example.com", "/in", "https://u:p@hooks.example.com"] {
            assert!(receiver(bad).is_err(), "{bad}");
        }
    }
}
