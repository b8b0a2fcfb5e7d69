//! AWS misbehaves under ingest, and what a vendor is answered then; and under
//! the processor, and what becomes of the event.

use super::{deployed, driven};
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::proxy::{Aim, Fault};
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use std::time::Duration;

/// The put of an event alone, not of its payload.
fn event_put(id: &str) -> Aim {
    Aim::any().at("PutItem").naming(id).naming("put_nonce")
}

#[tokio::test]
async fn a_store_that_is_down_or_throttles_is_answered_503_and_the_retry_repairs_it() -> Result<()> {
    // INV-1: it promises nothing, and nothing half-written stays half.
    let deployed = deployed().await?;
    let faults = [
        Fault::Unreachable,
        Fault::Says(500, "InternalServerError"),
        Fault::Says(400, "ThrottlingException"),
    ];
    for fault in faults {
        let payment = Payment::unique();
        let signed = deployed.vendors.sign(payment.paid())?;
        // As many tries as the function's client makes in one delivery.
        deployed.proxy.plan(event_put(&payment.event).times(4), fault.clone());
        let answer = deployed.deliver(&signed).await?;
        ensure!(answer.status == 503, "{fault:?} was answered {answer:?}");
        ensure!(answer.headers.contains_key("retry-after"), "{answer:?}");
        ensure!(deployed.kept.event("stripe", &payment.event).await?.is_none());
        let answer = deployed.deliver(&signed).await?;
        ensure!(answer.status == 202, "the retry after {fault:?} was answered {answer:?}");
        deployed.becomes("stripe", &payment.event, "processed").await?;
        ensure!(deployed.destination.acts(&payment.order) == 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_put_whose_answer_is_lost_recognises_itself_and_is_answered_as_new() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    deployed.proxy.plan(event_put(&payment.event).times(1), Fault::AnswerLost);
    // And its payload was put into a dead socket.
    let payload = Aim::any().at("PutItem").naming(&payment.event).naming("payload|").times(1);
    deployed.proxy.plan(payload, Fault::Silent);
    let answer = deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?;
    ensure!(answer.status == 202 && answer.body["result"] == "new", "{answer:?}");
    let event = deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(event.number("deliveries") == Some(1), "it counted itself: {event:?}");
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn an_event_that_the_queue_refused_is_durable_and_sent_by_the_sweeper() -> Result<()> {
    // INV-1: from a received event there is always a way on.
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let refused = Aim::any().at("SendMessage").naming(&payment.event).times(4);
    deployed.proxy.plan(refused, Fault::Says(500, "InternalError"));
    let answer = deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?;
    ensure!(answer.status == 202, "{answer:?}");
    let event = deployed.kept.event("stripe", &payment.event).await?.context("it is durable")?;
    ensure!(event.status() == "received", "{event:?}");
    deployed.sweep_after("stripe", &payment.event, Duration::from_secs(6 * 60)).await?;
    deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn an_event_that_the_queue_refused_is_sent_by_a_late_enough_retry() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let signed = deployed.vendors.sign(payment.paid())?;
    let refused = Aim::any().at("SendMessage").naming(&payment.event).times(4);
    deployed.proxy.plan(refused, Fault::Unreachable);
    ensure!(deployed.deliver(&signed).await?.status == 202);
    // Longer than it is left to its own message, shorter than until the sweep.
    deployed.kept.pass("stripe", &payment.event, Duration::from_secs(61)).await?;
    let answer = deployed.deliver(&signed).await?;
    ensure!(answer.status == 200 && answer.body["result"] == "duplicate", "{answer:?}");
    deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn a_duplicate_of_an_unfinished_event_is_answered_2xx_only_when_its_payload_is_durable() -> Result<()> {
    // INV-1: the first delivery died between its two puts.
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let signed = deployed.vendors.sign(payment.paid())?;
    let payload_put = || Aim::any().naming(&payment.event).naming("payload|").times(4);
    deployed.proxy.plan(payload_put(), Fault::Unreachable);
    ensure!(deployed.deliver(&signed).await?.status == 503);
    let event = deployed.kept.event("stripe", &payment.event).await?.context("the event alone is stored")?;
    ensure!(deployed.kept.payload(&event).await?.is_none());
    deployed.proxy.plan(payload_put(), Fault::Unreachable);
    ensure!(deployed.deliver(&signed).await?.status == 503, "nothing is durable yet");
    let answer = deployed.deliver(&signed).await?;
    ensure!(answer.status == 200, "{answer:?}");
    ensure!(deployed.kept.payload(&event).await?.is_some(), "2xx, and the payload is missing");
    deployed.sweep_after("stripe", &payment.event, Duration::from_secs(6 * 60)).await?;
    deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn a_processor_that_meets_any_fault_at_any_call_has_one_effect() -> Result<()> {
    // INV-2, INV-6: an answer that was lost is recognised, by the owner nonce
    // or by what stands there; nothing certain becomes doubtful.
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let sweeper = driven.worker("sweeper").await?;
    // Once, so that the client's own next try goes through; and for as many
    // tries as it makes, so that the message has to come again.
    let once = [Fault::AnswerLost, Fault::Unreachable, Fault::Says(400, "ThrottlingException")];
    let faults = once.iter().flat_map(|fault| [(fault, 1), (fault, 4)]);
    let mut points = 0;
    for (fault, times) in faults {
        for number in 0.. {
            let (id, order) = (unique("msg"), unique("order"));
            let signed = driven.vendors.sign(shop("order.shipped", &id, &order))?;
            ensure!(driven.deliver(&ingest, &signed).await?.context("it answers")?.status == 202);
            let from = processor.proxy.calls().len();
            for call in from + number..from + number + times {
                processor.proxy.plan(Aim::any().number(call), fault.clone());
            }
            driven.hand_over(&processor).await?;
            let made = processor.proxy.calls().len() - from;
            driven.come_to_rest(&processor, &sweeper).await?;
            let point = format!("{fault:?} × {times} at call {number}");
            let event = driven.kept.event("shop", &id).await?.context("it is stored")?;
            let (calls, acts) = (driven.destination.calls(&order).len(), driven.destination.acts(&order));
            // A destination that honours no key: its one call is all there may be.
            ensure!(
                event.status() == "processed" && (calls, acts) == (1, 1),
                "{point}: {calls} calls, {event:?}"
            );
            if number >= made {
                break;
            }
            points += 1;
        }
    }
    ensure!(points >= 30, "only {points} points were tried");
    Ok(())
}

#[tokio::test]
async fn a_claim_that_collides_with_another_transaction_is_made_again() -> Result<()> {
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let payment = Payment::unique();
    let answer = driven.deliver(&ingest, &driven.vendors.sign(payment.paid())?).await?;
    ensure!(answer.context("it answers")?.status == 202);
    let claims = Aim::any().at("TransactWriteItems").naming(&payment.event).times(2);
    processor.proxy.plan(claims, Fault::Cancelled("TransactionConflict"));
    ensure!(driven.hand_over(&processor).await? == 1);
    let event = driven.kept.event("stripe", &payment.event).await?.context("it is stored")?;
    // INV-8: waiting for another transaction is not an attempt.
    ensure!(event.status() == "processed" && event.number("attempts") == Some(1), "{event:?}");
    ensure!(driven.destination.calls(&payment.order).len() == 1);
    Ok(())
}
