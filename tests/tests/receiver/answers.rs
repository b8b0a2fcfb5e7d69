//! What a vendor is answered: every row of the table, through the gateway.

use super::deployed;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::deployed::Deployed;
use sekali_tests::e2e::driven::Answer;
use sekali_tests::e2e::vendors::{Delivery, Payment, Signed, push, shop, unique};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn expect(answer: &Answer, status: u16, member: &str, value: &str) -> Result<()> {
    ensure!(
        answer.status == status && answer.body[member] == value,
        "answered {} {}, not {status} with {member} {value}",
        answer.status,
        answer.body
    );
    Ok(())
}

/// Nothing was stored of an event of this endpoint (INV-10).
async fn nothing_is_stored(deployed: &Deployed, endpoint: &str, id: &str) -> Result<()> {
    ensure!(deployed.kept.event(endpoint, id).await?.is_none(), "{id} was stored");
    Ok(())
}

#[tokio::test]
async fn a_new_event_is_answered_202_and_again_200_with_its_present_status() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let signed = deployed.vendors.sign(payment.paid())?;
    let answer = deployed.deliver(&signed).await?;
    expect(&answer, 202, "result", "new")?;
    expect(&answer, 202, "status", "received")?;
    deployed.becomes("stripe", &payment.event, "processed").await?;
    let answer = deployed.deliver(&signed).await?;
    expect(&answer, 200, "result", "duplicate")?;
    expect(&answer, 200, "status", "processed")
}

#[tokio::test]
async fn a_known_id_with_other_content_is_answered_200_and_the_first_goes_on() -> Result<()> {
    let deployed = deployed().await?;
    let first = Payment::unique();
    let other = Payment { amount: 1, ..first.clone() };
    expect(&deployed.deliver(&deployed.vendors.sign(first.paid())?).await?, 202, "result", "new")?;
    deployed.becomes("stripe", &first.event, "processed").await?;
    expect(&deployed.deliver(&deployed.vendors.sign(other.paid())?).await?, 200, "result", "conflict")?;
    let event = deployed.kept.event("stripe", &first.event).await?.context("it was stored")?;
    ensure!(event.number("conflicts") == Some(1), "the conflict is not counted: {event:?}");
    ensure!(event.0["conflict_hashes"]["L"].as_array().is_some_and(|hashes| hashes.len() == 1));
    let calls = deployed.destination.calls(&first.order);
    ensure!(calls.len() == 1 && calls[0].json()["data"]["amount"] == 4_900, "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn an_event_without_a_key_part_is_held_or_refused_as_the_endpoint_says() -> Result<()> {
    // INV-7: strangers without an order never share one action.
    let deployed = deployed().await?;
    let payment = Payment { order: String::new(), ..Payment::unique() };
    let answer = deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?;
    expect(&answer, 202, "status", "held")?;
    let event = deployed.kept.event("stripe", &payment.event).await?.context("it is held")?;
    ensure!(event.text("reason") == "missing_key_part", "{event:?}");
    // INV-9: what needs a human carries no TTL, and neither does its payload.
    ensure!(!event.has("expires_at"), "a held event carries a TTL");
    let payload = deployed.kept.payload(&event).await?.context("its payload is there")?;
    ensure!(!payload.has("expires_at"), "the payload of a held event carries a TTL");
    let refused = Payment { order: String::new(), ..Payment::unique() };
    let answer = deployed.deliver(&deployed.vendors.sign(refused.paid().to("strict"))?).await?;
    expect(&answer, 400, "error", "missing_key_part")?;
    nothing_is_stored(deployed, "strict", &refused.event).await
}

#[tokio::test]
async fn an_event_of_an_unknown_version_is_held_or_refused_as_the_endpoint_says() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment { version: "2015-04-07", ..Payment::unique() };
    let answer = deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?;
    expect(&answer, 202, "status", "held")?;
    let event = deployed.kept.event("stripe", &payment.event).await?.context("it is held")?;
    ensure!(event.text("reason") == "unknown_version" && event.text("cause").contains("2015-04-07"));
    let refused = Payment { version: "2015-04-07", ..Payment::unique() };
    let answer = deployed.deliver(&deployed.vendors.sign(refused.paid().to("strict"))?).await?;
    expect(&answer, 400, "error", "unknown_version")?;
    nothing_is_stored(deployed, "strict", &refused.event).await
}

#[tokio::test]
async fn an_unreadable_body_is_held_where_its_id_is_in_a_header_and_refused_elsewhere() -> Result<()> {
    let deployed = deployed().await?;
    let id = unique("delivery");
    let unreadable = Delivery { body: br#"{"id":"#.to_vec(), ..push(&id, "c") };
    let answer = deployed.deliver(&deployed.vendors.sign(unreadable)?).await?;
    expect(&answer, 202, "status", "held")?;
    let event = deployed.kept.event("github", &id).await?.context("it is held")?;
    ensure!(event.text("reason") == "unreadable", "{event:?}");
    let unreadable = Delivery::new("stripe", br#"{"id":"#.to_vec());
    expect(&deployed.deliver(&deployed.vendors.sign(unreadable)?).await?, 400, "error", "unreadable")
}

#[tokio::test]
async fn a_body_that_is_no_text_is_verified_like_any_other_and_held() -> Result<()> {
    // The emulated gateway mangles such bodies; the real one hands them over
    // as base64, so this one is handed to the function directly.
    let deployed = deployed().await?;
    let id = unique("delivery");
    let bytes = Delivery { body: b"{\"n\":\"\xff\"}\r\n".to_vec(), ..push(&id, "c") };
    let signed = deployed.vendors.sign(bytes)?;
    let answer = deployed.invoke_ingest(&signed.gateway_event(true)).await?;
    expect(&answer, 202, "status", "held")?;
    let forged = Signed { body: b"{\"n\":\"\xfe\"}\r\n".to_vec(), ..signed };
    let answer = deployed.invoke_ingest(&forged.gateway_event(true)).await?;
    expect(&answer, 401, "error", "unauthorized")
}

#[tokio::test]
async fn a_body_as_base64_and_the_same_as_text_are_one_event() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let signed = deployed.vendors.sign(payment.paid())?;
    let encoded = deployed.invoke_ingest(&signed.gateway_event(true)).await?;
    let text = deployed.invoke_ingest(&signed.gateway_event(false)).await?;
    expect(&encoded, 202, "result", "new")?;
    expect(&text, 200, "result", "duplicate")
}

#[tokio::test]
async fn a_header_is_found_in_any_casing() -> Result<()> {
    let deployed = deployed().await?;
    let id = unique("delivery");
    let signed = deployed.vendors.sign(push(&id, &unique("commit")))?;
    let cased = |case: fn(&str) -> String| Signed {
        headers: signed.headers.iter().map(|(name, value)| (case(name), value.clone())).collect(),
        ..signed.clone()
    };
    let lower = deployed.invoke_ingest(&cased(str::to_ascii_lowercase).gateway_event(true)).await?;
    let upper = deployed.invoke_ingest(&cased(str::to_ascii_uppercase).gateway_event(true)).await?;
    expect(&lower, 202, "result", "new")?;
    expect(&upper, 200, "result", "duplicate")
}

#[tokio::test]
async fn a_delivery_without_an_id_or_a_required_field_or_any_event_is_refused() -> Result<()> {
    let deployed = deployed().await?;
    let refused = async |delivery: Delivery, error: &str| -> Result<()> {
        let answer = deployed.deliver(&deployed.vendors.sign(delivery)?).await?;
        expect(&answer, 400, "error", error)
    };
    let without_id = br#"{"type":"charge.refunded","api_version":"2024-06-20"}"#.to_vec();
    refused(Delivery::new("stripe", without_id), "no_event_id").await?;
    let id = unique("parcel");
    let without_parcel = format!(r#"{{"id":"{id}","type":"sent"}}"#);
    refused(Delivery::new("parcels", without_parcel), "required_missing").await?;
    refused(Delivery::new("parcels", br#"{"events":[]}"#.to_vec()), "empty_batch").await?;
    nothing_is_stored(deployed, "parcels", &id).await
}

#[tokio::test]
async fn one_bad_event_of_a_batch_is_held_and_the_others_are_taken() -> Result<()> {
    let deployed = deployed().await?;
    let (good, bad) = (unique("parcel"), unique("parcel"));
    let batch = format!(
        r#"{{"events":[{{"id":"{good}","type":"sent","parcel":"p"}},{{"id":"{bad}","type":"sent"}}]}}"#
    );
    let answer = deployed.deliver(&deployed.vendors.sign(Delivery::new("parcels", batch))?).await?;
    ensure!(answer.status == 202 && answer.body["new"] == "2", "{answer:?}");
    let bad = deployed.kept.event("parcels", &bad).await?.context("it is kept")?;
    ensure!(bad.status() == "held" && bad.text("cause").contains("/parcel"), "{bad:?}");
    let good = deployed.kept.event("parcels", &good).await?.context("it is taken")?;
    ensure!(good.status() != "held", "{good:?}");
    Ok(())
}

#[tokio::test]
async fn an_unverified_body_is_answered_401_and_causes_no_write() -> Result<()> {
    // INV-10
    let deployed = deployed().await?;
    let unauthorized = async |payment: &Payment, signed: Signed| -> Result<()> {
        let answer = deployed.deliver(&signed).await?;
        expect(&answer, 401, "error", "unauthorized")?;
        let said = answer.body.as_object().context("a JSON object")?;
        ensure!(said.keys().all(|name| name == "error" || name == "correlation_id"), "it says {said:?}");
        nothing_is_stored(deployed, "stripe", &payment.event).await
    };
    let payment = Payment::unique();
    let sign = || deployed.vendors.sign(payment.paid());
    unauthorized(&payment, sign()?.forged()).await?;
    let unsigned = Signed { headers: Vec::new(), ..sign()? };
    unauthorized(&payment, unsigned).await?;
    let stale = deployed.vendors.sign_before(payment.paid(), 15 * MINUTE)?;
    unauthorized(&payment, stale).await?;
    let now = sekali::time::Clock::now(&sekali_aws::SystemClock);
    let ahead = deployed.vendors.sign_at(payment.paid(), now.plus(15 * MINUTE))?;
    unauthorized(&payment, ahead).await
}

#[tokio::test]
async fn what_is_no_delivery_to_an_endpoint_is_refused_with_the_reason() -> Result<()> {
    let deployed = deployed().await?;
    let payment = Payment::unique();
    let unknown = Signed { endpoint: "nowhere", ..deployed.vendors.sign(payment.paid())? };
    expect(&deployed.deliver(&unknown).await?, 404, "error", "unknown_endpoint")?;

    let answer = deployed.request("GET", "stripe").await?;
    expect(&answer, 405, "error", "method_not_allowed")?;
    ensure!(answer.headers.get("allow").is_some_and(|allow| allow.contains("POST")), "{answer:?}");

    let mut large = payment.paid().to("strict");
    large.body.extend(std::iter::repeat_n(b' ', 2_048));
    expect(&deployed.deliver(&deployed.vendors.sign(large)?).await?, 413, "error", "too_large")?;

    let xml = payment.paid().header("content-type", "text/xml");
    let answer = deployed.deliver(&deployed.vendors.sign(xml)?).await?;
    expect(&answer, 415, "error", "unsupported_content_type")?;
    nothing_is_stored(deployed, "stripe", &payment.event).await?;
    nothing_is_stored(deployed, "strict", &payment.event).await
}

#[tokio::test]
async fn an_endpoint_without_a_usable_secret_is_offline_and_says_when_to_come_back() -> Result<()> {
    // INV-10: never HMAC("").
    let deployed = deployed().await?;
    let id = unique("delivery");
    let signed = Signed { endpoint: "offline", ..deployed.vendors.sign(push(&id, "c"))? };
    let answer = deployed.deliver(&signed).await?;
    expect(&answer, 503, "error", "unavailable")?;
    ensure!(answer.headers.contains_key("retry-after"), "{answer:?}");
    nothing_is_stored(deployed, "offline", &id).await
}

#[tokio::test]
async fn every_answer_carries_the_correlation_id_that_the_effect_carries_too() -> Result<()> {
    let deployed = deployed().await?;
    let (id, order) = (unique("msg"), unique("order"));
    let answer = deployed.deliver(&deployed.vendors.sign(shop("order.paid", &id, &order))?).await?;
    let correlation = answer.body["correlation_id"].as_str().context("the answer has one")?.to_owned();
    let event = deployed.becomes("shop", &id, "processed").await?;
    ensure!(event.text("correlation") == correlation);
    let calls = deployed.destination.calls(&order);
    ensure!(calls.len() == 1 && calls[0].correlation == correlation, "{calls:?}");
    Ok(())
}
