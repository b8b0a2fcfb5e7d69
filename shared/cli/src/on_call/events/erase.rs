//! `sekali events erase`: payloads and personal fields go, the keys stay.

use crate::ended::Ended;
use crate::on_call::answer::{Answer, Page, counted};
use crate::on_call::at::At;
use crate::on_call::confirm::{Consent, Said};
use crate::on_call::desk::Desk;
use crate::on_call::find::Which;
use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use sekali::ids::Tenant;
use sekali::key::ResourceKey;
use sekali::operate::Erased;
use sekali::ports::Store;
use sekali::protocol::decide::Intent;
use sekali::protocol::event::Event;
use sekali_aws::dynamodb::listing::{EventFilter, Listed};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Erase what vendors sent and what was sent on: of one event, of a tenant, or
/// of a resource.
///
/// Gone are the payload, those of its conflicts, and the request and result of
/// the action that it began. What dedup needs stays: keys, ids, hashes, times
/// and status, so that the event is still recognised when it comes again. Only
/// what has ended is erased, since everything else still needs its content. A
/// delivery that comes again later brings its payload again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  sekali events erase evt_1NxZ --reason 'privacy request 81' --stack sekali-prod
  sekali events erase --of-tenant acme --reason 'contract ended' --dry-run --stack sekali-prod
  sekali events erase --of-resource payment pi_3MtwBw --reason 'privacy request 82' --stack sekali-prod")]
pub struct Erase {
    /// One event, by any name of it.
    #[arg(value_name = "ID", required_unless_present_any = ["of_tenant", "of_resource"], conflicts_with_all = ["of_tenant", "of_resource"])]
    id: Option<String>,
    /// The endpoint that received it.
    #[arg(long)]
    endpoint: Option<String>,
    /// Everything of this tenant: reads the whole table.
    #[arg(long, value_name = "TENANT", conflicts_with = "of_resource")]
    of_tenant: Option<String>,
    /// Everything that moved this resource, or would under today's rules: reads
    /// the whole table, and the payloads of the endpoints that have such resources.
    #[arg(long, value_names = ["KIND", "ID"], num_args = 2)]
    of_resource: Option<Vec<String>>,
    /// The tenant of that event or resource, where the endpoint serves many.
    #[arg(long)]
    tenant: Option<String>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    pub(super) at: At,
}

impl Erase {
    pub(super) async fn answer(&self, desk: &Desk) -> Result<Answer> {
        let why = self.consent.why()?;
        let events = self.meant(desk).await?;
        let mut page = desk.page();
        let rows = events.iter().map(|event| {
            [
                plan(event).to_owned(),
                event.id.clone(),
                event.endpoint.to_string(),
                event.progress.status.as_str().to_owned(),
            ]
        });
        page.table(["plan", "id", "endpoint", "status"], rows.collect());
        let (chosen, left): (Vec<_>, Vec<_>) = events.iter().partition(|event| event.has_ended());
        page.line(format_args!("{} to erase, {} to be left", counted(chosen.len(), "event"), left.len()));
        let planned: Value = events
            .iter()
            .map(|event| json!({ "key": event.key.as_str(), "id": event.id, "plan": plan(event) }))
            .collect();
        let question = format!("erase {}, for good?", counted(chosen.len(), "event"));
        let said = match chosen.is_empty() {
            true => Said::PlanAlone,
            false => self.consent.given(&mut page, self.at.json, &question)?,
        };
        if said != Said::Yes {
            return Ok(page.answer(json!({ "plan": planned, "done": [] }), said.ended(left.is_empty())));
        }
        let who = desk.who()?;
        let (mut done, mut all_well) = (Vec::new(), left.is_empty());
        for event in chosen {
            let failed = match desk.operate().erase(event, &who, why).await {
                Ok(Erased::Wholly) => None,
                Ok(Erased::Not(why)) => Some(why.to_owned()),
                Err(error) => Some(error.to_string()),
            };
            all_well &= failed.is_none();
            done.push(told(&mut page, event, failed.as_deref()));
        }
        Ok(page.answer(json!({ "plan": planned, "done": done }), Ended::with(!all_well)))
    }

    async fn meant(&self, desk: &Desk) -> Result<Vec<Event>> {
        match (&self.id, &self.of_resource) {
            (Some(id), _) => {
                let (endpoint, tenant) = (self.endpoint.clone(), self.tenant.clone());
                let which = Which { id: id.clone(), endpoint, tenant };
                let event = which.find(desk).await?;
                Ok(vec![event.ok_or_else(|| anyhow!("{}", which.nothing(desk)))?])
            }
            (None, Some(named)) => {
                desk.needs_rules()?;
                let [kind, id] = named.as_slice() else { bail!("--of-resource wants a kind and an id") };
                let tenant = self.tenant.as_deref().map(Tenant::from);
                of_resource(desk, kind, &ResourceKey::new(&kind.as_str().into(), tenant.as_ref(), id)).await
            }
            (None, None) => {
                let tenant = self.of_tenant.as_deref().map(Tenant::from);
                ensure!(tenant.is_some(), "which events? an id, --of-tenant or --of-resource");
                all(desk, EventFilter { tenant, ..EventFilter::default() }).await
            }
        }
    }
}

async fn all(desk: &Desk, filter: EventFilter) -> Result<Vec<Event>> {
    let (mut found, mut unreadable) = (Vec::new(), None);
    let look = |listed| {
        match listed {
            Listed::Event(event) => found.push(event),
            Listed::Unreadable(why) => unreadable = Some(why),
        }
        ControlFlow::Continue(())
    };
    desk.store.all(&filter, look).await?;
    // Whose it is nobody knows: an erasure that leaves something out is none.
    match unreadable {
        Some(why) => bail!("an event cannot be read, so nobody knows whether it is meant: {why}"),
        None => Ok(found),
    }
}

/// What a resource's key is, only the content says; the last one that moved it
/// is known by itself.
async fn of_resource(desk: &Desk, kind: &str, key: &ResourceKey) -> Result<Vec<Event>> {
    let endpoints = &desk.deployment.config.endpoints;
    let moved_by = desk.store.resource(key).await?.map(|resource| resource.moved_by);
    let mut found = Vec::new();
    for event in all(desk, EventFilter::default()).await? {
        if moved_by.as_ref() == Some(&event.key) {
            found.push(event);
            continue;
        }
        let has = endpoints.get(&event.endpoint).and_then(|endpoint| endpoint.resource.as_ref());
        if has.is_none_or(|resource| resource.kind.as_str() != kind) {
            continue;
        }
        let Some(payload) = desk.store.payload(&event.key, &event.hash).await? else { continue };
        let names = matches!(desk.deployment.intent(&event, &payload),
            Intent::Act { moves: Some(moves), .. } if moves.resource == *key);
        if names {
            found.push(event);
        }
    }
    Ok(found)
}

fn plan(event: &Event) -> &'static str {
    use sekali::protocol::event::EventStatus as Status;
    match event.progress.status {
        _ if event.is_erased() => "erased before: once more",
        Status::Processed | Status::Ignored => "erase",
        Status::Failed if event.is_discarded() => "erase",
        Status::Failed => "leave: failed, redrive or discard it first",
        Status::Held => "leave: held, release or discard it first",
        Status::InDoubt => "leave: in doubt, resolve it first",
        Status::Received | Status::Processing => "leave: still under way",
    }
}

fn told(page: &mut Page, event: &Event, failed: Option<&str>) -> Value {
    match failed {
        None => page.line(format_args!("{}: erased", event.id)),
        Some(why) => {
            page.line(format_args!("{}: not wholly erased: {why}; the same command goes on", event.id));
        }
    }
    json!({ "key": event.key.as_str(), "id": event.id, "done": failed.is_none(), "why": failed })
}
