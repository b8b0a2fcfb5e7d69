//! From a delivery to its effect, through the whole receiver.

use super::deployed;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::destination::{Destination, Manner};
use sekali_tests::e2e::until::until;
use sekali_tests::e2e::vendors::{Payment, push, shop, unique};
use std::collections::BTreeSet;
use std::time::Duration;

/// Longer than until the first sweep, and than any lease.
const LATER: Duration = Duration::from_secs(6 * 60);

#[tokio::test]
async fn fifty_identical_deliveries_at_once_have_one_effect_and_fifty_2xx() -> Result<()> {
    // INV-2: the conditional put decides alone. The gateway starts a process
    // for each; a machine that has its hands full may answer some of them 503,
    // which promises nothing, and a vendor sends those again.
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let signed = deployed.vendors.sign(payment.paid())?;
    let (mut left, mut new) = (50, 0);
    for _ in 0..5 {
        let answers = deployed.deliver_at_once(&signed, left).await?;
        ensure!(answers.iter().all(|answer| [200, 202, 503].contains(&answer.status)), "{answers:?}");
        new += answers.iter().filter(|answer| answer.status == 202).count();
        left = answers.iter().filter(|answer| answer.status == 503).count();
    }
    ensure!(left == 0, "{left} were never answered 2xx");
    ensure!(new <= 1, "{new} were answered as new");
    deployed.sweep_after("stripe", &payment.event, LATER).await?;
    let event = deployed.becomes("stripe", &payment.event, "processed").await?;
    // A count that was written and not heard of is written again: never too few.
    ensure!(event.number("deliveries") >= Some(50), "{event:?}");
    ensure!(deployed.destination.calls(&payment.order).len() == 1);
    Ok(())
}

#[tokio::test]
async fn two_vendors_that_name_the_same_action_at_once_have_one_effect() -> Result<()> {
    // INV-2, INV-4
    let deployed = deployed().await?;
    let (payment, message) = (Payment::unique(), unique("msg"));
    let paid = deployed.vendors.sign(payment.paid())?;
    let asked = deployed.vendors.sign(shop("order.paid", &message, &payment.order))?;
    let (first, second) = tokio::join!(deployed.deliver(&paid), deployed.deliver(&asked));
    ensure!(first?.status == 202);
    ensure!(second?.status == 202);
    // Whichever came second may wait for the other's claim; then the sweeper
    // or its own message brings it back.
    let done = async |endpoint: &str, id: &str| {
        deployed.sweep_after(endpoint, id, LATER).await?;
        deployed.becomes(endpoint, id, "processed").await
    };
    let first = done("stripe", &payment.event).await?;
    let second = done("shop", &message).await?;
    ensure!(first.text("action") == second.text("action"));
    let calls = deployed.destination.calls(&payment.order);
    ensure!(calls.len() == 1, "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn an_event_that_comes_out_of_order_moves_nothing_back() -> Result<()> {
    // INV-3
    let deployed = deployed().await?;
    let paid = Payment::unique();
    let before = Payment { event: unique("evt"), created: paid.created - 60, ..paid.clone() };
    ensure!(deployed.deliver(&deployed.vendors.sign(paid.paid())?).await?.status == 202);
    deployed.becomes("stripe", &paid.event, "processed").await?;
    ensure!(deployed.deliver(&deployed.vendors.sign(before.authorized())?).await?.status == 202);
    let late = deployed.becomes("stripe", &before.event, "ignored").await?;
    ensure!(late.text("reason") == "late", "{late:?}");
    let resource = deployed.kept.resource("payment", &paid.payment).await?.context("it moved")?;
    ensure!(resource.text("status") == "paid", "{resource:?}");
    Ok(())
}

#[tokio::test]
async fn a_late_event_whose_rule_says_act_has_its_effect_and_moves_nothing() -> Result<()> {
    let deployed = deployed().await?;
    let paid = Payment::unique();
    let after = Payment { event: unique("evt"), created: paid.created + 60, ..paid.clone() };
    ensure!(deployed.deliver(&deployed.vendors.sign(after.refunded())?).await?.status == 202);
    deployed.becomes("stripe", &after.event, "processed").await?;
    ensure!(deployed.deliver(&deployed.vendors.sign(paid.paid())?).await?.status == 202);
    deployed.becomes("stripe", &paid.event, "processed").await?;
    ensure!(deployed.destination.acts(&paid.order) == 1);
    let resource = deployed.kept.resource("payment", &paid.payment).await?.context("it moved")?;
    ensure!(resource.text("status") == "refunded", "{resource:?}");
    Ok(())
}

#[tokio::test]
async fn a_retry_in_which_only_a_volatile_field_differs_is_a_duplicate() -> Result<()> {
    let deployed = deployed().await?;
    let first = Payment { pending: 3, ..Payment::unique() };
    let retry = Payment { pending: 1, ..first.clone() };
    ensure!(deployed.deliver(&deployed.vendors.sign(first.paid())?).await?.status == 202);
    deployed.becomes("stripe", &first.event, "processed").await?;
    let answer = deployed.deliver(&deployed.vendors.sign(retry.paid())?).await?;
    ensure!(answer.status == 200 && answer.body["result"] == "duplicate", "{answer:?}");
    ensure!(deployed.destination.calls(&first.order).len() == 1);
    Ok(())
}

#[tokio::test]
async fn a_destination_that_asks_for_patience_is_called_again_until_it_acts() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let busy = || Manner::Says(429, &[("retry-after", "1")]);
    deployed.destination.tell(&payment.order, [busy(), busy()]);
    ensure!(deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?.status == 202);
    let event = deployed.becomes("stripe", &payment.event, "processed").await?;
    ensure!(event.number("attempts") == Some(3), "{event:?}");
    let calls = deployed.destination.calls(&payment.order);
    let attempts: Vec<_> = calls.iter().map(|call| call.attempt.as_str()).collect();
    ensure!(attempts == ["1", "2", "3"], "{attempts:?}");
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn a_destination_that_is_not_there_is_called_once_it_is() -> Result<()> {
    let deployed = deployed().await?;
    let (message, order) = (unique("msg"), unique("order"));
    ensure!(
        deployed.deliver(&deployed.vendors.sign(shop("order.noted", &message, &order))?).await?.status == 202
    );
    let refused = until("a call that found nobody", async || {
        let event = deployed.kept.event("shop", &message).await?;
        let Some(event) = event.filter(|event| event.has("action")) else { return Ok(None) };
        let action = deployed.kept.action_of(&event).await?;
        Ok((action.text("reason") == "not_started").then_some(action))
    });
    ensure!(refused.await?.status() == "ready", "nothing was sent, which is certain (INV-6)");
    let notes = Destination::start(deployed.absent, &[]).await?;
    deployed.becomes("shop", &message, "processed").await?;
    ensure!(notes.acts(&order) == 1);
    Ok(())
}

#[tokio::test]
async fn an_answer_that_settles_nothing_ends_in_doubt_where_the_destination_is_parked() -> Result<()> {
    // INV-2: nobody may call again. INV-6: it was begun, and nobody knows more.
    let deployed = deployed().await?;
    let (message, order) = (unique("msg"), unique("order"));
    deployed.destination.tell(&order, [Manner::Says(500, &[])]);
    ensure!(
        deployed.deliver(&deployed.vendors.sign(shop("order.shipped", &message, &order))?).await?.status
            == 202
    );
    let event = deployed.becomes("shop", &message, "in_doubt").await?;
    ensure!(event.text("reason") == "no_answer" && event.text("cause").contains("500"), "{event:?}");
    // INV-9: what needs a human carries no TTL.
    ensure!(!event.has("expires_at"));
    deployed.sweep_after("shop", &message, LATER).await?;
    // A vendor's retry changes nothing either.
    let answer = deployed.deliver(&deployed.vendors.sign(shop("order.shipped", &message, &order))?).await?;
    ensure!(answer.status == 200 && answer.body["status"] == "in_doubt", "{answer:?}");
    ensure!(deployed.destination.calls(&order).len() == 1, "it was called again");
    Ok(())
}

#[tokio::test]
async fn a_destination_that_honours_keys_is_called_again_with_the_same_key_and_bytes() -> Result<()> {
    // INV-2
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let manners = [Manner::Says(500, &[]), Manner::ActsUnheard, Manner::ActsAndHangsUp];
    deployed.destination.tell(&payment.order, manners);
    ensure!(deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?.status == 202);
    deployed.becomes("stripe", &payment.event, "processed").await?;
    let calls = deployed.destination.calls(&payment.order);
    ensure!(calls.len() == 4, "{calls:?}");
    let sent: BTreeSet<_> = calls.iter().map(|call| (&call.key, &call.body)).collect();
    ensure!(sent.len() == 1, "the calls differ: {calls:?}");
    ensure!(deployed.destination.acts(&payment.order) == 1);
    Ok(())
}

#[tokio::test]
async fn an_effect_that_was_not_heard_of_is_in_doubt_where_no_key_is_honoured() -> Result<()> {
    let deployed = deployed().await?;
    let (id, commit) = (unique("delivery"), unique("commit"));
    deployed.destination.tell(&commit, [Manner::ActsUnheard]);
    ensure!(deployed.deliver(&deployed.vendors.sign(push(&id, &commit))?).await?.status == 202);
    deployed.becomes("github", &id, "in_doubt").await?;
    deployed.sweep_after("github", &id, LATER).await?;
    ensure!(deployed.destination.calls(&commit).len() == 1 && deployed.destination.acts(&commit) == 1);
    Ok(())
}

#[tokio::test]
async fn tenants_never_share_an_event_or_an_action() -> Result<()> {
    // INV-7: the same id, the same order, and two strangers.
    let deployed = deployed().await?;
    let (id, order) = (unique("msg"), unique("order"));
    for tenant in ["acme", "globex"] {
        let delivery = shop("order.paid", &id, &order).to("tenants").of(tenant);
        let answer = deployed.deliver(&deployed.vendors.sign(delivery)?).await?;
        ensure!(answer.status == 202, "{tenant}: {answer:?}");
    }
    let effects = until("both effects", async || {
        Ok(Some(deployed.destination.calls(&order)).filter(|calls| calls.len() == 2))
    });
    let effects = effects.await?;
    let tenants: BTreeSet<_> = effects.iter().map(|call| call.json()["tenant"].to_string()).collect();
    let keys: BTreeSet<_> = effects.iter().map(|call| &call.key).collect();
    ensure!(tenants.len() == 2 && keys.len() == 2, "{effects:?}");
    let nobody = deployed.vendors.sign(shop("order.paid", &id, &order).to("tenants"))?;
    ensure!(deployed.deliver(&nobody).await?.status == 404);
    Ok(())
}
