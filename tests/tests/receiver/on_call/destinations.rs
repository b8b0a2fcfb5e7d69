//! Destinations that said that they are gone, and are switched on again.

use super::Shift;
use anyhow::{Context, Result, ensure};
use sekali_cli::Ended::{Found, Well};
use sekali_cli::on_call;
use sekali_tests::e2e::desk::{ALICE, ask, texts};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::vendors::{shop, unique};
use serde_json::json;

impl Shift {
    pub(super) async fn a_minute_passes_since_it_was_switched_on(&self) -> Result<()> {
        let kept = &self.receiver.kept;
        for item in kept.aws.scan(&kept.tables.actions).await?.iter().filter(|item| !item["on_at"].is_null())
        {
            let request = json!({
                "TableName": kept.tables.actions, "Key": { "pk": item["pk"] },
                "UpdateExpression": "SET on_at = on_at - :passed",
                "ExpressionAttributeValues": { ":passed": { "N": "65001" } },
            });
            kept.aws.ask("dynamodb", "DynamoDB_20120810.UpdateItem", &request).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_destination_that_answered_410_is_shown_as_off_and_called_again_once_it_is_switched_on()
-> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let on = ask(desk, &["destinations", "list"], Well).await?;
    ensure!(on.text.contains("packing"), "{}", on.text);
    let (first, order) = (unique("msg"), unique("order"));
    shift.receiver.destination.tell(&order, [Manner::Says(410, &[])]);
    shift.process(shop("order.paid", &first, &order)).await?;
    let off = ask(desk, &["destinations", "list"], Found).await?;
    ensure!(off.text.contains("it answered 410"), "{}", off.text);

    // Whoever redrives now would only see it fail again, and is told so.
    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(texts(&list.json["letters"], "/would") == ["switched_off"], "{}", list.text);
    ensure!(list.text.contains("would fail again: packing is switched off"), "{}", list.text);
    let next = "sekali destinations switch-on packing";
    ensure!(list.aside.iter().any(|line| line.contains(next)), "{:?}", list.aside);
    let line = ["dlq", "redrive", "--reason", "x", "--yes"];
    let plan = ask(desk, &line, Found).await?;
    ensure!(plan.text.contains("0 letters to redrive"), "{}", plan.text);
    let refused = ask(desk, &["redrive", &first, "--reason", "x"], Found).await?;
    ensure!(refused.text.contains("not done: packing is switched off"), "{}", refused.text);
    ensure!(refused.aside.iter().any(|line| line.contains(next)), "{:?}", refused.aside);

    let line = ["destinations", "switch-on", "packing", "--reason", "they restored it"];
    ask(desk, &line, Well).await?;
    ask(desk, &["destinations", "list"], Well).await?;
    ask(desk, &line, Found).await?;
    let wrong = on_call::ask(desk, &["destinations", "switch-on", "packer", "--reason", "x"]).await;
    let wrong = wrong.err().context("there is none")?.to_string();
    ensure!(wrong.contains("packing"), "{wrong}");
    let record = shift.receiver.kept.aws.scan(&shift.receiver.kept.tables.actions).await?;
    ensure!(record.iter().any(|item| item["on_by"]["S"] == ALICE), "who did it is on record");

    // A process believes for a minute what it has heard: what goes round before
    // may fail once more.
    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(texts(&list.json["letters"], "/would") == ["switched_on"], "{}", list.text);
    let plan = ask(desk, &["dlq", "redrive", "--reason", "x", "--yes"], Found).await?;
    ensure!(plan.text.contains("0 letters to redrive"), "{}", plan.text);
    let refused = ask(desk, &["redrive", &first, "--reason", "x"], Found).await?;
    ensure!(refused.text.contains("of which processors hear until"), "{}", refused.text);
    shift.a_minute_passes_since_it_was_switched_on().await?;
    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(texts(&list.json["letters"], "/would") == ["run"], "{}", list.text);

    // This one has heard nothing yet.
    let processor = shift.receiver.worker("processor").await?;
    ask(desk, &["redrive", &first, "--reason", "it is there again"], Well).await?;
    shift.receiver.drain(&processor).await?;
    ensure!(shift.receiver.destination.acts(&order) == 1);
    Ok(())
}
