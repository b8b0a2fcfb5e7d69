//! A privacy request: content goes, and what dedup needs stays.

use super::Shift;
use anyhow::{Context, Result, ensure};
use sekali_cli::Ended::{Found, Well};
use sekali_cli::on_call;
use sekali_tests::e2e::desk::{ALICE, ask, texts};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::proxy::{Aim, Fault, Proxy};
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use serde_json::Value;

impl Shift {
    /// Whether nothing is left of an event's content, and all that dedup needs.
    async fn is_erased(&self, endpoint: &str, id: &str) -> Result<()> {
        let kept = &self.receiver.kept;
        let event = kept.event(endpoint, id).await?.context("the event stays")?;
        ensure!(event.text("reason") == "erased" && event.has("hash"), "{event:?}");
        ensure!(kept.payload(&event).await?.is_none(), "its payload is there");
        let requests = kept.aws.scan(&kept.tables.actions).await?;
        let left = requests.iter().filter(|item| {
            let pk = item["pk"]["S"].as_str().unwrap_or_default();
            let of_it = pk == event.text("action") || pk.contains(event.text("action"));
            of_it && item["body"]["B"].as_str().is_some_and(|body| !body.is_empty())
        });
        ensure!(left.count() == 0, "what was sent is there: {requests:?}");
        Ok(())
    }
}

#[tokio::test]
async fn an_erased_event_is_still_recognised_and_nothing_goes_round_with_it() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    // The second's request is so large that it lies apart.
    for order in [unique("order"), format!("{}{}", unique("order"), "y".repeat(700))] {
        let id = unique("msg");
        shift.process(shop("order.paid", &id, &order)).await?;
        let plan = ask(desk, &["events", "erase", &id, "--reason", "request 81", "--dry-run"], Well).await?;
        ensure!(plan.json["plan"][0]["plan"] == "erase", "{}", plan.text);
        ask(desk, &["events", "erase", &id, "--reason", "request 81", "--yes"], Well).await?;
        shift.is_erased("shop", &id).await?;
        let action = ask(desk, &["actions", "show", "pack", &order, "--request"], Well).await?;
        ensure!(action.json["request_erased"] == true && action.text.contains("request      erased"));
        let shown = ask(desk, &["events", "show", &id], Well).await?;
        ensure!(texts(&shown.json["history"], "/what") == ["erase"] && shown.text.contains("request 81"));
        ensure!(shown.json["history"][0]["who"] == ALICE, "{}", shown.text);

        let again = ask(desk, &["again", &id, "--reason", "x"], Found).await?;
        ensure!(again.text.contains("erased"), "{}", again.text);
        shift.deliver(shop("order.paid", &id, &order), 200).await?;
        shift.receiver.drain(&shift.processor).await?;
        ensure!(shift.receiver.destination.acts(&order) == 1, "a duplicate is still one");
    }
    Ok(())
}

#[tokio::test]
async fn only_what_has_ended_is_erased_and_what_broke_off_goes_on() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let (id, order) = (unique("msg"), unique("order"));
    shift.receiver.destination.tell(&order, [Manner::Says(422, &[])]);
    shift.process(shop("order.paid", &id, &order)).await?;
    let line = ["events", "erase", &id, "--reason", "request 82", "--yes"];
    let left = ask(desk, &line, Found).await?;
    ensure!(left.text.contains("redrive or discard it first"), "{}", left.text);
    ask(desk, &["discard", &id, "--reason", "a test"], Well).await?;

    for cut in ["DeleteItem", "UpdateItem", "TransactWriteItems"] {
        let proxy = Proxy::start(shift.receiver.kept.aws.port).await?;
        proxy.plan(Aim::any().at(cut), Fault::Unreachable);
        let through = shift.receiver.desk_through(&proxy)?;
        let broken = on_call::ask(&through, &line).await?;
        // The first cuts come after it is on record, so the last finds it there.
        ensure!(broken.ended == Found || cut == "TransactWriteItems", "{cut}: {}", broken.text);
    }
    ask(desk, &line, Well).await?;
    shift.is_erased("shop", &id).await?;
    let shown = ask(desk, &["events", "show", &id], Well).await?;
    ensure!(texts(&shown.json["history"], "/what") == ["discard", "erase"], "{}", shown.text);
    // Its letter, by whatever means it is moved, sends nothing round any more.
    let redriven = ask(desk, &["redrive", &id, "--reason", "x"], Found).await?;
    ensure!(redriven.text.contains("erased"), "{}", redriven.text);
    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(texts(&list.json["letters"], "/would") == ["discarded"], "{}", list.text);
    Ok(())
}

#[tokio::test]
async fn a_tenant_and_a_resource_are_erased_and_their_neighbours_are_not() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    for tenant in ["acme", "other"] {
        let (id, order) = (unique("msg"), unique("order"));
        shift.process(shop("order.paid", &id, &order).to("tenants").of(tenant)).await?;
        let line = ["events", "show", &id, "--endpoint", "tenants", "--tenant", tenant];
        let shown = ask(desk, &line, Well).await?;
        ensure!(shown.json["event"]["tenant"] == tenant, "{}", shown.text);
        ask(desk, &["events", "show", &id, "--endpoint", "tenants", "--tenant", "nobody"], Found).await?;
        let list = ask(desk, &["events", "list", "--tenant", tenant], Well).await?;
        ensure!(texts(&list.json["events"], "/id") == [id.as_str()], "{}", list.text);
    }
    let payments = [Payment::unique(), Payment::unique()];
    for payment in &payments {
        shift.process(payment.paid()).await?;
    }
    let payloads = async || -> Result<usize> {
        let items = shift.receiver.kept.aws.scan(&shift.receiver.kept.tables.events).await?;
        let is_payload =
            |item: &&Value| item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("payload|"));
        Ok(items.iter().filter(is_payload).count())
    };
    ensure!(payloads().await? == 4);
    let line = ["events", "erase", "--of-tenant", "acme", "--reason", "contract ended", "--yes"];
    let done = ask(desk, &line, Well).await?;
    ensure!(done.json["done"].as_array().map(Vec::len) == Some(1) && payloads().await? == 3, "{}", done.text);

    let pi = payments[0].payment.as_str();
    let line = ["events", "erase", "--of-resource", "payment", pi, "--reason", "request 83", "--yes"];
    ask(desk, &line, Well).await?;
    shift.is_erased("stripe", &payments[0].event).await?;
    ensure!(payloads().await? == 2);
    let neighbour = shift.receiver.kept.event("stripe", &payments[1].event).await?.context("it is stored")?;
    ensure!(!neighbour.has("reason"), "{neighbour:?}");
    Ok(())
}
