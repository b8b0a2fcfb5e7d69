//! A processor is frozen between its effect and the writing of it, for longer
//! than its lease, and then goes on.

use super::{Healthy, at_rest, received};
use crate::driven;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::driven::{Driven, INVOCATION};
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::kept::{Item, Received};
use sekali_tests::e2e::runtime_api::Ended;
use sekali_tests::e2e::vendors::{shop, unique};
use serde_json::{Value, json};
use std::time::Duration;

/// Longer than any lease.
const LATER: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_worker_that_was_frozen_over_its_lease_writes_nothing_over_its_successor() -> Result<()> {
    // INV-5: its own call has ended, and so it wants to write "done"; but the
    // action is in another's hands now, and that call is still under way.
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (id, order, first, second) = (unique("msg"), unique("order"), Gate::shut(), Gate::shut());
    received(&driven, &healthy, shop("order.weighed", &id, &order)).await?;
    let manners = [Manner::ActsThenHeld(first.clone()), Manner::ActsThenHeld(second.clone())];
    driven.destination.tell(&order, manners);
    let slow = driven.worker("processor").await?;
    let messages = driven.kept.receive(&driven.kept.queue).await?;
    let records: Vec<Value> = messages.iter().map(Received::record).collect();
    let event = json!({ "Records": records });
    let slow_one = slow.invoke(&event, INVOCATION);
    let freezing = async {
        first.reached().await;
        slow.freeze().await?;
        first.open();
        driven.kept.pass("shop", &id, LATER).await?;
        for message in &messages {
            driven.kept.show(&driven.kept.queue, message).await?;
        }
        Ok::<_, anyhow::Error>(())
    };
    let successor = async {
        freezing.await?;
        driven.hand_over(&healthy.processor).await
    };
    let watching = async {
        second.reached().await;
        let taken = begun(&driven, &order).await?;
        slow.thaw()?;
        Ok::<_, anyhow::Error>(taken)
    };
    let stale = async {
        let (ended, taken) = tokio::join!(slow_one, watching);
        ensure!(matches!(ended?, Ended::Answered(_)), "the frozen worker did not come to its end");
        let after = begun(&driven, &order).await?;
        ensure!(taken? == after, "the stale worker wrote: {after:?}");
        second.open();
        Ok(())
    };
    let (handed, stale) = tokio::join!(successor, stale);
    stale?;
    ensure!(handed? == 1, "nobody took over");
    let event = at_rest(&driven, &healthy, "shop", &id).await?;
    ensure!(event.status() == "processed", "{event:?}");
    ensure!(driven.destination.calls(&order).len() == 2 && driven.destination.acts(&order) == 1);
    driven.destination.check_keys()
}

/// The action while the successor holds it.
async fn begun(driven: &Driven, order: &str) -> Result<Item> {
    let action = driven.kept.action("weigh", &[order]).await?.context("it was begun")?;
    ensure!(action.status() == "begun" && action.number("token") == Some(2), "{action:?}");
    Ok(action)
}

#[tokio::test]
async fn the_late_evidence_of_a_frozen_worker_settles_what_was_marked_in_doubt() -> Result<()> {
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (id, order, gate) = (unique("msg"), unique("order"), Gate::shut());
    received(&driven, &healthy, shop("order.sealed", &id, &order)).await?;
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
