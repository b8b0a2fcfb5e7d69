//! A processor is frozen between its effect and the writing of it, for longer
//! than its lease, and then goes on.

use super::{Healthy, at_rest, received};
use crate::driven;
use anyhow::{Result, ensure};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::driven::INVOCATION;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::kept::Received;
use sekali_tests::e2e::runtime_api::Ended;
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use serde_json::{Value, json};

#[tokio::test]
async fn a_worker_that_was_frozen_over_its_lease_writes_nothing_over_its_successor() -> Result<()> {
    // INV-5
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (payment, gate) = (Payment::unique(), Gate::shut());
    received(&driven, &healthy, payment.paid()).await?;
    driven.destination.tell(&payment.order, [Manner::ActsThenHeld(gate.clone())]);
    let slow = driven.worker("processor").await?;
    let messages = driven.kept.receive(&driven.kept.queue).await?;
    let records: Vec<Value> = messages.iter().map(Received::record).collect();
    let event = json!({ "Records": records });
    let invocation = slow.invoke(&event, INVOCATION);
    let freezing = async {
        gate.reached().await;
        slow.freeze().await?;
        gate.open();
        let done = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
        let action = driven.kept.action_of(&done).await?;
        slow.thaw()?;
        Ok::<_, anyhow::Error>((done, action))
    };
    let (ended, settled) = tokio::join!(invocation, freezing);
    let (done, action) = settled?;
    ensure!(matches!(ended?, Ended::Answered(_)), "the frozen worker did not come to its end");
    ensure!(action.number("token") == Some(2) && action.status() == "done", "{action:?}");
    ensure!(driven.kept.event("stripe", &payment.event).await?.as_ref() == Some(&done), "the event changed");
    ensure!(driven.kept.action_of(&done).await? == action, "the stale worker wrote");
    ensure!(driven.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn the_late_evidence_of_a_frozen_worker_settles_what_was_marked_in_doubt() -> Result<()> {
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (id, order, gate) = (unique("msg"), unique("order"), Gate::shut());
    received(&driven, &healthy, shop("order.shipped", &id, &order)).await?;
    driven.destination.tell(&order, [Manner::ActsThenHeld(gate.clone())]);
    let slow = driven.worker("processor").await?;
    let freezing = async {
        gate.reached().await;
        slow.freeze().await?;
        gate.open();
        let doubted = at_rest(&driven, &healthy, "shop", &id).await?;
        slow.thaw()?;
        Ok::<_, anyhow::Error>(doubted)
    };
    let (handed, doubted) = tokio::join!(driven.hand_over(&slow), freezing);
    handed?;
    ensure!(doubted?.status() == "in_doubt");
    let event = at_rest(&driven, &healthy, "shop", &id).await?;
    ensure!(event.status() == "processed", "{event:?}");
    ensure!(driven.destination.calls(&order).len() == 1);
    Ok(())
}
