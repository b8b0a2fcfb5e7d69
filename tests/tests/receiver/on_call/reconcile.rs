//! The vendor's own list, asked over HTTP by the command itself: pages, a busy
//! server, what is shown and what is taken in.

use crate::driven_with;
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue, LINK, RETRY_AFTER};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use sekali_cli::Ended::{Found, Well};
use sekali_cli::on_call;
use sekali_tests::e2e::desk::{ALICE, ask, texts};
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::proxy::Proxy;
use sekali_tests::e2e::serve::{HungUp, Served, json};
use sekali_tests::e2e::vendors::{Delivery, Payment, push, unique};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What the vendor's API answers, by path and query, one answer after another;
/// the last one stays.
#[derive(Clone, Default)]
struct Api(Arc<Mutex<Vec<(String, Answers)>>>);

/// The next one last.
type Answers = Vec<http::Response<Bytes>>;

impl Api {
    fn answers(&self, at: &str, answers: impl Into<Answers>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(known, _)| known != at);
        let mut answers = answers.into();
        answers.reverse();
        all.push((at.to_owned(), answers));
    }

    fn answer(&self, request: &http::Request<Bytes>) -> http::Response<Bytes> {
        let who = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if who != Some("Bearer invented-list-key") {
            return json(401, "{}");
        }
        let asked = request.uri().to_string();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.iter_mut().find(|(at, _)| asked.contains(at.as_str()));
        match known {
            Some((_, answers)) if answers.len() > 1 => answers.pop().unwrap_or_default(),
            Some((_, answers)) => answers.last().cloned().unwrap_or_default(),
            None => json(404, "{}"),
        }
    }
}

/// A receiver whose vendors list their events at a server of the test's own.
async fn receiver() -> Result<(Driven, Api, Served)> {
    let api = Api::default();
    let answering = api.clone();
    let served = Served::start(0, move |request| {
        let answer = answering.answer(&request);
        async move { Ok::<_, HungUp>(answer) }
    })
    .await?;
    let name = unique("list-key");
    let url = served.url();
    let endpoints = format!(
        r#"
[endpoint.stripe]
vendor = "stripe"
secrets = ["env:STRIPE_WEBHOOK_SECRET"]
list = {{ secret = "secretsmanager:{name}", since = "2020-01-01", url = "{url}/events?limit=2" }}
[[endpoint.stripe.rule]]
type = "checkout.session.completed"
action.pack = {{ order = "/data/object/metadata/order_id" }}

[endpoint.github]
vendor = "github"
secrets = ["env:GITHUB_WEBHOOK_SECRET"]
[endpoint.github.list]
secret = "secretsmanager:{name}"
since = "2020-01-01"
url = "{url}/hooks/{{hook}}/deliveries?per_page=2"
params = {{ hook = "42" }}
[[endpoint.github.rule]]
type = "push"
action.pack = {{ order = "/after" }}

[endpoint.odd]
vendor = "stripe"
tenant = "/account"
secrets = ["env:STRIPE_WEBHOOK_SECRET"]
list = {{ secret = "secretsmanager:{name}", since = "2020-01-01", url = "{url}/events?limit=2" }}
[[endpoint.odd.rule]]
type = "checkout.session.completed"
when = {{ "query:shop" = "main" }}
action.pack = {{ order = "/data/object/metadata/order_id" }}

[endpoint.unlisted]
vendor = "stripe"
secrets = ["env:STRIPE_WEBHOOK_SECRET"]

[action]
pack = {{ key = ["order"], to = "packing" }}
[destination]
packing = {{ http = "http://127.0.0.1:{{destination}}/packing", honours_key_for = "24h", in_doubt = "retry" }}
"#
    );
    let driven = driven_with(&endpoints).await?;
    let request = json!({ "Name": name, "SecretString": "invented-list-key",
        "ClientRequestToken": "an-invented-token-of-at-least-32-letters" });
    driven.kept.aws.ask("secretsmanager", "secretsmanager.CreateSecret", &request).await?;
    Ok((driven, api, served))
}

/// A payment of an hour ago, and the same as the list writes it.
fn payment() -> Result<(Payment, Delivery, String)> {
    let payment = Payment { created: SystemClock.now().0 / 1_000 - 3_600, ..Payment::unique() };
    let delivery = payment.paid();
    let mut value: Value = serde_json::from_slice(&delivery.body)?;
    value["data"]["object"]["note"] = "canary-body".into();
    Ok((payment, delivery, serde_json::to_string_pretty(&value)?))
}

/// Neither the list's secret nor anything of a body is said.
fn is_silent(said: &str) -> Result<()> {
    ensure!(!said.contains("invented-list-key") && !said.contains("canary"), "{said}");
    Ok(())
}

fn stripe(events: &[&str], more: bool) -> http::Response<Bytes> {
    json(200, format!(r#"{{"data":[{}],"has_more":{more}}}"#, events.join(",")))
}

#[tokio::test]
async fn what_stripe_lists_and_never_arrived_is_shown_and_taken_in_and_has_one_effect() -> Result<()> {
    let (receiver, api, _served) = receiver().await?;
    let (ingest, processor) = (receiver.worker("ingest").await?, receiver.worker("processor").await?);
    let proxy = Proxy::start(receiver.kept.aws.port).await?;
    let desk = receiver.desk_through(&proxy)?;
    let called = || proxy.calls().into_iter().collect::<BTreeSet<_>>();
    let (_, arrived, first) = payment()?;
    let (missing, late, second) = payment()?;
    let deliver = async |delivery: Delivery| -> Result<u16> {
        let signed = receiver.vendors.sign(delivery)?;
        Ok(receiver.deliver(&ingest, &signed).await?.context("it answers")?.status)
    };
    ensure!(deliver(arrived).await? == 202);
    let mut busy = json(429, "{}");
    busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("0"));
    let last_of_first = serde_json::from_str::<Value>(&first)?["id"].as_str().unwrap_or_default().to_owned();
    api.answers(&format!("starting_after={last_of_first}"), [stripe(&[&second], false)]);
    api.answers("/events?limit=2&created", [busy, stripe(&[&first], true)]);

    let shown = ask(&desk, &["reconcile", "stripe"], Found).await?;
    ensure!(texts(&shown.json["events"], "/id") == [missing.event.as_str()], "{}", shown.text);
    ensure!(shown.json["counts"] == json!({ "received": 1, "never arrived": 1 }), "{}", shown.text);
    let looks = ["GetItem", "GetSecretValue"].map(str::to_owned);
    ensure!(called() == looks.clone().into(), "a reader's rights and the list's secret do: {:?}", called());
    let line = ["reconcile", "stripe", "--ingest", "--reason", "the gateway was down"];
    let plan = ask(&desk, &[&line[..], &["--dry-run"]].concat(), Found).await?;
    ensure!(
        plan.json["done"] == json!([]) && plan.text.contains("1 event would be taken in"),
        "{}",
        plan.text
    );
    ensure!(receiver.kept.event("stripe", &missing.event).await?.is_none(), "a plan writes nothing");

    let taken = ask(&desk, &[&line[..], &["--yes"]].concat(), Well).await?;
    ensure!(taken.json["done"][0]["status"] == "received", "{}", taken.text);
    let writes = ["PutItem", "SendMessage", "TransactWriteItems"].map(str::to_owned);
    ensure!(called() == looks.into_iter().chain(writes).collect(), "an operator's rights do: {:?}", called());
    for answer in [&shown, &plan, &taken] {
        is_silent(&format!("{}{}{:?}", answer.text, answer.json, answer.aside))?;
    }
    let again = ask(&desk, &[&line[..], &["--yes"]].concat(), Well).await?;
    ensure!(
        again.json["counts"] == json!({ "received": 2 }) && again.json["done"] == json!([]),
        "{}",
        again.text
    );

    receiver.drain(&processor).await?;
    ensure!(deliver(late).await? == 200, "the vendor's own delivery comes at last, and repeats it");
    receiver.drain(&processor).await?;
    ensure!(receiver.destination.acts(&missing.order) == 1);
    let story = ask(&desk, &["events", "show", &missing.event], Well).await?;
    ensure!(texts(&story.json["history"], "/what") == ["reconcile"], "{}", story.text);
    ensure!(story.json["history"][0]["who"] == ALICE && story.text.contains("the gateway was down"));
    ensure!(story.text.contains("from the vendor's own list"), "{}", story.text);
    let event = receiver.kept.event("stripe", &missing.event).await?.context("it is stored")?;
    ensure!((event.number("deliveries"), event.number("conflicts")) == (Some(2), Some(0)), "{event:?}");
    Ok(())
}

#[tokio::test]
async fn deliveries_of_a_github_hook_are_found_over_pages_and_taken_in() -> Result<()> {
    let (receiver, api, served) = receiver().await?;
    let processor = receiver.worker("processor").await?;
    let desk = receiver.desk()?;
    let (guid, commit) = (unique("guid"), unique("commit"));
    let at =
        sekali::instant::Instant(SystemClock.now().minus(std::time::Duration::from_secs(3_600))).to_string();
    let entry = |number: u32, guid: &str| json!({ "id": number, "guid": guid, "event": "push", "action": null, "delivered_at": at });
    let page = |entries: &[Value], next: Option<String>| -> Result<http::Response<Bytes>> {
        let mut page = json(200, serde_json::to_string(entries)?);
        if let Some(next) = next {
            page.headers_mut().insert(LINK, HeaderValue::try_from(format!("<{next}>; rel=\"next\""))?);
        }
        Ok(page)
    };
    let second = format!("{}/hooks/42/deliveries?per_page=2&cursor=v1_2", served.url());
    api.answers("cursor=v1_2", [page(&[entry(1, &guid)], None)?]);
    api.answers("/deliveries?per_page=2", [page(&[entry(2, &guid)], Some(second))?]);
    let sent = push(&guid, &commit);
    let told = json!({ "id": 2, "request": { "headers": { "X-GitHub-Delivery": guid, "X-GitHub-Event": "push" },
        "payload": serde_json::from_slice::<Value>(&sent.body)? } });
    api.answers("/hooks/42/deliveries/2", [json(200, told.to_string())]);

    let line =
        ["reconcile", "github", "--ingest", "--reason", "they were down", "--yes", "--per-second", "50"];
    let taken = ask(&desk, &line, Well).await?;
    ensure!(
        taken.json["pages"] == 2 && taken.json["done"].as_array().map(Vec::len) == Some(1),
        "{}",
        taken.text
    );
    receiver.drain(&processor).await?;
    ensure!(receiver.destination.acts(&commit) == 1);
    ask(&desk, &line, Well).await?;
    receiver.drain(&processor).await?;
    ensure!(receiver.destination.acts(&commit) == 1);

    // A page that leads elsewhere: the secret goes nowhere, and nothing is said of it.
    let elsewhere = page(&[entry(2, &guid)], Some("https://attacker.example.com/next".to_owned()))?;
    api.answers("/deliveries?per_page=2", [elsewhere]);
    let refused = on_call::ask(&desk, &line).await.err().context("it cannot be read")?.to_string();
    ensure!(refused.contains("not at the list's own host") && !refused.contains("attacker"), "{refused}");
    api.answers("/deliveries?per_page=2", [json(200, "<html>canary-page")]);
    let garbage = on_call::ask(&desk, &line).await.err().context("it cannot be read")?;
    ensure!(garbage.to_string().contains("is not JSON"), "{garbage}");
    api.answers("/deliveries?per_page=2", [json(422, "canary-page")]);
    let refused = on_call::ask(&desk, &line).await.err().context("it cannot be read")?;
    ensure!(refused.to_string().contains("answered 422"), "{refused}");
    is_silent(&format!("{garbage:?}{refused:?}"))?;
    api.answers("/deliveries?per_page=2", [json(200, "[]")]);
    let empty = ask(&desk, &["reconcile", "github"], Well).await?;
    ensure!(empty.text.contains("lists no event of that time"), "{}", empty.text);
    Ok(())
}

#[tokio::test]
async fn an_endpoint_that_cannot_be_compared_says_what_to_do() -> Result<()> {
    let (receiver, api, _served) = receiver().await?;
    let desk = receiver.desk()?;
    api.answers("/events", [stripe(&[], false)]);
    let ingest = ["--ingest", "--reason", "x", "--yes"];
    for (line, shown) in [
        (vec!["reconcile", "unlisted"], "[endpoint.unlisted.list]"),
        (vec!["reconcile", "stripes"], "did you mean `stripe`?"),
        (vec!["reconcile", "stripe", "--tenant", "acme"], "leave --tenant out"),
        (vec!["reconcile", "stripe", "--since", "5m"], "--until"),
        ([&["reconcile", "odd"], &ingest[..]].concat(), "`query:shop`"),
        (vec!["reconcile", "stripe", "--ingest"], "--reason"),
        (vec!["reconcile", "stripe", "--ingest", "--reason", " "], "--reason is empty"),
    ] {
        let error = on_call::ask(&desk, &line).await.err().with_context(|| line.join(" "))?.to_string();
        ensure!(error.contains(shown), "{line:?}: {error}");
    }
    let odd = ask(&desk, &["reconcile", "odd"], Well).await?;
    ensure!(odd.aside.iter().any(|line| line.contains("what happened in others is not in it")), "{odd:?}");
    Ok(())
}
