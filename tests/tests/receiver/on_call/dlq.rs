//! The dead-letter queue: listed, redriven and discarded, against a real one.

use super::Shift;
use anyhow::{Context, Result, ensure};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use sekali::ids::Generation;
use sekali::key::{DedupScope, EventHash, EventKey};
use sekali::payload::Payload;
use sekali::ports::{Create, Message, Store};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::reason::{Reason, Slug};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use sekali_cli::Ended::{Found, Well};
use sekali_cli::on_call;
use sekali_tests::e2e::desk::{ask, texts};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::proxy::{Aim, Fault, Proxy};
use sekali_tests::e2e::vendors::{shop, unique};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) const AT_ONCE: usize = 32;

impl Shift {
    /// A body as somebody else would put it into the dead-letter queue.
    async fn put_letter(&self, body: &str) -> Result<()> {
        let kept = &self.receiver.kept;
        let request = json!({ "QueueUrl": kept.dead_letters, "MessageBody": body });
        kept.aws.ask("sqs", "AmazonSQS.SendMessage", &request).await.map(drop)
    }

    /// An event that its destination refused, and its letter.
    async fn refused(&self) -> Result<(String, String)> {
        let (id, order) = (unique("msg"), unique("order"));
        self.receiver.destination.tell(&order, [Manner::Says(422, &[])]);
        self.process(shop("order.paid", &id, &order)).await?;
        Ok((id, order))
    }

    /// A stored event as ingest makes it; its copies are made by [`Shift::lay`].
    pub(super) async fn sample(&self) -> Result<Event> {
        let id = unique("msg");
        self.process(shop("order.noted.never", &id, "sample")).await?;
        let key = EventKey::new(&DedupScope("shop".into()), None, &[Some(&id)]);
        self.desk.store.event(&key).await?.context("it is stored")
    }

    /// Lays an event of its own with its payload, standing there.
    pub(super) async fn lay(
        &self,
        sample: &Event,
        id: &str,
        status: EventStatus,
        reason: Option<Reason>,
    ) -> Result<Event> {
        let key = EventKey::new(&DedupScope("shop".into()), None, &[Some(id)]);
        let body = shop("order.paid", id, &order_of(id)).body;
        let hash = EventHash::of([body.as_slice()]);
        let mut event = Event {
            key: key.clone(),
            id: id.to_owned(),
            event_type: Some("order.paid".into()),
            hash: hash.clone(),
            ..sample.clone()
        };
        let now = SystemClock.now();
        event.progress.status = status;
        event.progress.failed_at = (status == EventStatus::Failed).then_some(now);
        event.progress.reason = reason;
        event.progress.due = (!status.is_finished()).then_some(now);
        event.progress.expires = None;
        let store = &self.desk.store;
        let expires = now.expires_after(Duration::from_secs(60 * 24 * 3600));
        store.put_payload(&key, &hash, &Payload::new(body, []), expires).await?;
        ensure!(store.create_event(&event).await? == Create::Created);
        Ok(event)
    }

    /// So many of a kind, each with its letter.
    async fn lay_many(&self, kind: &str, number: usize, status: EventStatus, reason: Slug) -> Result<()> {
        let sample = &self.sample().await?;
        let reason = (status == EventStatus::Failed).then(|| Reason::with(reason, kind));
        stream::iter(0..number)
            .map(|one| {
                let reason = reason.clone();
                async move {
                    let event = self.lay(sample, &format!("{kind}-{one}x"), status, reason).await?;
                    self.put_letter(&letter(&event)?).await
                }
            })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn letters(&self) -> Result<usize> {
        let kept = &self.receiver.kept;
        let (seen, hidden) = kept.aws.depth(&kept.dead_letters).await?;
        Ok(usize::try_from(seen + hidden)?)
    }

    async fn generation(&self, id: &str) -> Result<(String, Option<i64>)> {
        let event = self.receiver.kept.event("shop", id).await?.context("it is stored")?;
        Ok((event.status().to_owned(), event.number("generation")))
    }
}

fn order_of(id: &str) -> String {
    format!("order-of-{id}")
}

fn letter(event: &Event) -> Result<String> {
    Ok(serde_json::to_string(&Message {
        event: event.key.clone(),
        generation: Generation::FIRST,
        correlation: event.correlation.clone(),
        written_at: event.received_at,
        trace: None,
    })?)
}

fn words(list: &Value) -> Vec<&str> {
    let mut words = texts(list, "/would");
    words.sort_unstable();
    words
}

/// Both hold whatever was cut: nothing is lost, and nothing happens twice.
async fn is_whole(shift: &Shift, id: &str, order: &str) -> Result<()> {
    shift.receiver.drain(&shift.processor).await?;
    ensure!(
        shift.generation(id).await? == ("processed".to_owned(), Some(2)),
        "{:?}",
        shift.generation(id).await?
    );
    ensure!(
        shift.receiver.destination.acts(order) == 1,
        "{} effects",
        shift.receiver.destination.acts(order)
    );
    let shown = ask(&shift.desk, &["events", "show", id], Well).await?;
    ensure!(texts(&shown.json["history"], "/what") == ["redrive"], "{}", shown.text);
    Ok(())
}

const REDRIVE: [&str; 7] = ["dlq", "redrive", "--reason", "packing is up", "--yes", "--per-second", "1000"];

#[tokio::test]
async fn a_redrive_that_breaks_off_at_any_step_is_finished_by_the_same_command() -> Result<()> {
    // INV-1, INV-2
    let shift = Shift::begin().await?;
    for step in ["TransactWriteItems", "SendMessage", "DeleteMessage"] {
        for fault in [Fault::Unreachable, Fault::AnswerLost] {
            let (id, order) = shift.refused().await?;
            let proxy = Proxy::start(shift.receiver.kept.aws.port).await?;
            proxy.plan(Aim::any().at(step), fault.clone());
            let cut = shift.receiver.desk_through(&proxy)?;
            let broken = on_call::ask(&cut, &REDRIVE).await;
            ensure!(proxy.calls().iter().any(|call| call == step), "{step} was never called");
            if let Ok(broken) = &broken {
                let left = broken.json["left"].as_array().map_or(0, Vec::len);
                ensure!(left == 1 || broken.ended == Well, "{step} {fault:?}: {}", broken.text);
            }
            on_call::ask(&shift.desk, &REDRIVE).await?;
            is_whole(&shift, &id, &order).await.with_context(|| format!("{step} {fault:?}"))?;
            ensure!(shift.letters().await? == 0, "{step} {fault:?}: {} letters", shift.letters().await?);
        }
    }
    Ok(())
}

#[tokio::test]
async fn two_people_who_redrive_at_once_open_one_generation_of_each_event() -> Result<()> {
    let shift = Shift::begin().await?;
    let second = shift.receiver.desk()?;
    shift.lay_many("twice", 40, EventStatus::Failed, Slug::Rejected).await?;
    let (one, other) = tokio::join!(on_call::ask(&shift.desk, &REDRIVE), on_call::ask(&second, &REDRIVE));
    let (one, other) = (one?, other?);
    // Each may have hidden some letters from the other, and says so.
    let rest = on_call::ask(&shift.desk, &REDRIVE).await?;
    ensure!(shift.letters().await? == 0, "{}\n{}\n{}", one.text, other.text, rest.text);
    shift.receiver.drain(&shift.processor).await?;
    for number in 0..40 {
        let id = format!("twice-{number}x");
        ensure!(shift.generation(&id).await? == ("processed".to_owned(), Some(2)), "{id}");
        ensure!(shift.receiver.destination.acts(&order_of(&id)) == 1, "{id}");
    }
    Ok(())
}

#[tokio::test]
async fn a_thousand_letters_of_five_causes_are_told_apart_and_the_chosen_ones_go_round() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    shift.lay_many("rejected", 200, EventStatus::Failed, Slug::Rejected).await?;
    shift.lay_many("exhausted", 200, EventStatus::Failed, Slug::AttemptsExhausted).await?;
    shift.lay_many("finished", 200, EventStatus::Processed, Slug::NoRule).await?;
    shift.lay_many("held", 200, EventStatus::Held, Slug::Unreadable).await?;
    stream::iter(0..200)
        .map(|one| {
            let shift = &shift;
            async move { shift.put_letter(&format!("none of ours, number {one}")).await }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;

    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(list.json["looked_at"] == 1_000, "{}", list.json["looked_at"]);
    for (word, number) in [("run", 400), ("no_op", 200), ("held", 200), ("unreadable", 200)] {
        let found = words(&list.json["letters"]).into_iter().filter(|one| *one == word).count();
        ensure!(found == number, "{found} {word}");
    }
    ensure!(list.text.contains("200 rejected: will run"), "the classes are counted");
    ensure!(list.text.contains("no-op: already processed"), "and it says what is done");
    let plan =
        ask(desk, &["dlq", "redrive", "--with-reason", "rejected", "--reason", "x", "--dry-run"], Well)
            .await?;
    ensure!(plan.text.contains("200 letters to redrive") && shift.letters().await? == 1_000, "{}", plan.text);

    let line: Vec<&str> = REDRIVE.into_iter().chain(["--with-reason", "rejected"]).collect();
    let done = ask(desk, &line, Well).await?;
    ensure!(done.json["done"].as_array().map(Vec::len) == Some(200), "{}", done.json["left"]);
    ensure!(shift.letters().await? == 800);
    shift.receiver.drain(&shift.processor).await?;
    for one in 0..200 {
        let id = format!("rejected-{one}x");
        ensure!(shift.generation(&id).await? == ("processed".to_owned(), Some(2)), "{id}");
        ensure!(shift.receiver.destination.acts(&order_of(&id)) == 1, "{id}");
        ensure!(shift.generation(&format!("exhausted-{one}x")).await?.0 == "failed", "not chosen");
    }
    Ok(())
}

#[tokio::test]
async fn a_redrive_of_what_is_processed_says_so_and_repeats_nothing() -> Result<()> {
    let shift = Shift::begin().await?;
    let (id, order) = (unique("msg"), unique("order"));
    shift.process(shop("order.paid", &id, &order)).await?;
    let key = EventKey::new(&DedupScope("shop".into()), None, &[Some(&id)]);
    let event = shift.desk.store.event(&key).await?.context("it is stored")?;
    shift.put_letter(&letter(&event)?).await?;
    let done = ask(&shift.desk, &REDRIVE, Well).await?;
    ensure!(done.text.contains("already processed: nothing was repeated"), "{}", done.text);
    shift.receiver.drain(&shift.processor).await?;
    ensure!(shift.receiver.destination.acts(&order) == 1 && shift.letters().await? == 0);
    ensure!(shift.generation(&id).await? == ("processed".to_owned(), Some(1)));
    Ok(())
}

#[tokio::test]
async fn what_is_discarded_stays_failed_on_record_and_what_is_none_of_ours_is_kept_in_a_file() -> Result<()> {
    let shift = Shift::begin().await?;
    let desk = &shift.desk;
    let (id, order) = shift.refused().await?;
    shift.put_letter("none of ours").await?;
    shift.put_letter(r#"{"event":"event|1:x","generation":1,"correlation":"c","written_at":5}"#).await?;
    let list = ask(desk, &["dlq", "list"], Found).await?;
    ensure!(words(&list.json["letters"]) == ["no_event", "run", "unreadable"], "{}", list.text);
    let all = on_call::ask(desk, &["dlq", "discard", "--reason", "x", "--yes"]).await;
    ensure!(all.is_err(), "which letters is to be said");

    ask(desk, &["dlq", "discard", "--all", "--reason", "a test", "--yes"], Well).await?;
    let event = shift.receiver.kept.event("shop", &id).await?.context("it is stored")?;
    ensure!(
        event.status() == "failed" && event.text("reason") == "discarded" && !event.has("due"),
        "{event:?}"
    );
    ensure!(event.text("cause").starts_with("rejected"), "{event:?}");
    ensure!(shift.letters().await? == 2, "what is on no record stays");
    let stats = ask(desk, &["stats"], Well).await?;
    ensure!(stats.text.contains("nothing needs a human"), "{}", stats.text);

    let file = shift.receiver.folder().join("letters.jsonl");
    let into = file.display().to_string();
    ask(desk, &["dlq", "discard", "--all", "--into", &into, "--reason", "a test", "--yes"], Well).await?;
    let written = std::fs::read_to_string(&file)?;
    ensure!(written.lines().count() == 2 && written.contains("none of ours"), "{written}");
    ask(desk, &["dlq", "list"], Well).await?;

    // Discarded is a decision, and another decision may follow.
    ask(desk, &["redrive", &id, "--reason", "it was no test"], Well).await?;
    shift.receiver.drain(&shift.processor).await?;
    ensure!(shift.receiver.destination.acts(&order) == 1);
    let shown = ask(desk, &["events", "show", &id], Well).await?;
    ensure!(texts(&shown.json["history"], "/what") == ["discard", "redrive"], "{}", shown.text);
    Ok(())
}
