//! `sekali reconcile`: the vendor's own list of its events, beside what was received.

mod say;

use super::answer::{Answer, Page, counted};
use super::at::At;
use super::confirm::{Said, Yes};
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use sekali::config::{self, Endpoint, SecretName};
use sekali::ids::Tenant;
use sekali::ingest::listed::unsaid;
use sekali::ports::Secrets;
use sekali::problem::nearest;
use sekali::reconcile::{Bring, Brought, Compare, Found, Listed, OnWhoseWord, Pages, Standing, Subject};
use sekali::secret::{Secret, Stage};
use sekali::time::Clock;
use sekali::vendor::list::Window;
use sekali_aws::{Apis, SystemClock, SystemEntropy};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Compare the vendor's own list of its events with what was received, and
/// take in what never arrived.
///
/// Asks the list that `[endpoint.NAME.list]` names. Only shows, unless --ingest
/// is said: then each event that never arrived is taken in as a delivery of it
/// would have been, on record with your name, and goes its way. An event whose
/// record could have expired since is shown as unknown and never taken in: it
/// could act a second time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali reconcile stripe --since 6h --stack sekali-prod
  sekali reconcile stripe --since 6h --ingest --reason 'the gateway was down' --dry-run --stack sekali-prod
  sekali reconcile stripe --since 6h --ingest --reason 'the gateway was down' --yes --stack sekali-prod")]
pub struct Reconcile {
    /// The endpoint.
    endpoint: String,
    /// Whose events, where the endpoint's URL says it.
    #[arg(long)]
    tenant: Option<String>,
    /// Of the last so long, e.g. 6h, 3d.
    #[arg(long, value_name = "SPAN", default_value = "24h", value_parser = config::span)]
    since: Duration,
    /// Not those younger than this: they may still be on their way.
    #[arg(long, value_name = "SPAN", default_value = "10m", value_parser = config::span)]
    until: Duration,
    /// How many are shown, and taken in, at most.
    #[arg(long, default_value_t = 1000)]
    limit: usize,
    /// Take in what never arrived.
    #[arg(long, requires = "reason")]
    ingest: bool,
    /// Why it is taken in; it goes on record with your name.
    #[arg(long, value_name = "TEXT", requires = "ingest")]
    reason: Option<String>,
    /// Show what would be taken in and do nothing.
    #[arg(long, conflicts_with = "yes", requires = "ingest")]
    dry_run: bool,
    /// How many in a second.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    per_second: u32,
    #[command(flatten)]
    yes: Yes,
    #[command(flatten)]
    pub(super) at: At,
}

/// The vendor's list at this desk, while it is being read.
type Reading<'a, W> = Pages<'a, Apis, W>;

impl Reconcile {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        desk.needs_rules()?;
        ensure!(self.until < self.since, "--until is nearer than --since: nothing lies between them");
        let why = self.reason.as_deref().map_or("", str::trim);
        ensure!(
            !self.ingest || !why.is_empty(),
            "--reason is empty: whoever reads the record wants to know why"
        );
        let endpoint = self.endpoint(desk)?;
        let tenant = self.tenant.as_deref().map(Tenant::from);
        let subject = Subject::of(endpoint, tenant.as_ref())?;
        if self.ingest {
            says_everything(endpoint)?;
        }
        let name = subject.secret().context("each tenant has a secret of its own for the list: --tenant")?;
        let secret = secret(desk, &name).await?;
        let now = SystemClock.now();
        let window = Window { from: now.minus(self.since), until: now.minus(self.until) };
        let apis = Apis::new(desk.reach);
        let wait = async |wait: Duration| {
            eprintln!("the list does not answer, or asks for patience: next try in {}", shown::span(wait));
            tokio::time::sleep(wait).await;
        };
        let mut pages = Pages::new(&apis, wait, subject, &secret, window)?;
        let entropy = SystemEntropy::new();
        let compare = Compare { store: &desk.store, entropy: &entropy, deployment: &desk.deployment, now };
        let found = compare.all(subject, &mut pages, window, self.limit).await?;

        let mut page = desk.page();
        say::show(&mut page, &found, now);
        if let Some(reach) = subject.list.reach().filter(|reach| *reach < self.since) {
            page.aside(format_args!("{} lists {} back at most", endpoint.vendor.name(), shown::span(reach)));
        }
        // One whose URL says the tenant is asked with that tenant's own secret.
        if endpoint.tenant.is_some() && tenant.is_none() {
            page.aside(
                "the list is that of the account whose secret asks: what happened in others is not in it",
            );
        }
        if found.more {
            page.aside("the list goes on: a shorter --since, a later --until or a larger --limit");
        }
        let done = match self.ingest {
            true => self.ingest(desk, subject, &pages, &found, why, &mut page).await?,
            false => Vec::new(),
        };
        if found.counts.contains_key(Standing::NeverArrived.as_str()) && !self.ingest {
            page.aside(format_args!("to take in what never arrived: {}", desk.hint(self.taking_in())));
        }
        Ok(self.ended(page, &found, &done, (endpoint, window)))
    }

    fn endpoint<'d>(&self, desk: &'d Desk) -> Result<&'d Endpoint> {
        let endpoints = &desk.deployment.config.endpoints;
        endpoints.get(self.endpoint.as_str()).ok_or_else(|| {
            let near = nearest(&self.endpoint, endpoints.keys().map(sekali::ids::EndpointName::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            anyhow!("today's rules have no endpoint `{}`{near}", self.endpoint)
        })
    }

    /// Takes in what never arrived; what became of each.
    async fn ingest<W: AsyncFn(Duration)>(
        &self,
        desk: &Desk,
        subject: Subject<'_>,
        pages: &Reading<'_, W>,
        found: &Found,
        why: &str,
        page: &mut Page,
    ) -> Result<Vec<Value>> {
        let missing: Vec<&Listed> =
            found.events.iter().filter(|listed| listed.standing == Standing::NeverArrived).collect();
        if missing.is_empty() || self.dry_run {
            page.line(format_args!("{} would be taken in", counted(missing.len(), "event")));
            return Ok(Vec::new());
        }
        let question = format!("take in {}?", counted(missing.len(), "event"));
        if self.yes.given(page, self.at.json, &question)? != Said::Yes {
            return Ok(Vec::new());
        }
        let bring = Bring {
            store: desk.store.clone(),
            queue: desk.queues.queue.clone(),
            clock: SystemClock,
            entropy: SystemEntropy::new(),
            deployment: Arc::new(desk.deployment.clone()),
        };
        let who = desk.who()?;
        let mut done = Vec::new();
        for listed in missing {
            let brought = one(&bring, subject, pages, listed, OnWhoseWord { who: &who, why }).await;
            done.push(say::told(page, listed, &brought));
            tokio::time::sleep(Duration::from_secs(1) / self.per_second).await;
        }
        Ok(done)
    }

    /// The command that takes in what this one has found.
    fn taking_in(&self) -> String {
        let seconds = |span: Duration| format!("{}s", span.as_secs());
        let tenant = self.tenant.as_ref().map_or(String::new(), |tenant| format!(" --tenant {tenant}"));
        format!(
            "reconcile {}{tenant} --since {} --until {} --limit {} --ingest --reason '..'",
            self.endpoint,
            seconds(self.since),
            seconds(self.until),
            self.limit
        )
    }

    fn ended(
        &self,
        page: Page,
        found: &Found,
        done: &[Value],
        (endpoint, window): (&Endpoint, Window),
    ) -> Answer {
        let is_well = |listed: &&Listed| match &listed.standing {
            Standing::NeverArrived => {
                let key = listed.key.as_ref().map(|key| key.as_str());
                done.iter().any(|done| done["key"].as_str() == key && done["done"] == true)
            }
            Standing::Unproven(_) | Standing::Unreadable(_) => false,
            Standing::Received { .. } | Standing::NoRule | Standing::Filtered => true,
        };
        let left = found.events.iter().any(|listed| !is_well(&listed));
        let json = json!({
            "endpoint": endpoint.name.as_str(),
            "vendor": endpoint.vendor.name().as_str(),
            "from": shown::time(window.from),
            "until": shown::time(window.until),
            "counts": found.counts,
            "pages": found.pages,
            "more": found.more,
            "events": found.events.iter().map(say::event).collect::<Vec<_>>(),
            "done": done,
        });
        page.answer(json, Ended::with(left || found.more))
    }
}

/// Refuses to take in what could not be followed as the webhook would be.
fn says_everything(endpoint: &Endpoint) -> Result<()> {
    let unsaid: Vec<String> = unsaid(endpoint).into_iter().map(|place| format!("`{place}`")).collect();
    ensure!(
        unsaid.is_empty(),
        "endpoint `{}` reads {}, which the list of {} does not say: nothing can be taken in from it; let the vendor send what is missing again",
        endpoint.name,
        unsaid.join(", "),
        endpoint.vendor.name()
    );
    Ok(())
}

/// The secret for the list, with the rights of whoever asks.
async fn secret(desk: &Desk, name: &SecretName) -> Result<Secret> {
    let keepers = desk.keepers.as_ref().map_err(|why| anyhow!("secrets cannot be read: {why}"))?;
    let versions = keepers.read(name).await;
    let current = versions.into_iter().find(|(stage, _)| *stage == Stage::Current);
    match current {
        Some((_, Ok(secret))) => Ok(secret),
        Some((_, Err(reason))) => bail!("the list's secret {name}: {reason}"),
        None => bail!("the list's secret {name} has no current version"),
    }
}

async fn one<W: AsyncFn(Duration)>(
    bring: &Bring<sekali_aws::DynamoStore, sekali_aws::SqsQueue, SystemClock, SystemEntropy>,
    subject: Subject<'_>,
    pages: &Reading<'_, W>,
    listed: &Listed,
    word: OnWhoseWord<'_>,
) -> Result<Brought> {
    let key = listed.key.as_ref().context("it has no key")?;
    let request = pages.content(&listed.entry).await?;
    Ok(bring.bring(subject, key, &request, word).await?)
}
