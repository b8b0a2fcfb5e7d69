//! Reading items and the index.

use super::error::{Unanswered, store_error};
use super::expression::{self, Table};
use super::item::Item;
use super::item::attribute::{self, Reading};
use super::item::event::DUE;
use super::{DynamoStore, INDEX};
use sekali::key::EventKey;
use sekali::ports::{DuePage, IndexShard, StoreError};
use sekali::time::UnixMillis;

impl DynamoStore {
    /// Opens the connection before the first delivery or message needs it:
    /// while a function starts it has a whole processor to itself. A failure
    /// is left for the first real call to report.
    pub async fn warm_up(&self) {
        drop(self.get(Table::Events, "warm-up").await);
    }

    /// One item, strongly consistent.
    pub(super) async fn get(&self, table: Table, pk: &str) -> Result<Option<Item>, StoreError> {
        let answer = self
            .client
            .get_item()
            .table_name(self.table(table))
            .set_key(Some(attribute::key(pk)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| store_error(&error, &Unanswered::default()))?;
        Ok(answer.item)
    }

    /// One page of the index.
    pub(super) async fn due_page(
        &self,
        shard: IndexShard,
        until: UnixMillis,
        after: Option<&(EventKey, UnixMillis)>,
        limit: usize,
    ) -> Result<DuePage, StoreError> {
        let question = expression::due(shard, until);
        let answer = self
            .client
            .query()
            .table_name(self.table(Table::Events))
            .index_name(INDEX)
            .key_condition_expression(question.condition)
            .set_expression_attribute_names(Some(question.terms.names.into_iter().collect()))
            .set_expression_attribute_values(Some(question.terms.values.into_iter().collect()))
            .set_exclusive_start_key(after.map(|entry| expression::behind(shard, entry)))
            .limit(i32::try_from(limit.max(1)).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(|error| store_error(&error, &Unanswered::default()))?;
        let events = answer.items().iter().map(entry).collect::<Result<_, _>>()?;
        let next = answer.last_evaluated_key().map(entry).transpose()?;
        Ok(DuePage { events, next })
    }
}

fn entry(item: &Item) -> Result<(EventKey, UnixMillis), StoreError> {
    let read = Reading(item);
    Ok((EventKey::from_stored(read.text(attribute::KEY)?), UnixMillis(read.number(DUE)?)))
}
