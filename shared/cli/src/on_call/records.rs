//! `sekali resources show`, `sekali actions show`.

use super::answer::Answer;
use super::at::At;
use super::desk::Desk;
use super::shown;
use crate::ended::Ended;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use sekali::ids::Tenant;
use sekali::key::{ActionKey, ResourceKey};
use sekali::ports::Store;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Resources.
#[derive(Debug, Subcommand)]
pub enum Resources {
    /// Show a resource: its status, where it stands in the vendor's order, and
    /// which event moved it last.
    #[command(after_help = "Example:\n  sekali resources show payment pi_3MtwBw --stack sekali-prod")]
    Show(ShowResource),
}

/// Which resource.
#[derive(Debug, Args)]
pub struct ShowResource {
    /// Its kind in the configuration, e.g. payment; or its whole key.
    kind: String,
    /// The vendor's id of it.
    id: Option<String>,
    /// Whose it is.
    #[arg(long)]
    tenant: Option<String>,
    #[command(flatten)]
    at: At,
}

impl Resources {
    pub(super) fn at(&self) -> &At {
        let Self::Show(show) = self;
        &show.at
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let Self::Show(show) = self;
        let tenant = show.tenant.as_deref().map(Tenant::from);
        let key = match &show.id {
            Some(id) => ResourceKey::new(&show.kind.as_str().into(), tenant.as_ref(), id),
            None => ResourceKey::from_stored(show.kind.as_str()),
        };
        let mut page = desk.page();
        let Some(resource) = desk.store.resource(&key).await? else {
            let kinds = &desk.deployment.config.resources;
            let is_kind = show.id.is_none() || kinds.is_empty() || kinds.contains_key(show.kind.as_str());
            if !is_kind {
                let known = kinds.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                page.aside(format_args!("the configuration has no resource {}; there is {known}", show.kind));
            }
            return Ok(page.nothing(format_args!("no event has moved {key} yet")));
        };
        page.line(format_args!("{key}"));
        page.line(format_args!("  status   {}", resource.status));
        page.line(format_args!("  order    {}", resource.order));
        page.line(format_args!("  version  {}", resource.version));
        page.line(format_args!("  moved    {} by {}", shown::time(resource.moved_at), resource.moved_by));
        Ok(page.answer(shown::resource(&resource), Ended::Well))
    }
}

/// Actions.
#[derive(Debug, Subcommand)]
pub enum Actions {
    /// Show an action: where it stands, its lease and token, its result, and
    /// with --events every event that names it.
    #[command(after_help = "Examples:
  sekali actions show pack order_1001 --request --stack sekali-prod
  sekali actions show 'action|4:pack|-|6:fields|10:order_1001' --events --local")]
    Show(ShowAction),
}

/// Which action.
#[derive(Debug, Args)]
pub struct ShowAction {
    /// Its name in the configuration; or its whole key.
    name: String,
    /// Its key fields, in their order.
    fields: Vec<String>,
    /// Whose it is.
    #[arg(long)]
    tenant: Option<String>,
    /// List the events that own or share it; reads the whole table of events.
    #[arg(long)]
    events: bool,
    /// Show what is asked for, with its fields: it may hold personal data.
    #[arg(long)]
    request: bool,
    #[command(flatten)]
    at: At,
}

impl Actions {
    pub(super) fn at(&self) -> &At {
        let Self::Show(show) = self;
        &show.at
    }

    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let Self::Show(show) = self;
        let tenant = show.tenant.as_deref().map(Tenant::from);
        let fields: Vec<&str> = show.fields.iter().map(String::as_str).collect();
        let key = match show.name.starts_with("action|") || show.name.starts_with("action#") {
            true => ActionKey::from_stored(show.name.as_str()),
            false => ActionKey::from_fields(&show.name.as_str().into(), tenant.as_ref(), &fields),
        };
        let mut page = desk.page();
        let Some(action) = desk.store.action(&key).await? else {
            return Ok(page.nothing(format_args!("nobody has begun {key}")));
        };
        page.line(format_args!("{key}"));
        for line in super::events::action_lines(&action) {
            page.line(format_args!("  {line}"));
        }
        let mut json = shown::action(&action);
        if show.request {
            match action.request.body.is_empty() {
                // What was frozen is never empty; a privacy request emptied it.
                true => page.line("  request      erased"),
                false => {
                    let request: Value = serde_json::from_slice(&action.request.body)
                        .context("the stored request is not JSON")?;
                    page.line(format_args!("{}", serde_json::to_string_pretty(&request)?));
                    json["request"] = request;
                }
            }
            json["request_erased"] = action.request.body.is_empty().into();
        }
        if show.events {
            let mut sharing = Vec::new();
            let filter = EventFilter { action: Some(key.clone()), ..EventFilter::default() };
            desk.store
                .all(&filter, |listed| {
                    if let Listed::Event(event) = listed {
                        sharing.push(event);
                    }
                    ControlFlow::Continue(())
                })
                .await?;
            let rows = sharing.iter().map(|event| {
                [
                    event.key.to_string(),
                    event.progress.status.as_str().to_owned(),
                    shown::time(event.received_at),
                ]
            });
            page.table(["event", "status", "received"], rows.collect());
            json["events"] = json!(sharing.iter().map(|event| event.key.as_str()).collect::<Vec<_>>());
        }
        Ok(page.answer(json, Ended::Well))
    }
}
