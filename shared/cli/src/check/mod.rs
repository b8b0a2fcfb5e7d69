//! `sekali check`: every problem of a configuration at once, before a delivery
//! finds it.

mod against;
mod grants;
mod history;
mod local;
mod report;
mod secrets;
mod template;
mod window;

use crate::ended::Ended;
use crate::paint::Paint;
use crate::team::Team;
use against::Asked;
use anyhow::{Context, Result, ensure};
use clap::Args;
use report::Report;
use sekali::config::{
    self, Checked, Config, Endpoint, Remark, Retentions, Severity, check_calls, check_windows, explain,
    review, show_span,
};
use sekali::problem::{Place, Problem};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use template::Template;

/// Check a configuration: every problem at once, each with its place and remedy.
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:
  sekali check                                  infra/endpoints.toml, its vendors/ and template.yaml
  sekali check --explain                        each rule as an English sentence
  sekali check --secrets                        are the secrets in env: and file: in their vendors' form?
  sekali check --template infra/template.yaml   the lines that the template lacks
  sekali check --against push.json --endpoint github --header 'X-GitHub-Event: push'

How long messages are kept (INV-9) is read from the template. A *problem* is refused at
deployment or will not do what it says; a *warning* may be meant; --strict refuses both.

{}",
    crate::ended::EXIT_CODES
))]
pub struct Check {
    /// The configuration [default: infra/endpoints.toml here or above].
    file: Option<PathBuf>,
    /// The team's vendor descriptions [default: `vendors` beside the configuration].
    #[arg(long, value_name = "FOLDER")]
    vendors: Option<PathBuf>,
    /// Compare with what this template grants, and print the lines to add.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// A parameter with which the template is deployed, e.g. SecretArns=arn:..
    #[arg(long = "parameter", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Say each rule as an English sentence.
    #[arg(long)]
    explain: bool,
    /// Read the secrets that are kept on this machine and check their form.
    #[arg(long)]
    secrets: bool,
    /// Show which rule a payload fires: a body, or a captured request.
    #[arg(long, value_name = "PAYLOAD")]
    against: Option<PathBuf>,
    /// The endpoint that --against is about.
    #[arg(long, requires = "against")]
    endpoint: Option<String>,
    /// The event type, where the payload does not say it.
    #[arg(long = "type", value_name = "TYPE", requires = "against")]
    event_type: Option<String>,
    /// A header of the payload.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "against")]
    headers: Vec<String>,
    /// A file with headers of the payload, one to a line.
    #[arg(long = "headers", value_name = "FILE", requires = "against")]
    headers_file: Option<PathBuf>,
    /// Whose the payload is, where the URL says it.
    #[arg(long, requires = "against")]
    tenant: Option<String>,
    /// The configuration as it was: looks for endpoints that were renamed.
    #[arg(long, value_name = "FILE")]
    was: Option<PathBuf>,
    /// Warnings count as problems.
    #[arg(long)]
    strict: bool,
    /// One JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Checks it.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn run(&self) -> Result<Ended> {
        let team = Team::read(self.file.as_deref(), self.vendors.as_deref())?;
        let Checked { config, parts, problems, mentions } =
            config::check(team.endpoints(), &team.descriptions());
        let is_sound = config.is_some();
        let mut report = Report {
            file: team.file.clone(),
            remarks: problems.into_iter().map(as_problem).collect(),
            counts: (mentions.endpoints, mentions.rules),
            ..Report::default()
        };
        report.remarks.extend(review(&parts, &mentions));
        self.against_template(&team, &parts, &mut report)?;
        if self.secrets {
            report.remarks.extend(secrets::check(&parts, &team.folder));
        }
        self.history(&team, &parts, &mut report)?;
        if self.explain {
            report.sentences = explain(&parts);
        }
        if let Some(payload) = &self.against {
            ensure!(
                is_sound,
                "{} has problems; --against needs one that holds together:\n{}",
                team.file,
                lines(&report)
            );
            report.fates = against::fates(&parts, payload, self.asked())?;
        }
        report.remarks.sort_by(|a, b| (a.severity, &a.problem.place).cmp(&(b.severity, &b.problem.place)));
        match self.json {
            true => report.say_json(),
            false => report.say(Paint::for_output()),
        }
        let warned = self.strict && report.count(Severity::Warning) > 0;
        Ok(Ended::with(warned || report.count(Severity::Problem) > 0))
    }

    /// INV-9, and with `--template` what is granted.
    fn against_template(&self, team: &Team, config: &Config, report: &mut Report) -> Result<()> {
        report.remarks.extend(local::destinations(config));
        let beside = team.folder.join("template.yaml");
        let path = self.template.clone().or_else(|| beside.is_file().then_some(beside.clone()));
        let Some(path) = path else {
            ensure!(
                self.parameters.is_empty(),
                "--parameter is of a template, and there is none: name it with --template FILE"
            );
            let message = format!(
                "there is no {}: queues are taken to keep messages for {} and dead letters for {}",
                beside.display(),
                show_span(window::SHIPPED.queue),
                show_span(window::SHIPPED.dlq)
            );
            report.remarks.push(warning(&team.file, message, "name the template with --template FILE"));
            self.windows(config, window::SHIPPED, report);
            calls(config, window::SHIPPED_INVOCATION, report);
            return Ok(());
        };
        let template = Template::read(&path, self.given()?)?;
        match window::retentions(&template) {
            Ok(retentions) => self.windows(config, retentions, report),
            Err(wrong) => report.remarks.extend(wrong),
        }
        match window::invocation(&template) {
            Ok(invocation) => calls(config, invocation, report),
            Err(wrong) => report.remarks.push(wrong),
        }
        match self.template {
            Some(_) => {
                let (remarks, lines) = grants::missing(config, &template);
                report.remarks.extend(remarks);
                report.lines = lines;
            }
            None => report.remarks.extend(local::variables(config, &template)),
        }
        Ok(())
    }

    /// INV-9: does dedup outlive what waits in the queues?
    fn windows(&self, config: &Config, retentions: Retentions, report: &mut Report) {
        report.remarks.extend(check_windows(config, retentions).into_iter().map(as_problem));
        if self.explain {
            let shown = |endpoint: &Endpoint| {
                (endpoint.name.to_string(), show_span(endpoint.dedup_window(retentions)))
            };
            report.windows = config.endpoints.values().map(shown).collect();
        }
    }

    fn history(&self, team: &Team, config: &Config, report: &mut Report) -> Result<()> {
        if self.explain {
            report.remarks.push(history::advice(&team.file));
        }
        let Some(was) = &self.was else { return Ok(()) };
        let earlier = Team::read(Some(was), None)?;
        let earlier = config::check(earlier.endpoints(), &team.descriptions());
        report.remarks.extend(history::forgotten(&earlier.parts, config, &team.file));
        Ok(())
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            endpoint: self.endpoint.as_deref(),
            event_type: self.event_type.as_deref(),
            headers: &self.headers,
            headers_file: self.headers_file.as_deref(),
            tenant: self.tenant.as_deref(),
        }
    }

    fn given(&self) -> Result<BTreeMap<String, String>> {
        let pair = |text: &String| {
            let (name, value) = text.split_once('=').context("a --parameter is not NAME=VALUE")?;
            Ok((name.to_owned(), value.to_owned()))
        };
        self.parameters.iter().map(pair).collect()
    }
}

/// Does every call fit into an invocation of the processor?
fn calls(config: &Config, invocation: Duration, report: &mut Report) {
    report.remarks.extend(check_calls(config, invocation).into_iter().map(as_problem));
}

fn as_problem(problem: Problem) -> Remark {
    Remark { severity: Severity::Problem, problem }
}

fn warning(file: &str, message: String, remedy: &str) -> Remark {
    let problem = Problem { place: Place::whole(file), message, remedy: Some(remedy.to_owned()) };
    Remark { severity: Severity::Warning, problem }
}

fn lines(report: &Report) -> String {
    let problems = report.remarks.iter().filter(|remark| remark.severity == Severity::Problem);
    problems.map(|remark| format!("  {}", remark.problem)).collect::<Vec<_>>().join("\n")
}
