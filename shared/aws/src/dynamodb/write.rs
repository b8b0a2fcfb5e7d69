//! Writing: one item by itself, several in a transaction, and how a write
//! that was applied by an earlier try of our own is recognised.

use super::DynamoStore;
use super::error::{REFUSED, Unanswered, cancelled, store_error};
use super::expression::{self, Change, Table, Whole};
use super::item::{self, Item, attribute};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update,
};
use sekali::ports::{StoreError, Write};
use sekali::protocol::action::{Action, ActionGuard};
use sekali::protocol::event::Event;
use sekali::protocol::history::HistoryWrite;
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{ActionWrite, EventWrite, Transition};

/// The end of one conditional write.
pub(super) enum End {
    /// Written; the item afterwards, where it was asked for.
    Written(Option<Item>),
    /// Refused by its condition; the item that stood in the way, if any.
    Refused(Option<Item>),
}

impl DynamoStore {
    /// Removes an item, for the operator. It is no error if there is none.
    pub(super) async fn take_away(&self, table: Table, key: &str) -> Result<(), StoreError> {
        let unanswered = Unanswered::default();
        self.client
            .delete_item()
            .table_name(self.table(table))
            .set_key(Some(attribute::key(key)))
            .customize()
            .interceptor(unanswered.clone())
            .send()
            .await
            .map(drop)
            .map_err(|error| store_error(&error, &unanswered))
    }
}

/// What a transition wants an item to be.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Event(&'a EventWrite),
    Action(&'a Action),
    Resource(&'a Resource),
    History(&'a HistoryWrite),
}

impl Wanted<'_> {
    fn place(self) -> (Table, String) {
        match self {
            Self::Event(write) => (Table::Events, write.key.as_str().to_owned()),
            Self::Action(action) => (Table::Actions, action.key.as_str().to_owned()),
            Self::Resource(resource) => (Table::Resources, resource.key.as_str().to_owned()),
            Self::History(write) => (Table::Events, item::history::key(&write.key)),
        }
    }

    /// Is the stored item already what was wanted? An action names its owner
    /// and token, so a claim recognises itself and no other (INV-5).
    fn stands_in(self, stored: &Item) -> Result<bool, StoreError> {
        Ok(match self {
            Self::Event(write) => {
                let stored: Event = item::event::decode(stored)?;
                stored.progress == write.to && write.hash().is_none_or(|hash| *hash == stored.hash)
            }
            Self::Action(action) => item::action::stands(stored, action)?,
            Self::Resource(resource) => item::resource::decode(stored)? == *resource,
            Self::History(write) => item::history::decode(stored)? == write.to,
        })
    }
}

fn wanted(transition: &Transition) -> Vec<Wanted<'_>> {
    let event = transition.event.iter().map(Wanted::Event);
    let action = transition.action.iter().filter_map(|write| match write {
        ActionWrite::Put { to, .. } => Some(Wanted::Action(to)),
        ActionWrite::Check { .. } => None,
    });
    let resource = transition.resource.iter().map(|write| Wanted::Resource(&write.to));
    let history = transition.history.iter().map(Wanted::History);
    event.chain(action).chain(resource).chain(history).collect()
}

fn changes(transition: &Transition) -> Result<Vec<Change>, StoreError> {
    let event = transition.event.as_ref().map(expression::event_write);
    let action = transition.action.as_ref().map(expression::action_write).transpose()?;
    let resource = transition.resource.as_ref().map(expression::resource_write);
    let history = transition.history.as_ref().map(expression::history_write).transpose()?;
    Ok([event, action, resource, history].into_iter().flatten().collect())
}

impl DynamoStore {
    /// Applies a transition, all or nothing.
    ///
    /// A refused one is looked at again: if every item that it writes already
    /// is what was wanted, an earlier try of the same was applied and its
    /// answer lost.
    pub(super) async fn apply(&self, transition: &Transition) -> Result<Write, StoreError> {
        let mut changes = changes(transition)?;
        if let Some(ActionWrite::Put { from, to }) = &transition.action {
            self.put_body_apart(from, to).await?;
            self.put_result_apart(to).await?;
        }
        let stood_in_the_way = match changes.len() {
            0 => return Ok(Write::Applied),
            1 if changes[0].update.is_some() => {
                match self.change(changes.remove(0), ReturnValue::None).await? {
                    End::Written(_) => return Ok(Write::Applied),
                    End::Refused(item) => vec![item],
                }
            }
            _ => match self.transact(changes).await? {
                None => return Ok(Write::Applied),
                Some(items) => items,
            },
        };
        let already = self.already_stands(&wanted(transition), stood_in_the_way).await?;
        Ok(if already { Write::Applied } else { Write::Refused })
    }

    /// A frozen body that is too large for its action is durable before the
    /// claim that names it: whoever takes over sends the same bytes (INV-2).
    async fn put_body_apart(&self, from: &ActionGuard, to: &Action) -> Result<(), StoreError> {
        let begins = match from {
            ActionGuard::Absent => true,
            ActionGuard::AsRead { generation, .. } => *generation != to.generation,
            ActionGuard::Held { .. } => false,
        };
        match item::action::apart(to) {
            Some(name) if begins => {
                let body = item::action::encode_body(&to.key, &name, &to.request.body);
                // Refused: it is there, and its name says that it is the same.
                self.put(Table::Actions, expression::put_once(body)).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// A large result is durable before the action that names it: an effect
    /// that was recorded is recorded whole (INV-4).
    async fn put_result_apart(&self, to: &Action) -> Result<(), StoreError> {
        match (item::action::result_apart(to), &to.result) {
            (Some(name), Some(result)) => {
                let item = item::action::encode_result(&to.key, &name, result);
                // Refused: it is there, and its name says that it is the same.
                self.put(Table::Actions, expression::put_once(item)).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    async fn already_stands(
        &self,
        wanted: &[Wanted<'_>],
        stood_in_the_way: Vec<Option<Item>>,
    ) -> Result<bool, StoreError> {
        for wanted in wanted {
            let (table, pk) = wanted.place();
            let is_this =
                |item: &&Item| item.get(attribute::KEY).and_then(|key| key.as_s().ok()) == Some(&pk);
            let stored = match stood_in_the_way.iter().flatten().find(is_this) {
                Some(item) => Some(item.clone()),
                // Not among those that were handed back: read it.
                None => self.get(table, &pk).await.map_err(still_unknown)?,
            };
            match stored {
                Some(item) if wanted.stands_in(&item)? => {}
                _ => return Ok(false),
            }
        }
        // A transition that only checks wants nothing, so its refusal stands.
        Ok(!wanted.is_empty())
    }

    /// One conditional change by itself.
    pub(super) async fn change(&self, change: Change, returned: ReturnValue) -> Result<End, StoreError> {
        let unanswered = Unanswered::default();
        let sent = self
            .client
            .update_item()
            .table_name(self.table(change.table))
            .set_key(Some(attribute::key(&change.pk)))
            .set_update_expression(change.update)
            .condition_expression(change.condition)
            .set_expression_attribute_names(Some(change.terms.names.into_iter().collect()))
            .set_expression_attribute_values(values(change.terms.values))
            .return_values(returned)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .customize()
            .interceptor(unanswered.clone())
            .send()
            .await;
        match sent {
            Ok(answer) => Ok(End::Written(answer.attributes)),
            Err(error) => match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                    Ok(End::Refused(refused.item().cloned()))
                }
                _ => Err(store_error(&error, &unanswered)),
            },
        }
    }

    /// One whole item, on its condition.
    pub(super) async fn put(&self, table: Table, whole: Whole) -> Result<End, StoreError> {
        let unanswered = Unanswered::default();
        let sent = self
            .client
            .put_item()
            .table_name(self.table(table))
            .set_item(Some(whole.item))
            .condition_expression(whole.condition)
            .set_expression_attribute_names(Some(whole.terms.names.into_iter().collect()))
            .set_expression_attribute_values(values(whole.terms.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .customize()
            .interceptor(unanswered.clone())
            .send()
            .await;
        match sent {
            Ok(_) => Ok(End::Written(None)),
            Err(error) => match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(refused)) => {
                    Ok(End::Refused(refused.item().cloned()))
                }
                _ => Err(store_error(&error, &unanswered)),
            },
        }
    }

    /// All changes or none. `None`: all. Otherwise what stood in the way.
    ///
    /// The SDK draws one client request token for all tries of this call, so
    /// DynamoDB itself recognises a try whose answer was lost. The token is
    /// not derived from the content: within its ten minutes DynamoDB would
    /// then report as done a transition that had been undone meanwhile.
    pub(super) async fn transact(
        &self,
        changes: Vec<Change>,
    ) -> Result<Option<Vec<Option<Item>>>, StoreError> {
        let unanswered = Unanswered::default();
        let items = changes.into_iter().map(|change| self.transacted(change)).collect::<Result<_, _>>()?;
        let sent = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items))
            .customize()
            .interceptor(unanswered.clone())
            .send()
            .await;
        let Err(error) = sent else { return Ok(None) };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(exception)) => {
                let reasons = exception.cancellation_reasons();
                if !reasons.iter().any(|reason| reason.code() == Some(REFUSED)) {
                    return Err(cancelled(reasons, &unanswered));
                }
                Ok(Some(
                    reasons.iter().filter(|reason| reason.code() == Some(REFUSED)).map(item_of).collect(),
                ))
            }
            _ => Err(store_error(&error, &unanswered)),
        }
    }

    fn transacted(&self, change: Change) -> Result<TransactWriteItem, StoreError> {
        let names = Some(change.terms.names.into_iter().collect());
        let values = values(change.terms.values);
        let old = ReturnValuesOnConditionCheckFailure::AllOld;
        let (table, key) = (self.table(change.table), Some(attribute::key(&change.pk)));
        let item = match change.update {
            Some(update) => Update::builder()
                .table_name(table)
                .set_key(key)
                .update_expression(update)
                .condition_expression(change.condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .return_values_on_condition_check_failure(old)
                .build()
                .map(|update| TransactWriteItem::builder().update(update).build()),
            None => ConditionCheck::builder()
                .table_name(table)
                .set_key(key)
                .condition_expression(change.condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .return_values_on_condition_check_failure(old)
                .build()
                .map(|check| TransactWriteItem::builder().condition_check(check).build()),
        };
        item.map_err(|error| StoreError::Invalid(error.to_string()))
    }
}

fn item_of(reason: &CancellationReason) -> Option<Item> {
    reason.item().cloned()
}

/// DynamoDB refuses an empty map of values.
pub(super) fn values(
    values: std::collections::BTreeMap<String, aws_sdk_dynamodb::types::AttributeValue>,
) -> Option<Item> {
    (!values.is_empty()).then(|| values.into_iter().collect())
}

/// The write was refused, but perhaps only because an earlier try of it was
/// applied; a read that fails leaves that open, however it failed.
fn still_unknown(error: StoreError) -> StoreError {
    match error {
        StoreError::Throttled | StoreError::Contended => StoreError::Unknown(error.to_string()),
        other => other,
    }
}
