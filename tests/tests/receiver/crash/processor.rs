//! A processor is killed at every call that it makes, and while its
//! destination works.

use super::{CALLS, Healthy, Side, at_rest, received};
use crate::driven;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::gate::Gate;
use sekali_tests::e2e::proxy::Aim;
use sekali_tests::e2e::vendors::{Payment, shop, unique};

#[tokio::test]
async fn a_processor_killed_at_any_call_has_one_effect_where_the_key_is_honoured() -> Result<()> {
    // INV-1, INV-2, INV-4
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let mut points = 0;
    for side in [Side::Before, Side::After] {
        for number in 0..CALLS {
            let payment = Payment::unique();
            received(&driven, &healthy, payment.paid()).await?;
            let (victim, gate) = (driven.worker("processor").await?, Gate::shut());
            victim.proxy.plan(Aim::any().number(number), side.held(&gate));
            let died = victim.killed_at(&gate, driven.hand_over(&victim)).await?.is_none();
            let point = format!("killed {side:?} call {number} of {:?}", victim.proxy.calls());
            let event = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
            ensure!(event.status() == "processed", "{point}: {event:?}");
            ensure!(driven.kept.action_of(&event).await?.status() == "done", "{point}");
            ensure!(
                driven.destination.acts(&payment.order) == 1,
                "{point}: {:?}",
                driven.destination.calls(&payment.order)
            );
            if !died {
                break;
            }
            points += 1;
        }
    }
    ensure!(points >= 10, "only {points} points were tried");
    driven.destination.check_keys()
}

#[tokio::test]
async fn a_processor_killed_at_any_call_is_called_never_twice_where_no_key_is_honoured() -> Result<()> {
    // INV-2, INV-6: in doubt exactly where the claim was written and its end not.
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (mut in_doubt, mut processed) = (0, 0);
    for side in [Side::Before, Side::After] {
        for number in 0..CALLS {
            let (id, order) = (unique("msg"), unique("order"));
            received(&driven, &healthy, shop("order.shipped", &id, &order)).await?;
            let (victim, gate) = (driven.worker("processor").await?, Gate::shut());
            victim.proxy.plan(Aim::any().number(number), side.held(&gate));
            let died = victim.killed_at(&gate, driven.hand_over(&victim)).await?.is_none();
            let point = format!("killed {side:?} call {number} of {:?}", victim.proxy.calls());
            let left = driven.kept.event("shop", &id).await?.context("it is stored")?;
            let begun = left.has("action") && driven.kept.action_of(&left).await?.status() == "begun";
            let event = at_rest(&driven, &healthy, "shop", &id).await?;
            let calls = driven.destination.calls(&order).len();
            if begun {
                ensure!(event.status() == "in_doubt", "{point}: {event:?}");
                let action = driven.kept.action_of(&event).await?;
                ensure!(
                    action.status() == "in_doubt" && action.text("reason") == "lease_expired",
                    "{action:?}"
                );
                ensure!(calls <= 1, "{point}: called {calls} times");
                in_doubt += 1;
            } else {
                ensure!(event.status() == "processed", "{point}: {event:?}");
                ensure!(calls == 1, "{point}: called {calls} times");
                processed += 1;
            }
            if !died {
                break;
            }
        }
    }
    // After the claim, before and after the end of the call is written.
    ensure!(in_doubt >= 2 && processed >= 8, "{in_doubt} in doubt, {processed} processed");
    Ok(())
}

#[tokio::test]
async fn a_processor_killed_while_its_destination_works_has_one_effect_or_is_in_doubt() -> Result<()> {
    // INV-2
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    for acted in [false, true] {
        for honours in [false, true] {
            let (id, order, gate) = (unique("msg"), unique("order"), Gate::shut());
            let event_type = if honours { "order.paid" } else { "order.shipped" };
            received(&driven, &healthy, shop(event_type, &id, &order)).await?;
            let held =
                if acted { Manner::ActsThenHeld(gate.clone()) } else { Manner::HeldThenActs(gate.clone()) };
            driven.destination.tell(&order, [held]);
            let victim = driven.worker("processor").await?;
            ensure!(
                victim.killed_at(&gate, driven.hand_over(&victim)).await?.is_none(),
                "it was never called"
            );
            let event = at_rest(&driven, &healthy, "shop", &id).await?;
            let (calls, acts) = (driven.destination.calls(&order).len(), driven.destination.acts(&order));
            if honours {
                ensure!(event.status() == "processed" && (calls, acts) == (2, 1), "{calls} calls, {event:?}");
            } else {
                ensure!(event.status() == "in_doubt" && calls == 1, "{calls} calls, {event:?}");
                ensure!(acts == usize::from(acted));
            }
        }
    }
    driven.destination.check_keys()
}

#[tokio::test]
async fn nobody_calls_again_before_the_lease_of_a_killed_worker_is_over() -> Result<()> {
    let driven = driven().await?;
    let healthy = Healthy::of(&driven).await?;
    let (payment, gate) = (Payment::unique(), Gate::shut());
    received(&driven, &healthy, payment.paid()).await?;
    driven.destination.tell(&payment.order, [Manner::ActsThenHeld(gate.clone())]);
    let victim = driven.worker("processor").await?;
    ensure!(victim.killed_at(&gate, driven.hand_over(&victim)).await?.is_none());
    // Its message is seen again at once; the lease, which outlives an invocation, is not over.
    ensure!(driven.hand_over(&healthy.processor).await? == 1);
    let event = driven.kept.event("stripe", &payment.event).await?.context("it is stored")?;
    ensure!(event.status() == "processing", "{event:?}");
    ensure!(driven.destination.calls(&payment.order).len() == 1, "an effect was run again");
    let event = at_rest(&driven, &healthy, "stripe", &payment.event).await?;
    ensure!(event.status() == "processed" && driven.destination.acts(&payment.order) == 1);
    Ok(())
}
