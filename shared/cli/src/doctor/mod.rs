//! `sekali doctor`: why a captured request does not verify, without AWS.

mod report;
pub(crate) mod secrets;

use crate::capture::{self, Capture, Captures};
use crate::ended::Ended;
use crate::team::{self, Team};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use report::Report;
use sekali::config::{self, Endpoint};
use sekali::doctor::puzzle::Puzzle;
use sekali::doctor::{self, Case, KnownSecret};
use sekali::ids::Tenant;
use sekali::time::UnixMillis;
use sekali::vendor::{Params, Vendor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Say why a captured request does not verify, and which single change would make it.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:
  sekali doctor request.http --endpoint stripe
  sekali doctor request.har --vendor github --secret env:GITHUB_WEBHOOK_SECRET
  sekali doctor puzzle.json --json

A request is HTTP text (line, headers, an empty line, body), a HAR file, the event that
API Gateway gave the function, or a puzzle. What is *proved* makes the request verify;
a *guess* is called one. Neither a secret nor a signature is ever shown.

{}",
    crate::ended::EXIT_CODES
))]
pub struct Doctor {
    /// The captured request; `-` is standard input.
    file: PathBuf,
    /// The endpoint that refused it, with its vendor, URL and secrets.
    #[arg(long, conflicts_with = "vendor")]
    endpoint: Option<String>,
    /// The configuration that has the endpoint [default: infra/endpoints.toml].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The vendor, where there is no configuration.
    #[arg(long)]
    vendor: Option<String>,
    /// A folder with vendor descriptions [default: `vendors` beside the configuration, or infra/vendors here or above].
    #[arg(long, value_name = "FOLDER")]
    vendors: Option<PathBuf>,
    /// A secret that is verified with, as env:NAME or file:PATH; in place of the endpoint's own.
    #[arg(long = "secret", value_name = "PLACE")]
    secrets: Vec<String>,
    /// A secret that is not in use but may be the sender's.
    #[arg(long = "other-secret", value_name = "PLACE")]
    other_secrets: Vec<String>,
    /// The URL that the vendor calls, where it signs it.
    #[arg(long)]
    url: Option<String>,
    /// A parameter of the vendor's description, e.g. webhook_id=WH-1.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Whose delivery it is, where tenants have secrets of their own.
    #[arg(long)]
    tenant: Option<String>,
    /// When it arrived: seconds, milliseconds or ISO 8601. Unknown, its age is not judged.
    #[arg(long = "at", value_name = "TIME")]
    at: Option<String>,
    /// Which request of a HAR file, from 1.
    #[arg(long, value_name = "NUMBER")]
    entry: Option<usize>,
    /// One JSON object with the slugs instead of sentences.
    #[arg(long)]
    json: bool,
}

/// All that a request is verified with.
struct Against {
    vendor: Arc<Vendor>,
    params: Params,
    urls: Vec<String>,
    secrets: Vec<KnownSecret>,
    /// The team's own descriptions: whoever has one may be the sender.
    own: Vec<(String, String)>,
}

impl Doctor {
    /// Examines the request, or each puzzle.
    ///
    /// # Errors
    /// It cannot be read, or what it is to be verified with is missing.
    pub fn run(&self) -> Result<Ended> {
        let reports = match capture::read(&self.file, self.entry)? {
            Captures::One(capture) => vec![self.examine(&capture)?],
            Captures::Puzzles(puzzles) => {
                ensure!(
                    self.endpoint.is_none() && self.secrets.is_empty(),
                    "a puzzle brings its own secrets"
                );
                puzzles.iter().map(|puzzle| self.solve(puzzle)).collect::<Result<_>>()?
            }
        };
        report::show(&reports, self.json);
        Ok(Ended::with(reports.iter().any(|report| report.finding.refused.is_some())))
    }

    fn solve(&self, puzzle: &Puzzle) -> Result<Report> {
        let own = self.descriptions()?;
        let name = self.vendor.as_deref().unwrap_or(&puzzle.vendor);
        let vendor = team::vendor(name, &own)?;
        let finding = puzzle
            .examine(&vendor, &others(&own))
            .with_context(|| format!("cannot examine {}", puzzle.id))?;
        Ok(Report {
            id: Some(puzzle.id.clone()),
            vendor: vendor.name().to_string(),
            finding,
            age_judged: puzzle.received_at().is_some(),
            notes: Vec::new(),
        })
    }

    fn examine(&self, capture: &Capture) -> Result<Report> {
        let mut notes: Vec<String> = capture.note.iter().cloned().collect();
        let against = match (&self.endpoint, &self.vendor) {
            (Some(endpoint), _) => self.endpoint(endpoint, capture, &mut notes)?,
            (None, Some(vendor)) => self.vendor(vendor, capture)?,
            (None, None) => bail!(
                "say as whose delivery it is verified: --endpoint NAME, or --vendor NAME --secret env:NAME"
            ),
        };
        let received_at = self.received_at(capture)?;
        let case = Case {
            vendor: &against.vendor,
            request: &capture.request,
            params: &against.params,
            urls: &against.urls,
            secrets: &against.secrets,
            received_at,
            others: &others(&against.own),
        };
        let finding = doctor::examine(&case);
        Ok(Report {
            id: None,
            vendor: against.vendor.name().to_string(),
            finding,
            age_judged: received_at.is_some(),
            notes,
        })
    }

    fn received_at(&self, capture: &Capture) -> Result<Option<UnixMillis>> {
        let Some(text) = &self.at else { return Ok(capture.received_at) };
        let at = doctor::time(text)
            .with_context(|| format!("--at {text} is no time: write 1750000000 or 2025-06-15T15:06:40Z"))?;
        Ok(Some(at))
    }

    /// The vendor, with secrets from the command line.
    fn vendor(&self, name: &str, capture: &Capture) -> Result<Against> {
        let own = self.descriptions()?;
        let vendor = Arc::new(team::vendor(name, &own)?);
        ensure!(
            !self.secrets.is_empty() || vendor.keys(&[]).is_ok(),
            "{name} signs its deliveries: give the secret with --secret env:NAME or --secret file:PATH"
        );
        let params =
            Params { public_url: self.url.clone().or_else(|| capture.url.clone()), named: self.named()? };
        let urls = capture.url.iter().cloned().collect();
        Ok(Against { vendor, params, urls, secrets: self.given(Path::new(""))?, own })
    }

    /// The endpoint as it is configured. Secrets of other endpoints of its
    /// vendor may be the sender's.
    fn endpoint(&self, name: &str, capture: &Capture, notes: &mut Vec<String>) -> Result<Against> {
        let team = Team::read(self.config.as_deref(), self.vendors.as_deref())?;
        let checked = config::check(team.endpoints(), &team.descriptions());
        let config = &checked.parts;
        let Some(endpoint) = config.endpoints.get(name) else {
            let known: Vec<&str> = config.endpoints.keys().map(|name| name.as_str()).collect();
            bail!("there is no sound endpoint `{name}` in {}; it has {}", team.file, known.join(", "));
        };
        if !checked.problems.is_empty() {
            notes.push(format!("the configuration has problems: sekali check {}", team.file));
        }
        let tenant = self.tenant.as_deref().map(Tenant::new);
        let mut known = self.given(&team.folder)?;
        if self.secrets.is_empty() {
            let (own, unread) = secrets::of(endpoint, tenant.as_ref(), &team.folder, true);
            ensure!(
                !own.is_empty() || endpoint.secrets.is_empty(),
                "no secret of endpoint {name} can be read here:\n{}\nstand in with --secret env:NAME or --secret file:PATH",
                unread.join("\n")
            );
            known.extend(own);
            notes.extend(unread.into_iter().map(|why| why.trim().to_owned()));
        }
        known.extend(
            siblings(config, endpoint)
                .flat_map(|other| secrets::of(other, tenant.as_ref(), &team.folder, false).0),
        );
        let mut params = endpoint.params.clone();
        params.named.extend(self.named()?);
        if self.url.is_some() {
            params.public_url.clone_from(&self.url);
        }
        let urls: Vec<String> = capture.url.iter().cloned().collect();
        params.public_url = params.public_url.or_else(|| capture.url.clone());
        Ok(Against { vendor: Arc::clone(&endpoint.vendor), params, urls, secrets: known, own: team.vendors })
    }

    /// The secrets that the command line names.
    fn given(&self, folder: &Path) -> Result<Vec<KnownSecret>> {
        let used = self.secrets.iter().map(|place| secrets::named(place, folder, true));
        let unused = self.other_secrets.iter().map(|place| secrets::named(place, folder, false));
        used.chain(unused).collect()
    }

    fn named(&self) -> Result<BTreeMap<String, String>> {
        let pair = |text: &String| {
            let (name, value) = text.split_once('=').context("a --param is not NAME=VALUE")?;
            Ok((name.to_owned(), value.to_owned()))
        };
        self.params.iter().map(pair).collect()
    }

    fn descriptions(&self) -> Result<Vec<(String, String)>> {
        team::own(self.vendors.as_deref())
    }
}

/// Other endpoints of the same vendor.
fn siblings<'c>(config: &'c config::Config, endpoint: &'c Endpoint) -> impl Iterator<Item = &'c Endpoint> {
    let same =
        |other: &&Endpoint| other.name != endpoint.name && other.vendor.name() == endpoint.vendor.name();
    config.endpoints.values().filter(same)
}

/// Everybody who may have sent it.
fn others(own: &[(String, String)]) -> Vec<Vendor> {
    let named = |file: &str| Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let of_team = own.iter().filter_map(|(file, _)| team::vendor(&named(file)?, own).ok());
    of_team.chain(doctor::every_vendor()).collect()
}
