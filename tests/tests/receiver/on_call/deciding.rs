//! What humans decide, against the tables and queue of a real receiver.

use super::Shift;
use anyhow::{Context, Result, ensure};
use sekali_cli::Ended::{Found, Well};
use sekali_tests::e2e::desk::{ALICE, ask, texts};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use std::time::Duration;

impl Shift {
    async fn status(&self, endpoint: &str, id: &str) -> Result<String> {
        let event = self.receiver.kept.event(endpoint, id).await?.context("it is stored")?;
        Ok(event.status().to_owned())
    }

    /// An event whose effect nobody knows the end of.
    async fn doubtful(&self) -> Result<(String, String)> {
        let (id, order) = (unique("msg"), unique("order"));
        self.receiver.destination.tell(&order, [Manner::Says(500, &[])]);
        self.process(shop("order.shipped", &id, &order)).await?;
        ensure!(self.status("shop", &id).await? == "in_doubt");
        Ok((id, order))
    }
}

#[tokio::test]
async fn what_is_in_doubt_is_resolved_either_way_and_the_record_says_by_whom() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let (happened, _) = shift.doubtful().await?;
    let (not, order) = shift.doubtful().await?;

    ask(desk, &["resolve", &happened, "--happened", "task_81"], Well).await?;
    let shown = ask(desk, &["events", "show", &happened], Well).await?;
    ensure!(shown.json["event"]["status"] == "processed" && shown.json["action"]["result"] == "task_81");
    ensure!(shown.json["history"][0]["who"] == ALICE && shown.json["history"][0]["what"] == "happened");

    // INV-2: while the call may still take effect, nobody can say that it did not.
    let line = ["resolve", &not, "--did-not-happen", "--reason", "no such task"];
    let refused = ask(desk, &line, Found).await?;
    ensure!(refused.text.contains("may still take effect"), "{}", refused.text);
    // From when on it can be said stands there, and with the event before.
    ensure!(refused.aside.iter().any(|line| line.contains("it can be said from 20")), "{refused:?}");
    let shown = ask(desk, &["events", "show", &not], Well).await?;
    ensure!(shown.text.contains("--did-not-happen --reason '..' (not before 20"), "{}", shown.text);
    ensure!(ask(desk, &["events", "show", &not], Well).await?.json["history"] == serde_json::json!([]));
    shift.receiver.kept.pass("shop", &not, Duration::from_secs(600)).await?;
    ask(desk, &line, Well).await?;
    ensure!(shift.status("shop", &not).await? == "failed");

    // It certainly did not happen, so it may be caused now.
    ask(desk, &["redrive", &not, "--reason", "after all"], Well).await?;
    shift.receiver.drain(&shift.processor).await?;
    ensure!(shift.status("shop", &not).await? == "processed");
    ensure!(shift.receiver.destination.acts(&order) == 1);
    let shown = ask(desk, &["events", "show", &not], Well).await?;
    ensure!(texts(&shown.json["history"], "/what") == ["did not happen", "redrive"], "{}", shown.text);
    ensure!(shown.text.matches("no such task").count() == 1, "evidence is said once: {}", shown.text);
    let twice = ask(desk, &["resolve", &not, "--happened", "x"], Found).await?;
    ensure!(twice.text.contains("not in doubt"), "{}", twice.text);
    Ok(())
}

#[tokio::test]
async fn a_deliberate_repeat_has_a_second_effect_under_another_key() -> Result<()> {
    let shift = Shift::begin().await?;
    let (id, order) = (unique("msg"), unique("order"));
    shift.process(shop("order.paid", &id, &order)).await?;
    ask(&shift.desk, &["again", &id, "--reason", "the parcel was lost"], Well).await?;
    let twice = ask(&shift.desk, &["again", &id, "--reason", "impatient"], Found).await?;
    ensure!(twice.text.contains("under way"), "{}", twice.text);
    shift.receiver.drain(&shift.processor).await?;
    let calls = shift.receiver.destination.calls(&order);
    ensure!(calls.len() == 2 && calls[0].key != calls[1].key, "{calls:?}");
    let shown = ask(&shift.desk, &["events", "show", &id], Well).await?;
    ensure!(shown.json["event"]["generation"] == 2 && shown.json["event"]["status"] == "processed");
    ensure!(shown.text.contains("the parcel was lost") && shown.text.contains(ALICE), "{}", shown.text);
    Ok(())
}

#[tokio::test]
async fn what_is_held_is_listed_released_or_discarded() -> Result<()> {
    let shift = Shift::begin().await?;
    let (released, discarded) = (unique("msg"), unique("msg"));
    for id in [&released, &discarded] {
        shift.deliver(shop("order.paid", id, ""), 202).await?;
    }
    let list = ask(&shift.desk, &["held", "list"], Found).await?;
    ensure!(list.json["by_reason"]["missing_key_part"] == 2, "{}", list.text);
    ask(&shift.desk, &["held", "discard", &discarded, "--reason", "a test of theirs"], Well).await?;
    ensure!(shift.status("shop", &discarded).await? == "ignored");
    ask(&shift.desk, &["held", "release", &released, "--reason", "look again"], Well).await?;
    shift.receiver.drain(&shift.processor).await?;
    // Nothing was mended, so it is held again, in its next generation.
    let shown = ask(&shift.desk, &["events", "show", &released], Well).await?;
    ensure!(
        shown.json["event"]["status"] == "held" && shown.json["event"]["generation"] == 2,
        "{}",
        shown.text
    );
    let again = ask(&shift.desk, &["held", "discard", &discarded, "--reason", "twice"], Found).await?;
    ensure!(again.text.contains("neither held nor failed"), "{}", again.text);
    Ok(())
}

#[tokio::test]
async fn a_conflict_is_shown_value_by_value_and_accepted_or_rejected() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let payment = Payment::unique();
    shift.process(payment.paid()).await?;
    shift.deliver(Payment { order: unique("order"), ..payment.clone() }.paid(), 200).await?;
    let other = Payment { order: unique("order"), ..payment.clone() };
    shift.deliver(other.paid(), 200).await?;

    let list = ask(desk, &["conflicts", "list"], Found).await?;
    let open = list.json["events"][0]["open"].as_array().context("contents")?.clone();
    ensure!(open.len() == 2, "{}", list.text);
    let shown = ask(desk, &["conflicts", "show", &payment.event], Well).await?;
    ensure!(shown.text.contains("/data/object/metadata/order_id"), "{}", shown.text);
    ensure!(shown.text.contains(&payment.order) && shown.text.contains(&other.order), "{}", shown.text);
    let hidden = ask(desk, &["conflicts", "show", &payment.event, "--redact"], Well).await?;
    ensure!(!hidden.text.contains(&payment.order), "{}", hidden.text);

    let hash = |number: usize| open[number].as_str().unwrap_or_default();
    let of = |number| [payment.event.as_str(), "--content", hash(number), "--reason", "seen"];
    ask(desk, &[&["conflicts", "reject"], &of(0)[..]].concat(), Well).await?;
    ask(desk, &[&["conflicts", "accept"], &of(1)[..]].concat(), Well).await?;
    shift.receiver.drain(&shift.processor).await?;
    ensure!(
        shift.receiver.destination.acts(&other.order) == 1,
        "the accepted content asks for its own order"
    );
    ensure!(shift.status("stripe", &payment.event).await? == "processed");
    let none = ask(desk, &["conflicts", "list"], Well).await?;
    ensure!(none.json["events"] == serde_json::json!([]), "{}", none.text);
    let judged = ask(desk, &["conflicts", "list", "--judged"], Found).await?;
    ensure!(judged.json["events"].as_array().is_some_and(|events| events.len() == 1), "{}", judged.text);
    Ok(())
}

#[tokio::test]
async fn a_replay_shows_its_plan_and_skips_what_would_change_its_action() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let (unruled, done) = (unique("msg"), unique("msg"));
    let (first, second) = (unique("order"), unique("order"));
    shift.process(shop("order.heard", &unruled, &first)).await?;
    shift.process(shop("order.paid", &done, &second)).await?;
    ensure!(shift.status("shop", &unruled).await? == "ignored");

    let none = ask(desk, &["replay", "--endpoint", "shop", "--reason", "rules", "--yes"], Well).await?;
    ensure!(none.json["done"] == serde_json::json!([]), "{}", none.text);
    ensure!(none.text.contains("no_rule") && none.text.contains("is done"), "{}", none.text);

    // Tomorrow's rules: what was unheard of is packed, what was packed is weighed.
    let config = shift.receiver.folder().join("config/endpoints.toml");
    let rules = std::fs::read_to_string(&config)?;
    let rules = rules
        .replace("type = \"order.paid\"\naction.pack", "type = \"order.heard\"\naction.pack")
        .replace("type = \"order.weighed\"", "type = [\"order.weighed\", \"order.paid\"]");
    std::fs::write(&config, rules)?;
    let (desk, processor) = (shift.receiver.desk()?, shift.receiver.worker("processor").await?);
    let line = ["replay", "--endpoint", "shop", "--reason", "rules changed"];
    let plan = ask(&desk, &[&line[..], &["--dry-run"]].concat(), Well).await?;
    ensure!(plan.json["done"] == serde_json::json!([]) && plan.text.contains("1 of 2"), "{}", plan.text);
    let some = ask(&desk, &[&line[..], &["--yes"]].concat(), Well).await?;
    ensure!(texts(&some.json["done"], "/id") == [unruled.as_str()], "{}", some.text);
    shift.receiver.drain(&processor).await?;
    ensure!(shift.receiver.destination.acts(&first) == 1);
    ensure!(shift.receiver.destination.calls(&second).len() == 1, "its action would change: skipped");

    let forced = ask(&desk, &[&line[..], &["--yes", "--force", "--per-second", "50"]].concat(), Well).await?;
    ensure!(texts(&forced.json["done"], "/id") == [done.as_str()], "{}", forced.text);
    shift.receiver.drain(&processor).await?;
    let shown = ask(&desk, &["events", "show", &done], Well).await?;
    ensure!(
        shown.json["action"]["name"] == "weigh" && shown.json["event"]["status"] == "processed",
        "{}",
        shown.text
    );
    ensure!(texts(&shown.json["history"], "/what") == ["forced replay"], "{}", shown.text);
    Ok(())
}

#[tokio::test]
async fn a_paused_endpoint_stores_and_acknowledges_and_drains_at_its_rate() -> Result<()> {
    let shift = Shift::begin().await?;
    let (desk, receiver) = (&shift.desk, &shift.receiver);
    let sweeper = receiver.worker("sweeper").await?;
    ask(desk, &["pause", "shop", "--reason", "packing is down"], Well).await?;
    let paused = ask(desk, &["pauses"], Found).await?;
    ensure!(paused.json["endpoints"]["shop"]["who"] == ALICE, "{}", paused.text);

    let waiting: Vec<_> = (0..12).map(|_| (unique("msg"), unique("order"))).collect();
    for (id, order) in &waiting {
        shift.deliver(shop("order.paid", id, order), 202).await?;
    }
    let payment = Payment::unique();
    shift.process(payment.paid()).await?;
    ensure!(shift.status("stripe", &payment.event).await? == "processed", "another endpoint goes on");
    for (id, order) in &waiting {
        receiver.kept.pass("shop", id, Duration::from_secs(6 * 60)).await?;
        ensure!(receiver.destination.calls(order).is_empty());
    }
    receiver.sweep(&sweeper).await?;
    receiver.drain(&shift.processor).await?;
    for (id, _) in &waiting {
        let event = receiver.kept.event("shop", id).await?.context("it is stored")?;
        ensure!(event.status() == "received" && event.number("sweeps") == Some(0), "{event:?}");
    }

    ask(desk, &["resume", "shop", "--per-minute", "5"], Well).await?;
    // A process goes by what it has read for ten seconds: these are new ones.
    let (sweeper, processor) = (receiver.worker("sweeper").await?, receiver.worker("processor").await?);
    let acts = || waiting.iter().filter(|(_, order)| receiver.destination.acts(order) == 1).count();
    for at_most in [5, 10, 12] {
        for (id, _) in &waiting {
            receiver.kept.pass("shop", id, Duration::from_secs(3_600)).await?;
        }
        receiver.sweep(&sweeper).await?;
        receiver.drain(&processor).await?;
        ensure!(acts() <= at_most, "{} went round, of at most {at_most}", acts());
    }
    ensure!(acts() == waiting.len(), "{} of {} went round", acts(), waiting.len());
    let over = ask(desk, &["resume", "stripe"], Well).await;
    ensure!(over.is_err(), "it is not paused");
    Ok(())
}
