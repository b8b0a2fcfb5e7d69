//! What is answered without an event: handshakes, guards, and whoever comes
//! too often.

use super::{deployed, driven, driven_with};
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

/// What the gateway saw is the address, in whichever way it writes it; what a
/// sender writes is none.
#[tokio::test]
async fn no_header_moves_a_caller_into_the_network_and_ipv4_is_known_as_ipv6_too() -> Result<()> {
    let deployed = deployed().await?;
    let event = |id: &str| -> Result<Value> {
        Ok(deployed.vendors.sign(push(id, &unique("commit")).to("guarded"))?.gateway_event(true))
    };
    let (outside, mapped) = (unique("delivery"), unique("delivery"));
    let mut lying = from(event(&outside)?, "198.51.100.7");
    for header in ["x-forwarded-for", "forwarded", "x-real-ip", "true-client-ip", "cf-connecting-ip"] {
        lying["headers"][header] = "192.0.2.10".into();
    }
    for address in ["198.51.100.7", "::ffff:198.51.100.7", "not an address", ""] {
        let answer = deployed.invoke_ingest(&from(lying.clone(), address)).await?;
        ensure!(answer.status == 403, "{address}: {answer:?}");
    }
    ensure!(deployed.kept.event("guarded", &outside).await?.is_none(), "it was stored");
    let answer = deployed.invoke_ingest(&from(event(&mapped)?, "::ffff:192.0.2.10")).await?;
    ensure!(answer.status == 202, "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn an_endpoint_that_takes_fewer_content_types_than_its_vendor_sends_answers_415() -> Result<()> {
    let mut driven = driven_with(
        "[endpoint.hub]\nvendor = \"github\"\nsecrets = [\"env:FEWER_SECRET\"]\n\
         content_types = [\"application/json\"]\nmax_body = \"1KiB\"\n",
    )
    .await?;
    driven.set("FEWER_SECRET", "invented-hub-secret");
    let ingest = driven.worker("ingest").await?;
    for (media, size, status) in [
        ("application/x-www-form-urlencoded", 0, 415),
        ("text/plain", 0, 415),
        ("application/json", 1_024, 413),
        ("application/json; charset=utf-8", 0, 202),
    ] {
        let id = unique("delivery");
        let mut delivery = push(&id, "c").to("hub").header("content-type", media);
        delivery.body.extend(std::iter::repeat_n(b' ', size));
        let signed = driven.vendors.sign_with(delivery, "invented-hub-secret")?;
        let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
        ensure!(answer.status == status, "{media}: {answer:?}");
        ensure!(driven.kept.event("hub", &id).await?.is_some() == (status == 202), "{media}");
    }
    Ok(())
}
