//! What people ask the tables: many events at once, by what they know of them.
//! Nothing here is on the way of a delivery or a message.

use super::DynamoStore;
use super::error::{Unanswered, store_error};
use super::expression::Table;
use super::expression::listing::{self, Filter};
use super::item::attribute;
use super::item::{self, Item};
use aws_sdk_dynamodb::types::KeysAndAttributes;
use sekali::ids::{EndpointName, Tenant};
use sekali::key::{ActionKey, EventKey};
use sekali::ports::{Due, INDEX_SHARDS, IndexShard, Store, StoreError};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::Slug;
use sekali::time::UnixMillis;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// DynamoDB reads no more items at once.
const AT_ONCE: usize = 100;

/// Rounds in which DynamoDB may hand back keys that it had no time for.
const ROUNDS: usize = 20;

/// Which events a listing is about: everything that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Received by this endpoint.
    pub endpoint: Option<EndpointName>,
    /// Of this tenant.
    pub tenant: Option<Tenant>,
    /// Standing there.
    pub status: Option<EventStatus>,
    /// For this reason.
    pub reason: Option<Slug>,
    /// Of this type.
    pub event_type: Option<TypeFilter>,
    /// Owning or sharing this action.
    pub action: Option<ActionKey>,
    /// First received then or later.
    pub received_from: Option<UnixMillis>,
    /// First received then or earlier.
    pub received_until: Option<UnixMillis>,
    /// Having had a delivery with other content.
    pub in_conflict: bool,
}

/// Which types of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeFilter {
    /// This one.
    Is(String),
    /// All that begin like this.
    BeginsWith(String),
}

impl TypeFilter {
    /// `order.paid`, or `order.*` for all that begin like it.
    pub fn parse(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(prefix) => Self::BeginsWith(prefix.to_owned()),
            None => Self::Is(text.to_owned()),
        }
    }

    fn admits(&self, event_type: Option<&str>) -> bool {
        match self {
            Self::Is(wanted) => event_type == Some(wanted),
            Self::BeginsWith(prefix) => event_type.is_some_and(|name| name.starts_with(prefix.as_str())),
        }
    }
}

impl EventFilter {
    /// Is the event one of these?
    pub fn admits(&self, event: &Event) -> bool {
        let reason = event.progress.reason.as_ref().map(|reason| reason.slug);
        self.endpoint.as_ref().is_none_or(|endpoint| *endpoint == event.endpoint)
            && self.tenant.as_ref().is_none_or(|tenant| Some(tenant) == event.tenant.as_ref())
            && self.status.is_none_or(|status| status == event.progress.status)
            && self.reason.is_none_or(|wanted| Some(wanted) == reason)
            && self.event_type.as_ref().is_none_or(|wanted| {
                wanted.admits(event.event_type.as_ref().map(|event_type| event_type.as_str()))
            })
            && self.action.as_ref().is_none_or(|action| Some(action) == event.progress.action.as_ref())
            && self.received_from.is_none_or(|from| event.received_at >= from)
            && self.received_until.is_none_or(|until| event.received_at <= until)
            && (!self.in_conflict || event.seen.conflicts > 0)
    }
}

/// What a listing came upon.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one lives at a time, while it is looked at")]
pub enum Listed {
    /// An event.
    Event(Event),
    /// An item that this version cannot read, and why. It does not hide the others.
    Unreadable(String),
}

impl DynamoStore {
    /// Looks at every event that is open or needs a human, part by part of
    /// the index, and stops when `look` breaks. Costs as much as there are of
    /// them, however large the table is.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn standing(
        &self,
        classes: &[Due],
        mut look: impl FnMut(Listed) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for class in classes {
            for shard in 0..INDEX_SHARDS {
                let shard = IndexShard { class: *class, shard };
                let mut after = None;
                loop {
                    let page = self.due(shard, UnixMillis(i64::MAX), after.as_ref(), AT_ONCE).await?;
                    let keys: Vec<_> = page.events.into_iter().map(|(key, _)| key).collect();
                    for listed in self.events(&keys).await? {
                        // The index may be stale: what moved on is listed elsewhere, or nowhere.
                        if matches!(&listed, Listed::Event(event) if Due::of(event.progress.status) != Some(*class))
                        {
                            continue;
                        }
                        if look(listed).is_break() {
                            return Ok(());
                        }
                    }
                    match page.next {
                        Some(next) => after = Some(next),
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at every stored event that the filter admits, and stops when
    /// `look` breaks. Reads the whole table up to there, which costs and takes
    /// as long as the table is large.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn all(
        &self,
        filter: &EventFilter,
        look: impl FnMut(Listed) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.scan(listing::events(filter), look).await
    }

    /// Every event that people may mean by a word: a vendor's id, a correlation
    /// id, an action's or an event's key. Reads the whole table.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn named(&self, word: &str) -> Result<Vec<Listed>, StoreError> {
        let mut found = Vec::new();
        let look = |listed| {
            found.push(listed);
            ControlFlow::Continue(())
        };
        self.scan(listing::named(word), look).await?;
        Ok(found)
    }

    async fn scan(
        &self,
        filter: Filter,
        mut look: impl FnMut(Listed) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut from = None;
        loop {
            let terms = filter.terms.clone();
            let page = self
                .client
                .scan()
                .table_name(self.table(Table::Events))
                .consistent_read(true)
                .filter_expression(&filter.condition)
                .set_expression_attribute_names(Some(terms.names.into_iter().collect()))
                .set_expression_attribute_values(super::write::values(terms.values))
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| store_error(&error, &Unanswered::default()))?;
            for item in page.items() {
                if look(listed(item)).is_break() {
                    return Ok(());
                }
            }
            match page.last_evaluated_key {
                Some(next) if !next.is_empty() => from = Some(next),
                _ => return Ok(()),
            }
        }
    }

    /// Reads these events, strongly consistent. Those that are gone are left out.
    ///
    /// # Errors
    /// The table does not answer, or not for all of them.
    pub async fn events(&self, keys: &[EventKey]) -> Result<Vec<Listed>, StoreError> {
        let mut found = Vec::with_capacity(keys.len());
        for some in keys.chunks(AT_ONCE) {
            let mut wanted: Vec<Item> = some.iter().map(|key| attribute::key(key.as_str())).collect();
            for _ in 0..ROUNDS {
                if wanted.is_empty() {
                    break;
                }
                let (items, left) = self.batch(wanted).await?;
                found.extend(items.iter().map(listed));
                wanted = left;
            }
            if !wanted.is_empty() {
                return Err(StoreError::Throttled);
            }
        }
        Ok(found)
    }

    async fn batch(&self, keys: Vec<Item>) -> Result<(Vec<Item>, Vec<Item>), StoreError> {
        let table = self.table(Table::Events);
        let wanted = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(true)
            .build()
            .map_err(|error| StoreError::Invalid(error.to_string()))?;
        let answer = self
            .client
            .batch_get_item()
            .request_items(table, wanted)
            .send()
            .await
            .map_err(|error| store_error(&error, &Unanswered::default()))?;
        let of_table = |all: Option<HashMap<String, Vec<Item>>>| {
            all.and_then(|mut tables| tables.remove(table)).unwrap_or_default()
        };
        let left = answer.unprocessed_keys.and_then(|mut tables| tables.remove(table));
        Ok((of_table(answer.responses), left.map(|left| left.keys).unwrap_or_default()))
    }
}

fn listed(item: &Item) -> Listed {
    match item::event::decode(item) {
        Ok(event) => Listed::Event(event),
        Err(error) => Listed::Unreadable(error.to_string()),
    }
}
