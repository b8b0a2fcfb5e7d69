//! What is answered without an event: handshakes, guards, and whoever comes
//! too often.

use super::{deployed, driven};
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::vendors::{Delivery, Payment, Signed, push, unique};
use serde_json::{Value, json};

#[tokio::test]
async fn a_signed_handshake_is_answered_as_the_vendor_demands_and_an_unsigned_one_is_not() -> Result<()> {
    let deployed = deployed().await?;
    let hello = json!({ "type": "url_verification", "challenge": "invented-challenge" });
    let signed = deployed.vendors.sign(Delivery::new("slack", hello.to_string()))?;
    let answer = deployed.deliver(&signed).await?;
    ensure!(answer.status == 200 && answer.text == "invented-challenge", "{answer:?}");
    let unsigned = Signed { headers: Vec::new(), ..signed };
    let answer = deployed.deliver(&unsigned).await?;
    ensure!(answer.status == 401 && !answer.text.contains("invented-challenge"), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn an_unsigned_handshake_is_answered_where_its_whole_shape_is_right() -> Result<()> {
    let deployed = deployed().await?;
    let ask =
        |token: &str| format!("meta?hub.mode=subscribe&hub.verify_token={token}&hub.challenge=1158201444");
    let answer = deployed.request("GET", &ask("invented-verify-token")).await?;
    ensure!(answer.status == 200 && answer.text == "1158201444", "{answer:?}");
    let answer = deployed.request("GET", &ask("another")).await?;
    ensure!(answer.status == 403 && !answer.text.contains("1158201444"), "{answer:?}");
    // An endpoint whose vendor greets by GET says so to whoever calls otherwise.
    let answer = deployed.request("DELETE", "meta").await?;
    ensure!(answer.status == 405, "{answer:?}");
    ensure!(answer.headers.get("allow").is_some_and(|allow| allow.contains("GET")), "{answer:?}");
    Ok(())
}

/// The same event from another address, as the gateway saw it.
fn from(mut event: Value, address: &str) -> Value {
    event["requestContext"]["http"]["sourceIp"] = address.into();
    event
}

#[tokio::test]
async fn what_a_guard_stops_is_answered_as_the_guard_says_and_writes_nothing() -> Result<()> {
    let deployed = deployed().await?;
    let (id, commit) = (unique("delivery"), unique("commit"));
    let push = push(&id, &commit).to("guarded");
    let event = deployed.vendors.sign(push.clone())?.gateway_event(true);
    let nothing_is_stored = async || -> Result<()> {
        ensure!(deployed.kept.event("guarded", &id).await?.is_none(), "it was stored");
        Ok(())
    };

    // From outside of the network.
    let answer = deployed.invoke_ingest(&from(event.clone(), "198.51.100.7")).await?;
    ensure!(answer.status == 403 && answer.body["error"] == "forbidden", "{answer:?}");
    nothing_is_stored().await?;

    // Of a type that is not wanted: the vendor is not to send it again.
    let mut issue = push.clone();
    issue
        .headers
        .iter_mut()
        .filter(|(name, _)| name == "X-GitHub-Event")
        .for_each(|(_, value)| *value = "issues".into());
    let issue = deployed.vendors.sign(issue)?.gateway_event(true);
    let answer = deployed.invoke_ingest(&from(issue, "192.0.2.10")).await?;
    ensure!(answer.status == 200 && answer.body["result"] == "filtered", "{answer:?}");
    nothing_is_stored().await?;

    // Of somebody else's repository.
    let other = Delivery { body: br#"{"repository":{"full_name":"someone/else"}}"#.to_vec(), ..push };
    let other = deployed.vendors.sign(other)?.gateway_event(true);
    let answer = deployed.invoke_ingest(&from(other, "192.0.2.10")).await?;
    ensure!(answer.status == 403, "{answer:?}");
    nothing_is_stored().await?;

    let answer = deployed.invoke_ingest(&from(event, "192.0.2.10")).await?;
    ensure!(answer.status == 202, "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn an_event_of_the_test_mode_is_filtered_where_only_the_live_mode_counts() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let tried = payment.paid().to("live");
    let answer = deployed.deliver(&deployed.vendors.sign(tried.clone())?).await?;
    ensure!(answer.status == 200 && answer.body["result"] == "filtered", "{answer:?}");
    ensure!(deployed.kept.event("live", &payment.event).await?.is_none(), "it was stored");
    let live = String::from_utf8(tried.body.clone())?.replace(r#""livemode":false"#, r#""livemode":true"#);
    let answer = deployed.deliver(&deployed.vendors.sign(tried.with_body(live.as_bytes()))?).await?;
    ensure!(answer.status == 202, "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn whoever_comes_too_often_is_answered_429_and_when_to_come_back() -> Result<()> {
    // Each instance counts for itself, so this is one instance.
    let driven = driven().await?;
    let ingest = driven.worker("ingest").await?;
    let deliver = async |id: &str| {
        let signed = driven.vendors.sign(push(id, "c").to("rated"))?;
        driven.deliver(&ingest, &signed).await?.context("it answers")
    };
    let (first, second) = (unique("delivery"), unique("delivery"));
    ensure!(deliver(&first).await?.status == 202);
    let answer = deliver(&second).await?;
    ensure!(answer.status == 429 && answer.headers.contains_key("retry-after"), "{answer:?}");
    ensure!(driven.kept.event("rated", &second).await?.is_none(), "it was stored");
    Ok(())
}
