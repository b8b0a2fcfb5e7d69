//! `sekali send` and the receiver: both ends of a webhook.

use super::deployed;
use anyhow::{Result, ensure};
use clap::Parser;
use sekali_cli::{Cli, Ended};
use sekali_tests::e2e::vendors::{Payment, SECRETS};
use std::path::Path;

/// Runs `sekali send` on these payments.
async fn send(folder: &Path, url: &str, more: &[&str]) -> Result<Ended> {
    let arguments = ["sekali", "send", "payments.jsonl", "--url", url, "--vendor", "stripe"];
    let here = |name: &str| folder.join(name).display().to_string();
    let arguments = arguments.map(|argument| match argument {
        "payments.jsonl" => here(argument),
        argument => argument.to_owned(),
    });
    let secret = format!("file:{}", here("secret"));
    let more = more.iter().map(|argument| (*argument).to_owned());
    Cli::try_parse_from(arguments.into_iter().chain(["--secret".to_owned(), secret]).chain(more))?.run().await
}

/// INV-2 seen from the other end: whatever is sent how often, each has its
/// effect once; and what was tampered with is refused.
#[tokio::test]
async fn what_sekali_sends_sekali_receives_once() -> Result<()> {
    let deployed = deployed().await?;
    let folder = deployed.folder().join("sender");
    std::fs::create_dir_all(&folder)?;
    let payments: Vec<Payment> = (0..3).map(|_| Payment::unique()).collect();
    let bodies: Vec<Vec<u8>> = payments.iter().map(|payment| payment.paid().body).collect();
    let lines = [&bodies[0], &bodies[1], &bodies[0], &bodies[2]].map(|body| body.as_slice()).join(&b'\n');
    std::fs::write(folder.join("payments.jsonl"), lines)?;
    let (_, secret) = SECRETS[0];
    std::fs::write(folder.join("secret"), secret)?;
    let url = deployed.url("stripe")?;
    ensure!(send(&folder, &url, &["--tamper", "--expect", "refused"]).await? == Ended::Well);
    ensure!(send(&folder, &url, &["--stale", "--expect", "refused"]).await? == Ended::Well);
    for payment in &payments {
        ensure!(deployed.kept.event("stripe", &payment.event).await?.is_none(), "a refused one was stored");
    }
    // All of them, and all of them again.
    for _ in 0..2 {
        ensure!(send(&folder, &url, &[]).await? == Ended::Well, "not all were taken");
        for payment in &payments {
            deployed.becomes("stripe", &payment.event, "processed").await?;
            let calls = deployed.destination.calls(&payment.order);
            ensure!(calls.len() == 1, "{} effects of {}", calls.len(), payment.event);
        }
    }
    Ok(())
}
