//! What the functions say: enough to follow an event, and never a secret.

use super::driven;
use anyhow::{Context, Result, ensure};
use sekali_tests::e2e::vendors::{Payment, SECRETS, shop, unique};
use std::fs;

#[tokio::test]
async fn one_correlation_id_leads_from_the_request_to_the_effect() -> Result<()> {
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let (id, order) = (unique("msg"), unique("order"));
    let signed = driven.vendors.sign(shop("order.paid", &id, &order))?;
    let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
    let correlation = answer.body["correlation_id"].as_str().context("the answer has one")?.to_owned();
    driven.hand_over(&processor).await?;
    for function in ["ingest", "processor"] {
        let log = fs::read_to_string(driven.folder().join(format!("{function}.log")))?;
        ensure!(log.contains(&correlation), "{function} does not name {correlation}:\n{log}");
    }
    let calls = driven.destination.calls(&order);
    ensure!(calls.len() == 1 && calls[0].correlation == correlation, "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn a_trace_that_the_gateway_began_reaches_the_destination_whole() -> Result<()> {
    const XRAY: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let (id, order) = (unique("msg"), unique("order"));
    let mut signed = driven.vendors.sign(shop("order.paid", &id, &order))?;
    signed.headers.push(("x-amzn-trace-id".to_owned(), XRAY.to_owned()));
    let answer = driven.deliver(&ingest, &signed).await?.context("it answers")?;
    ensure!(answer.status == 202, "{answer:?}");
    driven.hand_over(&processor).await?;
    let calls = driven.destination.calls(&order);
    let expected = "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01";
    ensure!(calls.len() == 1 && calls[0].trace == expected, "{calls:?}");
    Ok(())
}

#[tokio::test]
async fn both_functions_print_their_metrics_beside_the_log() -> Result<()> {
    let driven = driven().await?;
    let (ingest, processor) = (driven.worker("ingest").await?, driven.worker("processor").await?);
    let (id, order) = (unique("msg"), unique("order"));
    let signed = driven.vendors.sign(shop("order.paid", &id, &order))?;
    driven.deliver(&ingest, &signed).await?.context("it answers")?;
    driven.hand_over(&processor).await?;
    for (function, metric) in [("ingest", "AckTime"), ("processor", "TimeToProcessed")] {
        let log = fs::read_to_string(driven.folder().join(format!("{function}.log")))?;
        let printed = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let stages: Vec<_> =
            printed.filter(|line| line["_aws"].is_object() && line[metric].is_number()).collect();
        ensure!(stages.iter().any(|line| line["Stage"] == "driven"), "{function} prints no {metric}:\n{log}");
    }
    Ok(())
}

#[tokio::test]
async fn neither_answer_nor_log_holds_a_signature_a_secret_or_a_body() -> Result<()> {
    // INV-10: whoever forges learns nothing of what would have been right.
    let driven = driven().await?;
    let ingest = driven.worker("ingest").await?;
    let payment = Payment::unique();
    let genuine = driven.vendors.sign(payment.paid())?;
    let forged = genuine.clone().forged();
    let right = driven.vendors.sign(payment.paid().with_body(&forged.body))?;
    let signature = |headers: &[(String, String)]| -> Result<String> {
        let header = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("stripe-signature"));
        let (_, value) = header.context("it is signed")?;
        let (_, mac) = value.rsplit_once("v1=").context("with a v1")?;
        Ok(mac.to_owned())
    };
    let answer = driven.deliver(&ingest, &forged).await?.context("it answers")?;
    ensure!(answer.status == 401, "{answer:?}");
    ensure!(driven.deliver(&ingest, &genuine).await?.context("it answers")?.status == 202);
    let log = fs::read_to_string(driven.folder().join("ingest.log"))?;
    ensure!(log.contains("signature"), "the refusal is not in the log:\n{log}");
    let mut secrets = vec![signature(&right.headers)?, signature(&genuine.headers)?, payment.order.clone()];
    secrets.extend(SECRETS.map(|(_, secret)| secret.to_owned()));
    for secret in secrets {
        ensure!(!answer.text.contains(&secret) && !log.contains(&secret), "{secret} is told:\n{log}");
    }
    Ok(())
}
