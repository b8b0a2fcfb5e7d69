//! What happened to an event: shown by every name that people know it by.

use super::Shift;
use anyhow::{Context, Result, ensure};
use sekali_cli::Ended::{Found, Well};
use sekali_cli::on_call;
use sekali_tests::e2e::desk::{ALICE, ask, texts};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::vendors::{Payment, shop, unique};

#[tokio::test]
async fn an_event_is_found_by_every_name_of_it_and_tells_its_story_in_order() -> Result<()> {
    let shift = Shift::begin().await?;
    let payment = Payment::unique();
    shift.process(payment.paid()).await?;
    shift.deliver(payment.paid(), 200).await?;
    let event = shift.receiver.kept.event("stripe", &payment.event).await?.context("it is stored")?;
    let resource = format!("resource|7:payment|-|{}:{}", payment.payment.len(), payment.payment);
    let names = [
        payment.event.as_str(),
        event.text("correlation"),
        event.text("pk"),
        event.text("action"),
        &resource,
    ];
    for name in names {
        let shown = ask(&shift.desk, &["events", "show", name], Well).await?;
        ensure!(shown.json["event"]["id"] == payment.event.as_str(), "{name}: {}", shown.text);
    }
    let shown = ask(&shift.desk, &["events", "show", &payment.event, "--endpoint", "stripe"], Well).await?;
    ensure!(shown.json["event"]["status"] == "processed" && shown.json["event"]["deliveries"] == 2);
    ensure!(shown.json["action"]["status"] == "done" && shown.json["payload"] == true, "{}", shown.json);
    let told = texts(&shown.json["story"], "/at");
    ensure!(told.is_sorted() && told.len() >= 5, "{}", shown.text);
    for part in ["first delivery", "last delivery of 2", "begun at packing", "pack is done"] {
        ensure!(shown.text.contains(part), "no {part:?} in:\n{}", shown.text);
    }

    let nothing = ask(&shift.desk, &["events", "show", "evt_unheard_of"], Found).await?;
    ensure!(nothing.text.contains("refused"), "{}", nothing.text);
    let other = ask(&shift.desk, &["events", "show", &payment.event, "--endpoint", "shop"], Found).await?;
    ensure!(other.json["found"] == false);
    Ok(())
}

#[tokio::test]
async fn what_needs_a_human_is_listed_counted_and_says_what_to_do() -> Result<()> {
    let shift = Shift::begin().await?;
    let (failed, doubtful, done) = (unique("msg"), unique("msg"), unique("msg"));
    let (no_order, order, other, third) = (unique("msg"), unique("order"), unique("order"), unique("order"));
    shift.receiver.destination.tell(&order, [Manner::Says(422, &[])]);
    shift.receiver.destination.tell(&other, [Manner::Says(500, &[])]);
    shift.process(shop("order.paid", &failed, &order)).await?;
    shift.process(shop("order.shipped", &doubtful, &other)).await?;
    shift.process(shop("order.paid", &done, &third)).await?;
    shift.deliver(shop("order.paid", &no_order, ""), 202).await?;

    for (status, id, next) in
        [("failed", &failed, "redrive"), ("in_doubt", &doubtful, "resolve"), ("held", &no_order, "release")]
    {
        let list = ask(&shift.desk, &["events", "list", "--status", status], Well).await?;
        ensure!(texts(&list.json["events"], "/id") == [id.as_str()], "{status}: {}", list.text);
        let shown = ask(&shift.desk, &["events", "show", id], Well).await?;
        ensure!(shown.json["next"].as_str().is_some_and(|text| text.contains(next)), "{}", shown.text);
        // One by its id alone would leave its letter, and the alarm that it rings.
        let letter = format!("sekali dlq redrive {id} --reason '..'");
        ensure!(status != "failed" || shown.text.contains(&letter), "{}", shown.text);
    }
    let list =
        ask(&shift.desk, &["events", "list", "--type", "order.p*", "--newer-than", "1h"], Well).await?;
    ensure!(texts(&list.json["events"], "/id").len() == 3, "{}", list.text);
    let list = ask(&shift.desk, &["events", "list", "--limit", "2"], Well).await?;
    ensure!(list.json["more"] == true && texts(&list.json["events"], "/id").len() == 2, "{}", list.text);
    for none in [["--older-than", "1h"], ["--endpoint", "stripe"], ["--with-reason", "late"]] {
        let list = ask(&shift.desk, &["events", "list", none[0], none[1]], Well).await?;
        ensure!(list.json["events"] == serde_json::json!([]), "{none:?}: {}", list.text);
    }

    let stats = ask(&shift.desk, &["stats"], Found).await?;
    let shop = &stats.json["endpoints"]["shop"];
    ensure!(shop["by_status"]["failed"] == 1 && shop["by_status"]["in_doubt"] == 1, "{}", stats.text);
    ensure!(shop["held"]["missing_key_part"] == 1 && shop["open"] == 0, "{}", stats.text);
    let whole = ask(&shift.desk, &["stats", "--whole"], Found).await?;
    ensure!(whole.json["endpoints"]["shop"]["by_status"]["processed"] == 1, "{}", whole.text);
    Ok(())
}

#[tokio::test]
async fn conflicts_and_duplicates_of_finished_events_are_counted_where_they_are_seen_and_not_said_to_be_none()
-> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let (payment, id) = (Payment::unique(), unique("msg"));
    shift.process(payment.paid()).await?;
    shift.deliver(payment.paid(), 200).await?;
    shift.deliver(Payment { order: unique("order"), ..payment.clone() }.paid(), 200).await?;
    shift.deliver(shop("order.paid", &id, ""), 202).await?;

    let stats = ask(desk, &["stats"], Found).await?;
    ensure!(stats.json["endpoints"]["shop"]["conflicts"].is_null(), "{}", stats.json);
    ensure!(stats.aside.iter().any(|line| line.contains("sekali conflicts list")), "{:?}", stats.aside);
    let counted = async || -> Result<[serde_json::Value; 2]> {
        let whole = ask(desk, &["stats", "--whole"], Found).await?;
        let stripe = &whole.json["endpoints"]["stripe"];
        Ok([stripe["duplicates"].clone(), stripe["conflicts"].clone()])
    };
    ensure!(counted().await? == [1, 1]);
    ask(desk, &["conflicts", "reject", &payment.event, "--reason", "seen"], Well).await?;
    ensure!(counted().await? == [1, 0], "what somebody has judged is no conflict any more");
    Ok(())
}

#[tokio::test]
async fn what_waits_for_a_pause_says_so_and_the_command_that_ends_it_can_be_copied() -> Result<()> {
    let shift = Shift::begin().await?;
    ask(&shift.desk, &["pause", "shop", "--reason", "packing is down"], Well).await?;
    let (id, order) = (unique("msg"), unique("order"));
    shift.deliver(shop("order.paid", &id, &order), 202).await?;
    let mut desk = shift.receiver.desk()?;
    desk.options = " --local".to_owned();
    let shown = ask(&desk, &["events", "show", &id], Well).await?;
    let next = shown.json["next"].as_str().context("what to do")?;
    for part in ["shop is paused since", ALICE, "packing is down", "sekali resume shop --local"] {
        ensure!(next.contains(part), "{next}");
    }
    let stats = ask(&desk, &["stats"], Well).await?;
    ensure!(stats.json["paused"] == serde_json::json!(["shop"]), "{}", stats.json);
    ensure!(stats.text.contains("paused: shop; see sekali pauses --local"), "{}", stats.text);
    ask(&desk, &["resume", "shop"], Well).await?;
    let shown = ask(&desk, &["events", "show", &id], Well).await?;
    ensure!(shown.json["next"].as_str().is_some_and(|next| next.contains("by itself")), "{}", shown.text);
    Ok(())
}

#[tokio::test]
async fn a_name_that_the_configuration_has_not_is_said_beside_the_empty_list() -> Result<()> {
    let shift = Shift::begin().await?;
    for (line, says) in [
        (&["events", "list", "--endpoint", "strip"][..], "no endpoint strip; there is"),
        (&["held", "list", "--endpoint", "strip"], "no endpoint strip; there is"),
    ] {
        let none = ask(&shift.desk, line, Well).await?;
        ensure!(none.aside.iter().any(|aside| aside.contains(says)), "{line:?}: {none:?}");
    }
    let none = ask(&shift.desk, &["resources", "show", "invoice", "i_1"], Found).await?;
    ensure!(none.aside.iter().any(|aside| aside.contains("no resource invoice; there is")), "{none:?}");
    Ok(())
}

#[tokio::test]
async fn nothing_is_decided_where_nobody_is_named() -> Result<()> {
    let shift = Shift::begin().await?;
    let (id, order) = (unique("msg"), unique("order"));
    shift.process(shop("order.paid", &id, &order)).await?;
    let mut desk = shift.receiver.desk()?;
    desk.who = None;
    for line in [
        &["again", &id, "--reason", "x"][..],
        &["pause", "shop", "--reason", "x"],
        &["events", "erase", &id, "--reason", "x", "--yes"],
    ] {
        let refused = on_call::ask(&desk, line).await;
        let said = refused.err().context("nobody is named")?.to_string();
        ensure!(said.contains("--as NAME"), "{said}");
    }
    let shown = ask(&desk, &["events", "show", &id], Well).await?;
    ensure!(shown.json["history"] == serde_json::json!([]) && shown.json["event"]["status"] == "processed");
    Ok(())
}

#[tokio::test]
async fn payload_resource_and_action_are_shown_and_a_redacted_payload_hides_its_values() -> Result<()> {
    let shift = Shift::begin().await?;
    let payment = Payment::unique();
    shift.process(payment.paid()).await?;

    let payload = ask(&shift.desk, &["events", "payload", &payment.event], Well).await?;
    ensure!(payload.text.contains(&payment.order) && !payload.aside.is_empty(), "{payload:?}");
    let redacted = ask(&shift.desk, &["events", "payload", &payment.event, "--redact"], Well).await?;
    ensure!(redacted.text.contains("order_id") && !redacted.text.contains(&payment.order), "{redacted:?}");

    let resource = ask(&shift.desk, &["resources", "show", "payment", &payment.payment], Well).await?;
    ensure!(resource.json["status"] == "paid", "{}", resource.text);
    ask(&shift.desk, &["resources", "show", "payment", "pi_unheard_of"], Found).await?;

    let action =
        ask(&shift.desk, &["actions", "show", "pack", &payment.order, "--events", "--request"], Well).await?;
    ensure!(action.json["status"] == "done", "{}", action.text);
    ensure!(action.json["request"]["data"]["order"] == payment.order, "{}", action.text);
    ensure!(action.json["events"].as_array().is_some_and(|events| events.len() == 1), "{}", action.text);
    ask(&shift.desk, &["actions", "show", "pack", "order_unheard_of"], Found).await?;
    Ok(())
}
