//! The tables, made by API calls: for tests and local runs. A deployment
//! makes them from its template.

use crate::dynamodb::{INDEX, INDEX_HASH_KEY, INDEX_RANGE_KEY, TABLE_KEY, TTL_ATTRIBUTE, Tables};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, TimeToLiveSpecification,
};
use std::time::Duration;
use thiserror::Error;

/// A new table is there by then, or something is wrong.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A table was not made; for a person to read.
#[derive(Debug, Error)]
#[error("the table {table} was not made: {cause}")]
pub struct NotMade {
    table: String,
    cause: String,
}

/// Makes the three tables, the index of open events and the TTL, and waits
/// until they can be used.
///
/// # Errors
/// One could not be made, for instance because it is already there.
pub async fn create_all(client: &Client, tables: &Tables) -> Result<(), NotMade> {
    for name in [&tables.events, &tables.resources, &tables.actions] {
        let not_made = |cause| NotMade { table: name.clone(), cause };
        let mut request = table(client, name).map_err(|error| not_made(error.to_string()))?;
        if *name == tables.events {
            request = with_index(request).map_err(|error| not_made(error.to_string()))?;
        }
        request.send().await.map_err(|error| not_made(crate::describe(&error)))?;
        let wait = client.wait_until_table_exists().table_name(name).wait(LONGEST_WAIT).await;
        wait.map_err(|error| not_made(crate::describe(&error)))?;
    }
    let not_made = |cause| NotMade { table: tables.events.clone(), cause };
    let ttl = TimeToLiveSpecification::builder().attribute_name(TTL_ATTRIBUTE).enabled(true).build();
    let ttl = ttl.map_err(|error| not_made(error.to_string()))?;
    let request = client.update_time_to_live().table_name(&tables.events).time_to_live_specification(ttl);
    request.send().await.map(drop).map_err(|error| not_made(crate::describe(&error)))
}

fn table(client: &Client, name: &str) -> Result<CreateTableFluentBuilder, BuildError> {
    Ok(client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute(TABLE_KEY, ScalarAttributeType::S)?)
        .key_schema(element(TABLE_KEY, KeyType::Hash)?))
}

fn with_index(request: CreateTableFluentBuilder) -> Result<CreateTableFluentBuilder, BuildError> {
    let index = GlobalSecondaryIndex::builder()
        .index_name(INDEX)
        .key_schema(element(INDEX_HASH_KEY, KeyType::Hash)?)
        .key_schema(element(INDEX_RANGE_KEY, KeyType::Range)?)
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()?;
    Ok(request
        .attribute_definitions(attribute(INDEX_HASH_KEY, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(INDEX_RANGE_KEY, ScalarAttributeType::N)?)
        .global_secondary_indexes(index))
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn element(name: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}
