//! The store against a service that answers what a test tells it to, try by
//! try: what no emulator can be made to do.

use super::item::tests::{bare_event, event_key, full_action, full_event};
use super::*;
use crate::client::{Aws, Patience};
use crate::scripted::{Reply, Tries, error, ok, operations, service};
use sekali::key::EventHash;
use sekali::payload::Payload;
use sekali::ports::{Create, Store, StoreError, Write};
use sekali::protocol::transition::{ActionWrite, EventWrite, Transition};
use sekali::time::{ExpiresAt, UnixMillis};
use serde_json::{Value, json};

/// A store whose service replies in this order; the last reply stays.
async fn scripted(replies: &[Reply]) -> (DynamoStore, Tries) {
    patiently(Patience::FUNCTION, replies).await
}

async fn patiently(patience: Patience, replies: &[Reply]) -> (DynamoStore, Tries) {
    let (url, tries) = service(replies).await;
    let client = Aws::at(&url, patience).dynamodb();
    let tables = Tables { events: "e".into(), resources: "r".into(), actions: "a".into() };
    (DynamoStore::new(client, tables), tries)
}

fn cancelled(reasons: &Value) -> Reply {
    let code = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
    Reply::Answer(400, json!({ "__type": code, "message": "m", "CancellationReasons": reasons }))
}

/// An item in the form in which the service sends it.
fn sent(item: &item::Item) -> Value {
    use aws_sdk_dynamodb::types::AttributeValue as A;
    fn value(attribute: &A) -> Value {
        match attribute {
            A::S(text) => json!({ "S": text }),
            A::N(number) => json!({ "N": number }),
            A::Bool(flag) => json!({ "BOOL": flag }),
            A::L(list) => json!({ "L": list.iter().map(value).collect::<Vec<_>>() }),
            A::B(blob) => json!({ "B": aws_smithy_types::base64::encode(blob) }),
            other => panic!("{other:?} is in no item"),
        }
    }
    item.iter()
        .map(|(name, attribute)| (name.clone(), value(attribute)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn event_write() -> Transition {
    let (from, to) = (bare_event().guard(), full_event().progress);
    Transition::event(EventWrite { key: event_key(), from, to, content: None })
}

fn claim() -> Transition {
    let put = ActionWrite::Put { from: full_action().held(), to: Box::new(full_action()) };
    Transition { action: Some(put), ..event_write() }
}

fn action_item() -> item::Item {
    let attributes = item::action::attributes(&full_action()).unwrap();
    item::attribute::whole(full_action().key.as_str(), attributes)
}

#[tokio::test]
async fn throttled_to_the_end_is_throttled() {
    let (store, tries) = scripted(&[error(400, "ThrottlingException")]).await;
    assert_eq!(store.write(&event_write()).await, Err(StoreError::Throttled));
    assert_eq!(operations(&tries).len(), 4, "every try that it has");
}

// INV-6: the first try may have been written.
#[tokio::test]
async fn throttled_after_a_lost_answer_is_unknown() {
    let (store, _) = scripted(&[Reply::Cut, error(400, "ThrottlingException")]).await;
    assert!(matches!(store.write(&event_write()).await, Err(StoreError::Unknown(_))));
    let (store, _) =
        scripted(&[error(500, "InternalServerError"), error(400, "TransactionConflictException")]).await;
    assert!(matches!(store.write(&event_write()).await, Err(StoreError::Unknown(_))));
}

#[tokio::test]
async fn no_answer_at_all_is_unknown() {
    let (store, _) = scripted(&[Reply::Cut]).await;
    assert!(matches!(store.write(&claim()).await, Err(StoreError::Unknown(_))));
    let (store, _) = scripted(&[error(500, "InternalServerError")]).await;
    assert!(matches!(store.event(&event_key()).await, Err(StoreError::Unknown(_))));
}

#[tokio::test]
async fn a_held_item_is_contended_and_certainly_not_written() {
    let (store, _) = scripted(&[error(400, "TransactionConflictException")]).await;
    assert_eq!(store.write(&event_write()).await, Err(StoreError::Contended));
    let (store, _) =
        scripted(&[cancelled(&json!([{ "Code": "None" }, { "Code": "TransactionConflict" }]))]).await;
    assert_eq!(store.write(&claim()).await, Err(StoreError::Contended));
}

#[tokio::test]
async fn what_is_never_taken_is_invalid() {
    let (store, _) = scripted(&[error(400, "ValidationException")]).await;
    assert_eq!(store.write(&event_write()).await, Err(StoreError::Invalid("ValidationException".into())));
}

// A lost answer of our own is recognised by what is stored.
#[tokio::test]
async fn a_single_write_that_was_applied_before_is_applied() {
    let refused = |item: Value| {
        let code = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
        Reply::Answer(400, json!({ "__type": code, "message": "m", "Item": item }))
    };
    let (store, _) = scripted(&[Reply::Cut, refused(sent(&item::event::encode(&full_event())))]).await;
    assert_eq!(store.write(&event_write()).await, Ok(Write::Applied));
    let (store, _) = scripted(&[refused(sent(&item::event::encode(&bare_event())))]).await;
    assert_eq!(store.write(&event_write()).await, Ok(Write::Refused));
}

#[tokio::test]
async fn a_transaction_that_was_applied_before_is_applied_only_if_all_of_it_stands() {
    let event = sent(&item::event::encode(&full_event()));
    let reasons = json!([{ "Code": "ConditionalCheckFailed", "Item": event }, { "Code": "None" }]);
    let stands = ok(json!({ "Item": sent(&action_item()) }));
    let (store, tries) = scripted(&[cancelled(&reasons), stands]).await;
    assert_eq!(store.write(&claim()).await, Ok(Write::Applied));
    assert_eq!(operations(&tries), ["TransactWriteItems", "GetItem"]);

    let (store, _) = scripted(&[cancelled(&reasons), ok(json!({}))]).await;
    assert_eq!(store.write(&claim()).await, Ok(Write::Refused));
}

// INV-6: a refused write whose items cannot be looked at may have been applied.
#[tokio::test]
async fn a_refusal_that_cannot_be_looked_into_is_unknown() {
    let event = sent(&item::event::encode(&full_event()));
    let reasons = json!([{ "Code": "ConditionalCheckFailed", "Item": event }, { "Code": "None" }]);
    let (store, _) = scripted(&[cancelled(&reasons), error(400, "ThrottlingException")]).await;
    assert!(matches!(store.write(&claim()).await, Err(StoreError::Unknown(_))));
}

// The service recognises a try whose answer was lost by its token.
#[tokio::test]
async fn every_try_of_a_transaction_carries_the_same_token() {
    let (store, tries) = scripted(&[Reply::Cut, error(500, "InternalServerError"), ok(json!({}))]).await;
    assert_eq!(store.write(&claim()).await, Ok(Write::Applied));
    let tokens: Vec<_> =
        tries.lock().unwrap().iter().map(|(_, body)| body["ClientRequestToken"].clone()).collect();
    assert_eq!(tokens.len(), 3);
    assert!(tokens[0].is_string() && tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
}

#[tokio::test]
async fn a_created_event_whose_answer_was_lost_comes_back_with_its_own_nonce() {
    let code = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
    let stored = sent(&item::event::encode(&bare_event()));
    let refused = Reply::Answer(400, json!({ "__type": code, "message": "m", "Item": stored }));
    let (store, _) = scripted(&[Reply::Cut, refused]).await;
    assert_eq!(store.create_event(&bare_event()).await, Ok(Create::Exists(Box::new(bare_event()))));
}

#[tokio::test]
async fn reads_are_strongly_consistent() {
    let (store, tries) = scripted(&[ok(json!({}))]).await;
    assert_eq!(store.event(&event_key()).await, Ok(None));
    assert_eq!(store.payload(&event_key(), &EventHash::from_stored("h")).await, Ok(None));
    let tries = tries.lock().unwrap();
    assert!(tries.iter().all(|(operation, body)| operation == "GetItem" && body["ConsistentRead"] == true));
    assert_eq!(tries.len(), 2);
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_sent() {
    let (store, tries) = scripted(&[ok(json!({}))]).await;
    let mut action = full_action();
    action.request.body = vec![0; 400 * 1024];
    let write = Transition::action(full_action().held(), action);
    assert!(matches!(store.write(&write).await, Err(StoreError::Invalid(_))));
    assert_eq!(operations(&tries), [""; 0]);
}

// INV-1: whoever finds the head finds all of it.
#[tokio::test]
async fn the_head_of_a_payload_in_parts_is_put_when_all_of_them_are_there() {
    let key_of = |body: &Value| body["Item"]["pk"]["S"].as_str().unwrap().to_owned();
    // The service reads one large request after the other.
    let (store, tries) = patiently(Patience::PERSON, &[ok(json!({}))]).await;
    let hash = EventHash::from_stored("h");
    assert_eq!(store.put_payload(&event_key(), &hash, &noise(1_000_000), ExpiresAt(1)).await, Ok(()));
    let keys: Vec<_> = tries.lock().unwrap().iter().map(|(_, body)| key_of(body)).collect();
    let (head, parts) = keys.split_last().unwrap();
    assert!(head.starts_with("payload|") && parts.len() == 3, "{keys:?}");
    assert!(parts.iter().all(|part| part.starts_with("part|")), "{keys:?}");

    let (store, tries) = patiently(Patience::PERSON, &[error(400, "ValidationException")]).await;
    let put = store.put_payload(&event_key(), &hash, &noise(1_000_000), ExpiresAt(1)).await;
    assert!(matches!(put, Err(StoreError::Invalid(_))), "{put:?}");
    assert!(tries.lock().unwrap().iter().all(|(_, body)| key_of(body).starts_with("part|")));
}

/// A payload that does not shrink.
fn noise(size: usize) -> Payload {
    let mut state = 1_u32;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_be_bytes()[0]
    };
    Payload::new((0..size).map(|_| draw()).collect(), [])
}

#[tokio::test]
async fn a_count_is_not_a_reading_and_writing_back() {
    let (store, tries) =
        scripted(&[ok(json!({ "Attributes": sent(&item::event::encode(&full_event())) }))]).await;
    assert_eq!(store.count_duplicate(&event_key(), None, UnixMillis(1)).await, Ok(Some(full_event())));
    assert_eq!(operations(&tries), ["UpdateItem"]);
}
