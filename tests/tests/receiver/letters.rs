//! Messages: what fails for good goes to the dead-letter queue by SQS itself
//! and comes back by a human's hand; one bad record never fails its neighbours.

use super::{deployed, driven};
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::deployed::Deployed;
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::driven::{INVOCATION, failures};
use sekali_tests::e2e::kept::Received;
use sekali_tests::e2e::until::until;
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use serde_json::{Value, json};

/// Waits until SQS has moved a message whose body holds `naming`, and takes it
/// from the dead-letter queue. Others are shown again to whoever waits for them.
async fn dead_letter(deployed: &Deployed, naming: &str) -> Result<Received> {
    let kept = &deployed.kept;
    until(format!("a dead letter with {naming}"), async || {
        let mut found = None;
        for message in kept.receive(&kept.dead_letters).await? {
            if message.body().contains(naming) {
                kept.delete(&kept.dead_letters, &message).await?;
                found = Some(message);
            } else {
                kept.show(&kept.dead_letters, &message).await?;
            }
        }
        Ok(found)
    })
    .await
}

/// What a console's redrive does, or a script's: the same body, sent again. It
/// has lain there for a while, so it was written more than a minute ago.
async fn redrive(deployed: &Deployed, message: &Received) -> Result<()> {
    let mut body: Value = serde_json::from_str(message.body())?;
    let written = body["written_at"].as_i64().context("a message says when it was written")?;
    body["written_at"] = (written - 61_000).into();
    deployed.kept.send(&body.to_string()).await
}

#[tokio::test]
async fn a_rejected_event_fails_with_its_cause_and_a_redrive_opens_its_next_generation() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    deployed.destination.tell(&payment.order, [Manner::Says(422, &[])]);
    ensure!(deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?.status == 202);
    let event = deployed.becomes("stripe", &payment.event, "failed").await?;
    ensure!(event.text("reason") == "rejected" && event.text("cause").contains("422"), "{event:?}");
    let letter = dead_letter(deployed, &payment.event).await?;
    let source = &letter.0["Attributes"]["DeadLetterQueueSourceArn"];
    ensure!(source.is_null() || source.as_str().is_some_and(|arn| arn.ends_with("-events")), "{source}");
    ensure!(deployed.destination.calls(&payment.order).len() == 1, "a certain no was asked again");

    redrive(deployed, &letter).await?;
    let event = deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(event.number("generation") == Some(2), "{event:?}");
    let action = deployed.kept.action_of(&event).await?;
    ensure!(action.number("generation") == Some(2) && action.status() == "done", "{action:?}");
    let calls = deployed.destination.calls(&payment.order);
    // INV-2: a new generation is a new call; it carries a key of its own.
    ensure!(calls.len() == 2 && calls[0].key != calls[1].key, "{calls:?}");
    ensure!(deployed.destination.acts(&payment.order) == 1);

    // Redriven once more it finds a finished event, and nothing happens.
    redrive(deployed, &letter).await?;
    let probe = Payment::unique();
    ensure!(deployed.deliver(&deployed.vendors.sign(probe.paid())?).await?.status == 202);
    deployed.becomes("stripe", &probe.event, "processed").await?;
    until("the queue to be empty", async || {
        Ok((deployed.aws().depth(&deployed.kept.queue).await?.0 == 0).then_some(()))
    })
    .await?;
    ensure!(deployed.destination.calls(&payment.order).len() == 2);
    let event = deployed.kept.event("stripe", &payment.event).await?.context("it stays")?;
    ensure!(event.number("generation") == Some(2) && event.status() == "processed", "{event:?}");
    Ok(())
}

#[tokio::test]
async fn a_message_that_is_not_ours_goes_to_the_dead_letter_queue_and_not_away() -> Result<()> {
    // INV-1
    let deployed = deployed().await?;
    let foreign = unique("foreign");
    deployed.kept.send(&format!("{{\"hello\":\"{foreign}\"}}")).await?;
    let letter = dead_letter(deployed, &foreign).await?;
    ensure!(letter.body().contains(&foreign));
    let unknown = unique("unknown");
    let now = sekali::time::Clock::now(&sekali_aws::SystemClock).0;
    let message = json!({ "event": format!("event|{unknown}"), "generation": 1, "correlation": "c", "written_at": now });
    deployed.kept.send(&message.to_string()).await?;
    dead_letter(deployed, &unknown).await.map(drop)
}

#[tokio::test]
async fn one_bad_record_of_a_batch_does_not_fail_its_neighbours() -> Result<()> {
    let driven = driven().await?;
    let ingest = driven.worker("ingest").await?;
    let processor = driven.worker("processor").await?;
    let names: Vec<(String, String)> = (0..9).map(|_| (unique("msg"), unique("order"))).collect();
    for (id, order) in &names {
        let signed = driven.vendors.sign(shop("order.paid", id, order))?;
        let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
        ensure!(answer.status == 202);
    }
    driven.kept.send("not ours").await?;
    let (third, fifth) = (&names[2], &names[4]);
    driven.destination.tell(&third.1, [Manner::Says(429, &[])]);
    driven.destination.tell(&fifth.1, [Manner::Says(422, &[])]);
    let messages = driven.kept.receive(&driven.kept.queue).await?;
    ensure!(messages.len() == 10, "a batch of {}", messages.len());
    let records: Vec<Value> = messages.iter().map(Received::record).collect();
    let answer = processor.answer(&json!({ "Records": records }), INVOCATION).await?;

    let reported = failures(&answer)?;
    let expected: Vec<_> = messages
        .iter()
        .filter(|message| {
            let body = message.body();
            body == "not ours" || body.contains(&third.0) || body.contains(&fifth.0)
        })
        .map(|message| message.id().to_owned())
        .collect();
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    ensure!(sorted(reported) == sorted(expected), "{answer}");
    for (id, order) in &names {
        let event = driven.kept.event("shop", id).await?.context("it is stored")?;
        let (status, acts) = match id {
            id if *id == third.0 => ("processing", 0),
            id if *id == fifth.0 => ("failed", 0),
            _ => ("processed", 1),
        };
        ensure!(event.status() == status, "{id} is {}", event.status());
        ensure!(driven.destination.acts(order) == acts, "{order}");
    }
    Ok(())
}
