//! Marked secrets, signatures, headers, bodies and answers go through the real
//! functions and the real command line. The marks are looked for in all that is
//! logged, answered, printed on either output, sent and stored.

mod desk;

use super::driven_with;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::destination::Manner;
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::kept::Item;
use sekali_tests::e2e::vendors::{Delivery, Signed, unique};
use sekali_tests::e2e::worker::Worker;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// What every mark begins with.
const MARK: &str = "canary";
const ENDPOINTS: &str = include_str!("endpoints.toml");

/// Base64 of "canary-secret-of-the-shop-and-us".
const SHOP: &str = "whsec_Y2FuYXJ5LXNlY3JldC1vZi10aGUtc2hvcC1hbmQtdXM=";
/// Base64 of "canary-secret-that-signs-our-calls".
const CALLS: &str = "whsec_Y2FuYXJ5LXNlY3JldC10aGF0LXNpZ25zLW91ci1jYWxscw==";
/// Base64 of "canary-secret-that-a-forger-guessed".
const GUESSED: &str = "whsec_Y2FuYXJ5LXNlY3JldC10aGF0LWEtZm9yZ2VyLWd1ZXNzZWQ=";

/// Header fields of an answer, with a mark in each.
const MARKED: &[(&str, &str)] = &[
    ("location", "https://x.example.com/?token=canary-token"),
    ("www-authenticate", "Bearer canary-token"),
    ("x-note", "canary-header"),
];

/// The receiver, its functions, and what no output may hold besides the marks.
struct Canary {
    receiver: Driven,
    ingest: Worker,
    processor: Worker,
    sweeper: Worker,
    hidden: BTreeSet<String>,
    answers: String,
}

impl Canary {
    async fn begin() -> Result<Self> {
        let mut receiver = driven_with(ENDPOINTS).await?;
        let marked = [("CANARY_SHOP", SHOP), ("CANARY_CALLS", CALLS), ("CANARY_BLANK", " ")];
        // The log at its most talkative.
        for (name, value) in marked.into_iter().chain([("SEKALI_LOG", "trace")]) {
            receiver.set(name, value);
        }
        let (ingest, processor) = (receiver.worker("ingest").await?, receiver.worker("processor").await?);
        let sweeper = receiver.worker("sweeper").await?;
        let hidden = [SHOP, CALLS, GUESSED].map(|secret| secret.trim_start_matches("whsec_").to_owned());
        Ok(Self { receiver, ingest, processor, sweeper, hidden: hidden.into(), answers: String::new() })
    }

    /// Brings a delivery to ingest, with marks in headers and query.
    async fn bring(&mut self, mut signed: Signed, status: u16) -> Result<()> {
        for (name, value) in &signed.headers {
            if name.contains("signature") {
                self.hidden.insert(value.trim_start_matches("v1,").to_owned());
            }
        }
        for (name, value) in [
            ("authorization", "Bearer canary-header"),
            ("cookie", "a=canary-header"),
            ("x-note", "canary-header"),
        ] {
            signed.headers.push((name.to_owned(), value.to_owned()));
        }
        let mut event = signed.gateway_event(true);
        event["rawQueryString"] = "token=canary-query".into();
        let answer = self.receiver.request(&self.ingest, &event).await?.context("it answers")?;
        ensure!(answer.status == status, "{answer:?}");
        self.answers.push_str(&format!("{answer:?}\n"));
        Ok(())
    }

    async fn deliver(&mut self, delivery: Delivery, status: u16) -> Result<()> {
        let signed = self.receiver.vendors.sign_with(delivery, SHOP)?;
        self.bring(signed, status).await
    }

    /// An event for which the destination has this manner, as far as it goes.
    async fn meets(&mut self, event_type: &str, manner: Manner) -> Result<String> {
        let (id, order) = (unique("msg"), unique("order"));
        self.receiver.destination.tell(&order, [manner]);
        self.deliver(paid(event_type, &id, &order), 202).await?;
        self.receiver.drain(&self.processor).await?;
        Ok(id)
    }

    /// Everything that the functions wrote on either output.
    fn logged(&self) -> Result<String> {
        let read = |function: &str| -> Result<String> {
            let file = self.receiver.folder().join(format!("{function}.log"));
            fs::read_to_string(&file).with_context(|| file.display().to_string())
        };
        Ok([read("ingest")?, read("processor")?, read("sweeper")?].concat())
    }

    /// No line of it holds a mark, a secret or a signature.
    fn is_silent(&self, what: &str, said: &str) -> Result<()> {
        for line in said.lines() {
            ensure!(!line.contains(MARK), "{what}: {line}");
            let shown = self.hidden.iter().find(|hidden| line.contains(hidden.as_str()));
            ensure!(shown.is_none(), "{what} shows {shown:?}: {line}");
        }
        Ok(())
    }
}

/// A body with marks all over it.
fn paid(event_type: &str, id: &str, order: &str) -> Delivery {
    let body = json!({ "type": event_type, "timestamp": "2026-09-21T14:13:25.000Z",
        "data": { "order_id": order, "note": "canary-body", "api_key": "canary-body" }, "canary-name": true });
    Delivery::new("shop", body.to_string()).header("webhook-id", id)
}

/// The ends that events come to, by name, so that each can be looked at.
struct Ends {
    events: Vec<(&'static str, String)>,
    order: String,
}

async fn every_way(canary: &mut Canary) -> Result<Ends> {
    let (done, order) = (unique("msg"), unique("order"));
    canary.deliver(paid("order.paid", &done, &order), 202).await?;
    canary.deliver(paid("order.paid", &done, &order), 200).await?;
    canary.receiver.drain(&canary.processor).await?;
    let conflicting = unique("msg");
    canary.deliver(paid("order.paid", &conflicting, &unique("order")), 202).await?;
    canary.deliver(paid("order.paid", &conflicting, &unique("order")), 200).await?;
    let held = unique("msg");
    canary.deliver(paid("order.paid", &held, ""), 202).await?;
    let mut torn = paid("order.paid", &unique("msg"), "order");
    torn.body.truncate(40);
    let unreadable = torn.headers[0].1.clone();
    canary.deliver(torn, 202).await?;
    let ignored = unique("msg");
    canary.deliver(paid("order.heard", &ignored, "order"), 202).await?;

    let forged = paid("order.paid", &unique("msg"), "order");
    let guessed = canary.receiver.vendors.sign_with(forged.clone(), GUESSED)?;
    canary.bring(guessed, 401).await?;
    let unsigned = Signed { endpoint: "shop", tenant: None, headers: forged.headers, body: forged.body };
    canary.bring(unsigned.clone(), 401).await?;
    canary.bring(Signed { endpoint: "nowhere", ..unsigned.clone() }, 404).await?;
    canary.bring(Signed { endpoint: "offline", ..unsigned }, 503).await?;

    let failed = canary.meets("order.paid", Manner::Answers(422, MARKED, "canary-answer")).await?;
    let moved = canary.meets("order.paid", Manner::Answers(307, MARKED, "canary-answer")).await?;
    let doubted = canary.meets("order.shipped", Manner::Answers(500, MARKED, "canary-answer")).await?;
    let broken = canary.meets("order.shipped", Manner::ActsAndHangsUp).await?;
    let later = canary.meets("order.paid", Manner::Answers(503, MARKED, "canary-answer")).await?;
    let gone = canary.meets("order.paid", Manner::Answers(410, MARKED, "canary-answer")).await?;
    // What is none of ours is not shown either.
    canary.receiver.kept.send(r#"{"note":"canary-message"}"#).await?;
    canary.receiver.drain(&canary.processor).await?;
    canary.receiver.sweep(&canary.sweeper).await?;
    let events = vec![
        ("processed", done),
        ("processed", conflicting),
        ("held", held),
        ("held", unreadable),
        ("ignored", ignored),
        ("failed", failed),
        ("failed", moved),
        ("in_doubt", doubted),
        ("in_doubt", broken),
        ("processing", later),
        ("failed", gone),
    ];
    for (status, id) in &events {
        let event = canary.receiver.kept.event("shop", id).await?.context("it is stored")?;
        ensure!(event.status() == *status, "{id} is not {status}: {event:?}");
    }
    Ok(Ends { events, order })
}

/// A payload is the body; a frozen request is what a rule took of it. Nothing
/// else that is stored may hold a mark.
fn without_content(item: &Value) -> String {
    let mut item = item.clone();
    let pk = Item(item.clone()).text("pk").to_owned();
    if pk.starts_with("payload|") || pk.starts_with("part|") {
        return String::new();
    }
    if let (Some(members), true) = (item.as_object_mut(), pk.starts_with("action|")) {
        members.remove("body");
    }
    item.to_string()
}

// INV-10: whoever reads a log or sits at a desk learns nothing that lets them
// forge, and no more of a customer than the keys.
#[tokio::test]
async fn neither_functions_nor_commands_show_a_secret_a_signature_a_header_or_a_body() -> Result<()> {
    let mut canary = Canary::begin().await?;
    let ends = every_way(&mut canary).await?;
    canary.is_silent("an answer", &canary.answers)?;
    let logged = canary.logged()?;
    for spoken in
        ["signature refused", "endpoint offline", "effect.cause", "\"swept\"", "AckTime", "not ours"]
    {
        ensure!(logged.contains(spoken), "nobody said {spoken}:\n{logged}");
    }
    canary.is_silent("the log", &logged)?;

    let kept = &canary.receiver.kept;
    for table in [&kept.tables.events, &kept.tables.resources, &kept.tables.actions] {
        let items = kept.aws.scan(table).await?;
        ensure!(!items.is_empty(), "{table} is empty");
        items.iter().try_for_each(|item| canary.is_silent(table, &without_content(item)))?;
    }
    desk::every_look(&canary, &ends).await?;
    desk::every_decision(&canary, &ends).await?;
    let letters = kept.receive(&kept.dead_letters).await?;
    for letter in letters.iter().filter(|letter| !letter.body().contains("canary-message")) {
        canary.is_silent("a dead letter", &letter.0.to_string())?;
    }
    canary.is_silent("the log", &canary.logged()?)
}
