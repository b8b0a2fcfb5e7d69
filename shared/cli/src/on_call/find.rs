//! From what people know of an event to the event.

use super::answer::counted;
use super::desk::Desk;
use anyhow::{Result, bail};
use clap::Args;
use sekali::ids::{EndpointName, Tenant};
use sekali::key::{ActionKey, DedupScope, EventKey, ResourceKey};
use sekali::ports::Store;
use sekali::protocol::event::Event;
use sekali_aws::dynamodb::listing::Listed;

/// One event, by any name of it.
#[derive(Debug, Clone, Args)]
pub struct Which {
    /// The vendor's id, the correlation id, or the key of the event, of its
    /// action, or of the resource that it moved last.
    #[arg(value_name = "ID")]
    pub id: String,
    /// The endpoint that received it: finds it by one read.
    #[arg(long)]
    pub endpoint: Option<String>,
    /// Whose it is, where the endpoint serves many.
    #[arg(long)]
    pub tenant: Option<String>,
}

impl Which {
    /// The one event that is meant; `None`: there is none.
    ///
    /// # Errors
    /// Several are meant, or the tables do not answer.
    pub async fn find(&self, desk: &Desk) -> Result<Option<Event>> {
        let mut found = self.all(desk).await?;
        if found.len() > 1 {
            let keys: Vec<_> = found.iter().map(|event| format!("  {}", event.key)).collect();
            bail!(
                "{} have the name {}: choose one by its key, or with --endpoint and --tenant\n{}",
                counted(found.len(), "event"),
                self.id,
                keys.join("\n")
            );
        }
        Ok(found.pop())
    }

    /// Every event that may be meant. Keys are read; only where no key can be
    /// made of the name is the whole table looked through.
    async fn all(&self, desk: &Desk) -> Result<Vec<Event>> {
        if let Some(key) = self.exact(desk).await? {
            return Ok(desk.store.event(&key).await?.into_iter().collect());
        }
        let mut found = Vec::new();
        for key in self.likely(desk) {
            found.extend(desk.store.event(&key).await?);
        }
        if !found.is_empty() {
            return Ok(found);
        }
        for listed in desk.store.named(&self.id).await? {
            match listed {
                Listed::Event(event) if self.is_of(&event) => found.push(event),
                Listed::Event(_) => {}
                Listed::Unreadable(why) => bail!("an event of this name cannot be read: {why}"),
            }
        }
        Ok(found)
    }

    /// The event that a key names: its own, its action's, its resource's.
    async fn exact(&self, desk: &Desk) -> Result<Option<EventKey>> {
        Ok(match self.id.split(['|', '#']).next() {
            Some("event") if self.id.len() > 5 => Some(EventKey::from_stored(self.id.as_str())),
            Some("action") if self.id.len() > 6 => desk
                .store
                .action(&ActionKey::from_stored(self.id.as_str()))
                .await?
                .map(|action| action.begun_by),
            Some("resource") if self.id.len() > 8 => {
                let key = ResourceKey::from_stored(self.id.as_str());
                desk.store.resource(&key).await?.map(|resource| resource.moved_by)
            }
            _ => None,
        })
    }

    /// The keys that the vendor's id has at the endpoints that are known.
    fn likely(&self, desk: &Desk) -> Vec<EventKey> {
        let tenant = self.tenant.as_deref().map(Tenant::from);
        let key = |scope: &DedupScope| EventKey::new(scope, tenant.as_ref(), &[Some(&self.id)]);
        let endpoints = &desk.deployment.config.endpoints;
        match &self.endpoint {
            Some(name) => {
                let declared = endpoints.get(name.as_str()).map(|endpoint| endpoint.dedup_scope.clone());
                let scope = declared.unwrap_or_else(|| DedupScope::from(&EndpointName::from(name.as_str())));
                vec![key(&scope)]
            }
            None => {
                let mut keys: Vec<_> =
                    endpoints.values().map(|endpoint| key(&endpoint.dedup_scope)).collect();
                keys.sort();
                keys.dedup();
                keys
            }
        }
    }

    fn is_of(&self, event: &Event) -> bool {
        self.endpoint.as_deref().is_none_or(|endpoint| event.endpoint.as_str() == endpoint)
            && self
                .tenant
                .as_deref()
                .is_none_or(|tenant| event.tenant.as_ref().is_some_and(|of| of.as_str() == tenant))
    }

    /// What to say where there is none.
    pub fn nothing(&self, desk: &Desk) -> String {
        format!(
            "no event has the name {} at {}: was it refused (see the log of ingest), or is its dedup window over?",
            self.id, desk.receiver
        )
    }
}
