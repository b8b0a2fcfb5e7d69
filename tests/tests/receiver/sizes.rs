//! Bodies of every size through the functions: stored whole before they are
//! acknowledged, read whole before their effect.

use super::driven;
use anyhow::{Context, Result, ensure};
use sekali_tests::contract::sample::noise;
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::proxy::{Aim, Fault};
use sekali_tests::e2e::vendors::{Delivery, unique};
use sekali_tests::e2e::worker::Worker;
use serde_json::json;

const SIZES: [usize; 8] = [0, 1_000, 255_000, 257_000, 399_000, 401_000, 1_100_000, 4_400_000];

/// What one item takes of a body.
const ONE_ITEM: usize = 390 * 1024;

/// A paid order with a filler of this size: text, which deflates well, or hex
/// of bytes that do not.
fn paid(id: &str, order: &str, size: usize, shrinks: bool) -> Delivery {
    let filler = match shrinks {
        true => "an invented line of a parcel ".chars().cycle().take(size).collect(),
        false => sekali::key::hex(noise(size.div_ceil(2)).body()),
    };
    let body = json!({ "type": "order.paid", "timestamp": "2026-09-21T14:13:25.000Z",
        "data": { "filler": filler, "order_id": order, "total": 4_900 } });
    Delivery::new("bulk", body.to_string()).header("webhook-id", id)
}

/// The event's status after all messages were handed over.
async fn processed(driven: &Driven, processor: &Worker, id: &str) -> Result<String> {
    while driven.hand_over(processor).await? > 0 {}
    Ok(driven.kept.event("bulk", id).await?.context("it is stored")?.status().to_owned())
}

#[tokio::test]
async fn a_body_of_any_size_is_acknowledged_and_has_its_effect() -> Result<()> {
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    for size in SIZES {
        for shrinks in [true, false] {
            let (id, order) = (unique("msg"), unique("order"));
            let signed = driven.vendors.sign(paid(&id, &order, size, shrinks))?;
            let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
            ensure!(answer.status == 202, "{size} {shrinks}: {answer:?}");
            let status = processed(&driven, &processor, &id).await?;
            ensure!(status == "processed", "{size} {shrinks}: {status}");
            ensure!(driven.destination.acts(&order) == 1, "{size} {shrinks}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_body_that_is_no_json_is_held_whole_whatever_its_size() -> Result<()> {
    // INV-9: it needs a human and carries no TTL, and neither does any part.
    let driven = driven().await?;
    let ingest = driven.worker("ingest").await?;
    for size in SIZES {
        let id = unique("msg");
        let body = noise(size);
        let delivery = Delivery::new("bulk", body.body()).header("webhook-id", &*id);
        let answer = driven.deliver(&ingest, &driven.vendors.sign(delivery)?).await?;
        let answer = answer.context("it answers")?;
        ensure!(answer.status == 202, "{size}: {answer:?}");
        let event = driven.kept.event("bulk", &id).await?.context("it is stored")?;
        ensure!(event.status() == "held" && !event.has("expires_at"), "{size}: {event:?}");
        let items = driven.kept.payload_items(&event).await?;
        ensure!(!items.is_empty() && items.iter().all(|item| !item.has("expires_at")), "{size}");
        ensure!((items.len() > 1) == (size > ONE_ITEM), "{size}: {} items", items.len());
    }
    Ok(())
}

#[tokio::test]
async fn a_body_above_the_bound_of_its_endpoint_is_413_and_stored_nowhere() -> Result<()> {
    let driven = driven().await?;
    let ingest = driven.worker("ingest").await?;
    let (id, order) = (unique("msg"), unique("order"));
    let signed = driven.vendors.sign(paid(&id, &order, 4_608_000, true))?;
    let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
    ensure!(answer.status == 413, "{answer:?}");
    let calls = ingest.proxy.calls();
    ensure!(!calls.iter().any(|call| call == "PutItem" || call == "SendMessage"), "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn an_ingest_killed_between_the_parts_of_a_payload_loses_nothing() -> Result<()> {
    // INV-1: the head is put last, so what is half there is not there.
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let mut points = 0;
    for number in 0..12 {
        let (id, order) = (unique("msg"), unique("order"));
        let signed = driven.vendors.sign(paid(&id, &order, 1_600_000, false))?;
        let (victim, gate) = (driven.worker("ingest").await?, Gate::shut());
        victim.proxy.plan(Aim::any().at("PutItem").nth(number), Fault::HeldAfter(gate.clone()));
        let died = victim.killed_at(&gate, driven.deliver(&victim, &signed)).await?.is_none();
        // What it left behind is a payload that is missing: nothing is done.
        while driven.hand_over(&processor).await? > 0 {}
        let retried = driven.deliver(&ingest, &signed).await?.context("it answers")?;
        ensure!([200, 202].contains(&retried.status), "killed at {number}: {retried:?}");
        let event = driven.kept.event("bulk", &id).await?.context("it is stored")?;
        if event.status() == "received" {
            driven.kept.pass("bulk", &id, std::time::Duration::from_secs(61)).await?;
            driven.deliver(&ingest, &signed).await?;
        }
        let status = processed(&driven, &processor, &id).await?;
        ensure!(status == "processed", "killed at {number}: {status}");
        ensure!(driven.destination.calls(&order).len() == 1, "killed at {number}");
        if !died {
            break;
        }
        points += 1;
    }
    ensure!(points >= 4, "only {points} points were tried");
    Ok(())
}
