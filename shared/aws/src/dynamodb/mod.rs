//! The store on DynamoDB.

mod captured;
mod erase;
mod error;
mod expression;
mod item;
pub mod listing;
mod payload;
mod read;
mod record;
mod store;
mod switches;
#[cfg(test)]
mod tests;
mod write;

#[cfg(test)]
pub(crate) use item::tests as samples;
pub use switches::SwitchedOn;

use aws_sdk_dynamodb::Client;
use expression::Table;

/// The names of the three tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// Events, and their payloads as items of their own.
    pub events: String,
    /// Resources.
    pub resources: String,
    /// Actions.
    pub actions: String,
}

impl Tables {
    fn name(&self, table: Table) -> &str {
        match table {
            Table::Events => &self.events,
            Table::Resources => &self.resources,
            Table::Actions => &self.actions,
        }
    }
}

/// The index of open events: sparse, on the events table. Its hash key is the
/// part and shard, its range key the due time in milliseconds.
pub const INDEX: &str = "open";

/// The attribute by which DynamoDB removes items, in seconds.
pub const TTL_ATTRIBUTE: &str = item::event::EXPIRES;

/// The hash key of the index.
pub const INDEX_HASH_KEY: &str = item::event::OPEN;

/// The range key of the index.
pub const INDEX_RANGE_KEY: &str = item::event::DUE;

/// The hash key of every table.
pub const TABLE_KEY: &str = item::attribute::KEY;

/// The store on three DynamoDB tables.
///
/// Every read is strongly consistent but the index. Every write is
/// conditional. Writes of events, actions and resources set and remove the
/// attributes that this version knows and leave others as they are, so that
/// a rollback takes nothing from items that a newer version wrote.
#[derive(Debug, Clone)]
pub struct DynamoStore {
    client: Client,
    tables: Tables,
}

impl DynamoStore {
    /// The store on these tables.
    pub fn new(client: Client, tables: Tables) -> Self {
        Self { client, tables }
    }

    /// Its client, for what the port does not offer.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    fn table(&self, table: Table) -> &str {
        self.tables.name(table)
    }
}
