//! An ingest and a sweeper are killed at every call that they make.

use super::{CALLS, Healthy, Side, at_rest};
use crate::driven;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::driven::INVOCATION;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::proxy::{Aim, Fault};
use sekali_tests::e2e::vendors::Payment;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn an_ingest_killed_at_any_call_loses_nothing_that_was_acknowledged() -> Result<()> {
    // INV-1: whatever was half written, the vendor's retry makes whole.
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let mut points = 0;
    for side in [Side::Before, Side::After] {
        for number in 0..CALLS {
            let payment = Payment::unique();
            let signed = driven.vendors.sign(payment.paid())?;
            let (victim, gate) = (driven.worker("ingest").await?, Gate::shut());
            victim.proxy.plan(Aim::any().number(number), side.held(&gate));
            let died = victim.killed_at(&gate, driven.deliver(&victim, &signed)).await?.is_none();
            let point = format!("killed {side:?} call {number} of {:?}", victim.proxy.calls());
            let retried = driven.deliver(&healthy.ingest, &signed).await?.context("it answers")?;
            ensure!([200, 202].contains(&retried.status), "{point}: the retry was answered {retried:?}");
            let event = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
            ensure!(event.status() == "processed", "{point}: {event:?}");
            ensure!(driven.destination.calls(&payment.order).len() == 1, "{point}");
            if !died {
                break;
            }
            points += 1;
        }
    }
    // Two puts and a message, on either side of each.
    ensure!(points >= 6, "only {points} points were tried");
    Ok(())
}

#[tokio::test]
async fn an_ingest_killed_before_it_sends_leaves_a_durable_event_to_the_sweeper() -> Result<()> {
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (payment, gate) = (Payment::unique(), Gate::shut());
    let victim = driven.worker("ingest").await?;
    victim.proxy.plan(Aim::any().at("SendMessage"), Fault::HeldBefore(gate.clone()));
    let signed = driven.vendors.sign(payment.paid())?;
    ensure!(victim.killed_at(&gate, driven.deliver(&victim, &signed)).await?.is_none(), "it sent nothing");
    ensure!(driven.kept.receive(&driven.kept.queue).await?.is_empty());
    // No retry of the vendor's: the sweeper alone finds it.
    let event = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
    ensure!(event.status() == "processed" && driven.destination.acts(&payment.order) == 1, "{event:?}");
    Ok(())
}

#[tokio::test]
async fn a_sweeper_killed_at_any_call_is_made_good_by_the_next() -> Result<()> {
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let mut points = 0;
    for number in 0..CALLS {
        let payment = Payment::unique();
        let signed = driven.vendors.sign(payment.paid())?;
        // Its own message is lost, so that only the sweeper brings it on.
        healthy.ingest.proxy.plan(Aim::any().at("SendMessage").naming(&payment.event), Fault::Unreachable);
        ensure!(driven.deliver(&healthy.ingest, &signed).await?.context("it answers")?.status == 202);
        driven.kept.pass("stripe", &payment.event, Duration::from_secs(6 * 60)).await?;
        let (victim, gate) = (driven.worker("sweeper").await?, Gate::shut());
        let of_the_event = Aim::any().at("GetItem").at("UpdateItem").at("SendMessage").naming(&payment.event);
        victim.proxy.plan(
            of_the_event.nth(number / 2),
            if number % 2 == 0 { Side::Before } else { Side::After }.held(&gate),
        );
        let died = victim.killed_at(&gate, victim.invoke(&json!({}), INVOCATION)).await?.is_none();
        let event = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
        ensure!(event.status() == "processed", "killed at {number}: {event:?}");
        ensure!(driven.destination.calls(&payment.order).len() == 1, "killed at {number}");
        if !died {
            break;
        }
        points += 1;
    }
    ensure!(points >= 4, "only {points} points were tried");
    Ok(())
}
