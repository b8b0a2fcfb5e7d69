//! What the commands call of AWS, beside the policies of the runbook.

use super::Shift;
use anyhow::{Context, Result, ensure};
use sekali_cli::on_call;
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::proxy::Proxy;
use sekali_tests::e2e::vendors::{shop, unique};
use serde_json::Value;
use std::collections::BTreeSet;

const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");

/// The actions of the policies: a reader's, and what an operator has besides.
fn granted() -> Result<[BTreeSet<String>; 2]> {
    let policies = RUNBOOK.split("```json").skip(1).map(|text| text.split("```").next().unwrap_or_default());
    let mut all = Vec::new();
    for policy in policies {
        let policy: Value = serde_json::from_str(policy)?;
        let mut actions = BTreeSet::new();
        for statement in policy["Statement"].as_array().context("a policy has statements")? {
            let listed = statement["Action"].as_array().cloned();
            for action in listed.unwrap_or_else(|| vec![statement["Action"].clone()]) {
                let action = action.as_str().context("an action is a text")?;
                // The proxy sees what DynamoDB and SQS are asked.
                actions.extend(
                    action
                        .split_once(':')
                        .filter(|(of, _)| *of != "cloudformation")
                        .map(|(_, name)| name.to_owned()),
                );
            }
        }
        all.push(actions);
    }
    <[BTreeSet<String>; 2]>::try_from(all).ok().context("the runbook has two policies")
}

/// The actions that IAM asks for where this operation is called.
fn actions(operation: &str) -> Vec<String> {
    let actions: &[&str] = match operation {
        // A transaction needs what each of its parts needs.
        "TransactWriteItems" => &["UpdateItem"],
        "ChangeMessageVisibilityBatch" => &["ChangeMessageVisibility"],
        other => &[other],
    };
    actions.iter().map(|action| (*action).to_owned()).collect()
}

#[tokio::test]
async fn the_policies_of_the_runbook_are_what_the_commands_call() -> Result<()> {
    let shift = Shift::begin().await?;
    let proxy = Proxy::start(shift.receiver.kept.aws.port).await?;
    let desk = shift.receiver.desk_through(&proxy)?;
    let called = || proxy.calls().iter().flat_map(|operation| actions(operation)).collect::<BTreeSet<_>>();
    let refused = async || -> Result<String> {
        let (id, order) = (unique("msg"), unique("order"));
        shift.receiver.destination.tell(&order, [Manner::Says(422, &[])]);
        shift.process(shop("order.paid", &id, &order)).await?;
        Ok(id)
    };
    let [first, second, third] = [refused().await?, refused().await?, refused().await?];
    let (gone, order) = (unique("msg"), unique("order"));
    shift.receiver.destination.tell(&order, [Manner::Says(410, &[])]);
    shift.process(shop("order.paid", &gone, &order)).await?;

    let looks: [&[&str]; 12] = [
        &["stats"],
        &["events", "list"],
        &["events", "list", "--status", "failed"],
        &["events", "show", &first],
        &["events", "show", "nobody"],
        &["events", "payload", &first],
        &["actions", "show", "pack", "order_1"],
        &["resources", "show", "payment", "pi_1"],
        &["held", "list"],
        &["conflicts", "list"],
        &["dlq", "list"],
        &["destinations", "list"],
    ];
    for line in looks {
        on_call::ask(&desk, line).await?;
    }
    on_call::ask(&desk, &["pauses"]).await?;
    let [reader, operator] = granted()?;
    ensure!(called() == reader, "a reader is granted {reader:?} and calls {:?}", called());

    // What is switched off, or was a minute ago, is not redriven to.
    on_call::ask(&desk, &["destinations", "switch-on", "packing", "--reason", "x"]).await?;
    shift.a_minute_passes_since_it_was_switched_on().await?;
    let decides: [&[&str]; 7] = [
        &["discard", &first, "--reason", "x"],
        &["redrive", &second, "--reason", "x"],
        &["events", "erase", &first, "--reason", "x", "--yes"],
        &["dlq", "redrive", &third, "--reason", "x", "--yes"],
        &["dlq", "discard", "--all", "--reason", "x", "--yes"],
        &["pause", "shop", "--reason", "x"],
        &["resume", "shop"],
    ];
    for line in decides {
        on_call::ask(&desk, line).await?;
    }
    let mut whole: BTreeSet<String> = reader.union(&operator).cloned().collect();
    // Part of transactions alone, which the proxy sees as one.
    ensure!(whole.remove("ConditionCheckItem"), "a transaction may only look at an item");
    ensure!(called() == whole, "an operator is granted {whole:?} and calls {:?}", called());
    Ok(())
}
