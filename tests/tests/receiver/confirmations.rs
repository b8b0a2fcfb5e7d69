//! A subscription of SNS, from the delivery that asks for it to the one call
//! that confirms it. SNS is a server of the test, which the processor finds as
//! every client of AWS finds an endpoint; which host it may call is checked
//! before that, on the URL that was signed.

use super::driven_with;
use super::handshakes::{endpoints, event};
use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sekali_tests::e2e::driven::Driven;
use sekali_tests::e2e::serve::{HungUp, Served, json};
use sekali_tests::e2e::worker::Worker;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longer than a lease, and than the sweeper waits.
const LATER: Duration = Duration::from_secs(20 * 60);

/// How the call that confirms is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// Answered with this status; a redirect leads to the same server.
    Answered(u16),
    /// The connection closes, and nobody knows.
    HungUp,
}

/// What stands for SNS.
struct Sns {
    server: Served,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Sns {
    /// It takes calls like this, one after the other, and then well.
    async fn taking(manners: &[Taken]) -> Result<Self> {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let manners: Mutex<VecDeque<Taken>> = Mutex::new(manners.iter().copied().collect());
        let heard = Arc::clone(&asked);
        let server = Served::start(0, move |request| {
            let manner = manners.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let line = format!("{} {}", request.method(), request.uri());
            let shown = if request.headers().contains_key("authorization") { " authorized" } else { "" };
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(line + shown);
            async move {
                match manner.unwrap_or(Taken::Answered(200)) {
                    Taken::HungUp => Err(HungUp),
                    Taken::Answered(status) => {
                        let mut answer = json(status, "{}");
                        let elsewhere = http::HeaderValue::from_static("/elsewhere");
                        answer.headers_mut().insert(http::header::LOCATION, elsewhere);
                        Ok(answer)
                    }
                }
            }
        })
        .await?;
        Ok(Self { server, asked })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A receiver to which a topic is to be subscribed.
struct Subscribing {
    driven: Driven,
    sns: Sns,
    asks: Value,
    ingest: Worker,
    processor: Worker,
}

/// The event: SNS names its messages so.
const MESSAGE: &str = "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324";
const CONFIRMS: &str = "GET /?Action=ConfirmSubscription&Token=2336412f37";

impl Subscribing {
    async fn to(vector: &str, manners: &[Taken]) -> Result<Self> {
        let vectors: Vec<Value> = serde_json::from_str(include_str!("../../vectors/handshakes.json"))?;
        let asks = vectors.into_iter().find(|known| known["id"] == vector).context("no such vector")?;
        let (file, variables) = endpoints(std::slice::from_ref(&asks))?;
        let mut driven = driven_with(&file).await?;
        for (name, value) in &variables {
            driven.set(name, value);
        }
        let sns = Sns::taking(manners).await?;
        driven.set("AWS_ENDPOINT_URL_SNS", &sns.server.url());
        let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
        Ok(Self { driven, sns, asks, ingest, processor })
    }

    /// SNS asks, and is answered with this status.
    async fn asks(&self) -> Result<u16> {
        let answer = self.driven.request(&self.ingest, &event(&self.asks, 0)).await?;
        Ok(answer.context("it answers")?.status)
    }

    /// Works off what waits, now and in several rounds later.
    async fn goes_on(&self) -> Result<()> {
        let sweeper = self.driven.worker("sweeper").await?;
        self.driven.drain(&self.processor).await?;
        for _ in 0..3 {
            self.driven.kept.pass_for_all_open(LATER).await?;
            self.driven.sweep(&sweeper).await?;
            self.driven.drain(&self.processor).await?;
        }
        Ok(())
    }

    async fn status(&self) -> Result<String> {
        let event = self.driven.kept.event("hub-0", MESSAGE).await?.context("the event is kept")?;
        Ok(event.status().to_owned())
    }
}

// INV-2
#[tokio::test]
async fn a_subscription_is_verified_stored_and_confirmed_by_one_call() -> Result<()> {
    let subscribing = Subscribing::to("aws-sns/subscription-confirmation", &[]).await?;
    ensure!(subscribing.asks().await? == 200 && subscribing.asks().await? == 200);
    ensure!(subscribing.sns.asked().is_empty(), "who receives calls nobody");
    subscribing.goes_on().await?;
    ensure!(subscribing.asks().await? == 200, "SNS may ask again");
    subscribing.goes_on().await?;
    // Nothing of ours is shown to whoever is called.
    ensure!(subscribing.sns.asked() == [CONFIRMS], "{:?}", subscribing.sns.asked());
    ensure!(subscribing.status().await? == "processed");
    let action = subscribing.driven.kept.event("hub-0", MESSAGE).await?.context("it is kept")?;
    let action = subscribing.driven.kept.action_of(&action).await?;
    ensure!(action.status() == "done", "{}", action.status());
    Ok(())
}

// INV-2, INV-6
#[tokio::test]
async fn a_confirmation_that_nobody_heard_of_is_made_again_and_one_that_is_refused_is_not() -> Result<()> {
    for (manner, status, calls) in [
        (Taken::HungUp, "processed", 2),
        (Taken::Answered(503), "processed", 2),
        (Taken::Answered(429), "processed", 2),
        (Taken::Answered(302), "failed", 1),
        (Taken::Answered(403), "failed", 1),
    ] {
        let subscribing = Subscribing::to("aws-sns/subscription-confirmation", &[manner]).await?;
        ensure!(subscribing.asks().await? == 200);
        subscribing.goes_on().await?;
        let (ended, asked) = (subscribing.status().await?, subscribing.sns.asked());
        ensure!(ended == status && asked == vec![CONFIRMS; calls], "{manner:?}: {ended}, {asked:?}");
    }
    Ok(())
}

// INV-10
#[tokio::test]
async fn a_subscription_that_is_forged_of_a_foreign_topic_or_leads_elsewhere_calls_nobody() -> Result<()> {
    for (vector, status) in
        [("aws-sns/subscription-bad-signature", 401), ("aws-sns/subscription-foreign-topic", 403)]
    {
        let subscribing = Subscribing::to(vector, &[]).await?;
        ensure!(subscribing.asks().await? == status, "{vector}");
        subscribing.goes_on().await?;
        ensure!(subscribing.sns.asked().is_empty() && subscribing.driven.kept.events().await?.is_empty());
    }
    // The link is among what is signed: another one is a forgery.
    let mut subscribing = Subscribing::to("aws-sns/subscription-confirmation", &[]).await?;
    let body = String::from_utf8(STANDARD.decode(subscribing.asks["body_b64"].as_str().context("a body")?)?)?;
    let body = body.replace("us-west-2.amazonaws.com/?Action", "us-west-2.amazonaws.com.example.org/?Action");
    subscribing.asks["body_b64"] = STANDARD.encode(body).into();
    ensure!(subscribing.asks().await? == 401);
    subscribing.goes_on().await?;
    ensure!(subscribing.sns.asked().is_empty() && subscribing.driven.kept.events().await?.is_empty());
    Ok(())
}
