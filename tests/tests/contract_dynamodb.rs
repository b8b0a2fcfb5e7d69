//! The contract on DynamoDB, and the model and DynamoDB side by side.

use anyhow::Context;
use aws_sdk_dynamodb::types::AttributeValue;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use sekali::ids::Generation;
use sekali::ports::{Erasure, Store, Write};
use sekali::protocol::action::{Action, ActionGuard, ActionStatus, EffectResult};
use sekali::protocol::event::EventStatus;
use sekali::protocol::resource::{Resource, ResourceGuard};
use sekali::protocol::transition::{ResourceWrite, Transition};
use sekali_aws::DynamoStore;
use sekali_tests::contract::differential::{agree, sequences};
use sekali_tests::contract::sample::{NOW, Sample, content, event_write, expires, facts, noise, progress};
use sekali_tests::emulator;
use std::collections::HashMap;
use std::path::Path;

async fn open() -> anyhow::Result<DynamoStore> {
    emulator::fresh_store(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract")).await
}

mod dynamodb {
    use super::open;

    sekali_tests::contract_tests!(open);
}

/// Random sequences of calls end alike on the model and on DynamoDB: what is
/// proven of the model then holds for what is deployed.
#[test]
fn random_sequences_of_calls_end_alike_on_the_model_and_on_dynamodb() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = runtime.block_on(open())?;
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(64) });
    let end = runner.run(&sequences(), |sequence| {
        let agreed = runtime.block_on(agree(&store, &sequence));
        agreed.map_err(|error| TestCaseError::fail(format!("{error:#}")))
    });
    end.map_err(|error| match error {
        TestError::Fail(reason, sequence) => anyhow::anyhow!("{reason}\n{sequence:#?}"),
        TestError::Abort(reason) => anyhow::anyhow!("aborted: {reason}"),
    })
}

/// An item as it lies in its table.
async fn raw(store: &DynamoStore, table: &str, key: &str) -> anyhow::Result<HashMap<String, AttributeValue>> {
    let request = store.client().get_item().table_name(table).consistent_read(true);
    let answer = request.key("pk", AttributeValue::S(key.to_owned())).send().await?;
    answer.item.with_context(|| format!("{key} is gone"))
}

/// As a newer version might have left it: another form, an attribute more.
async fn make_newer(store: &DynamoStore, table: &str, key: &str) -> anyhow::Result<()> {
    let request = store.client().update_item().table_name(table);
    let request = request.key("pk", AttributeValue::S(key.to_owned()));
    let request = request.update_expression("SET newer = :newer, #schema = :schema");
    let request = request.expression_attribute_names("#schema", "schema");
    let request = request.expression_attribute_values(":newer", AttributeValue::S("kept".to_owned()));
    request.expression_attribute_values(":schema", AttributeValue::N("2".to_owned())).send().await?;
    Ok(())
}

/// After a rollback an older version meets items that a newer one wrote. It
/// reads what it knows and takes nothing away.
#[tokio::test]
async fn what_a_newer_version_wrote_survives_every_write_of_this_one() -> anyhow::Result<()> {
    let (store, sample) = (open().await?, Sample::new());
    let (event, action, resource) =
        (sample.event("evt_1"), sample.action("order_1"), sample.resource("pay_1"));
    let claim = |event, action_from, action: &Action, resource_from, resource: &Resource| Transition {
        event,
        resource: Some(ResourceWrite { from: resource_from, to: resource.clone() }),
        ..Transition::action(action_from, action.clone())
    };
    store.create_event(&event).await?;
    let begun = claim(None, ActionGuard::Absent, &action, ResourceGuard::Absent, &resource);
    assert_eq!(store.write(&begun).await?, Write::Applied);
    let places = [
        (&store.tables().events, event.key.as_str()),
        (&store.tables().actions, action.key.as_str()),
        (&store.tables().resources, resource.key.as_str()),
    ];
    for (table, key) in places {
        make_newer(&store, table, key).await?;
    }
    store.count_duplicate(&event.key, None, NOW).await?;
    store.record_conflict(&event.key, &content("other"), NOW).await?;
    assert_eq!(store.adopt(&event, &facts("third"), NOW).await?, Write::Applied);
    let read = store.event(&event.key).await?.context("the event is gone")?;
    let moved = Resource { version: resource.version.next(), ..resource.clone() };
    let taken_over = Action { token: action.token.next(), ..action.clone() };
    let write = event_write(&event.key, read.guard(), progress(EventStatus::Processing)).event;
    let from = ResourceGuard::of(Some(&resource));
    let transition = claim(write, action.as_read(), &taken_over, from, &moved);
    assert_eq!(store.write(&transition).await?, Write::Applied);
    for (table, key) in places {
        let item = raw(&store, table, key).await?;
        assert_eq!(item.get("newer"), Some(&AttributeValue::S("kept".to_owned())), "{key}");
        assert_eq!(item.get("schema"), Some(&AttributeValue::N("2".to_owned())), "{key}");
    }
    Ok(())
}

/// INV-9: DynamoDB removes by one attribute, a number of whole seconds; what
/// needs a human does not have it at all.
#[tokio::test]
async fn the_ttl_stands_where_dynamodb_looks_for_it_and_in_seconds() -> anyhow::Result<()> {
    let (store, sample) = (open().await?, Sample::new());
    let described = store.client().describe_time_to_live().table_name(&store.tables().events).send().await?;
    let ttl = described.time_to_live_description.context("no TTL")?;
    let attribute = ttl.attribute_name.context("no attribute for the TTL")?;
    let event = sample.event("evt_1");
    let expires = event.progress.expires.context("a received event expires")?;
    assert_eq!(expires.0 / 10_i64.pow(9), 1, "not in seconds");
    store.create_event(&event).await?;
    let item = raw(&store, &store.tables().events, event.key.as_str()).await?;
    assert_eq!(item.get(&attribute), Some(&AttributeValue::N(expires.0.to_string())));
    let held = event_write(&event.key, event.guard(), progress(EventStatus::Held));
    assert_eq!(store.write(&held).await?, Write::Applied);
    let item = raw(&store, &store.tables().events, event.key.as_str()).await?;
    assert_eq!(item.get(&attribute), None);
    Ok(())
}

/// INV-1: a payload of which a part is missing is a missing payload, for whoever
/// reads it and for whoever keeps it; the same delivery mends it.
#[tokio::test]
async fn a_payload_of_which_a_part_is_missing_is_a_missing_payload() -> anyhow::Result<()> {
    let (store, sample) = (open().await?, Sample::new());
    let (key, hash, payload) = (sample.event_key("evt_1"), content("first"), noise(900_000));
    store.put_payload(&key, &hash, &payload, expires(60)).await?;
    let head_key = format!("payload|{}:{key}|{hash}", key.as_str().len());
    let head = raw(&store, &store.tables().events, &head_key);
    let AttributeValue::S(digest) = head.await?["digest"].clone() else { anyhow::bail!("no digest") };
    let remove = store.client().delete_item().table_name(&store.tables().events);
    remove.key("pk", AttributeValue::S(format!("part|{digest}|1"))).send().await?;
    assert_eq!(store.payload(&key, &hash).await?, None);
    assert!(!store.keep_payload(&key, &hash, Generation::FIRST).await?);
    store.put_payload(&key, &hash, &payload, expires(60)).await?;
    assert!(store.payload(&key, &hash).await? == Some(payload));
    assert!(store.keep_payload(&key, &hash, Generation::FIRST).await?);
    Ok(())
}

/// What an earlier generation sent, and was answered, is content, too.
#[tokio::test]
async fn what_lies_apart_of_every_generation_is_erased() -> anyhow::Result<()> {
    let (store, sample) = (open().await?, Sample::new());
    let sent = |byte: u8| (vec![byte; 2_000], Some(EffectResult(char::from(byte).to_string().repeat(2_000))));
    let mut action = sample.action("order_1");
    action.status = ActionStatus::Done;
    (action.request.body, action.result) = sent(b'a');
    assert_eq!(store.write(&Transition::action(ActionGuard::Absent, action.clone())).await?, Write::Applied);
    let mut second =
        Action { generation: action.generation.next(), token: action.token.next(), ..action.clone() };
    (second.request.body, second.result) = sent(b'b');
    assert_eq!(store.write(&Transition::action(action.as_read(), second.clone())).await?, Write::Applied);
    assert!(store.erase_request(&second).await?);
    let all = store.client().scan().table_name(&store.tables().actions).send().await?;
    assert_eq!(all.count(), 5, "an action, and two bodies and results that lie apart");
    for item in all.items() {
        let body = item.get("body").and_then(|body| body.as_b().ok()).map_or(0, |body| body.as_ref().len());
        let result =
            item.get("result").and_then(|result| result.as_s().ok()).map_or("erased", String::as_str);
        assert_eq!((body, result), (0, "erased"), "{:?}", item["pk"]);
    }
    Ok(())
}
