//! `--stack NAME`: the tables and queues are found in the outputs of a stack.

use crate::handshakes::sekali;
use anyhow::{Context, Result, ensure};
use sekali_cli::local::aws::REGION;
use sekali_cli::local::stack::STACK;
use sekali_tests::e2e::deployed::Deployed;
use sekali_tests::e2e::vendors::Payment;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The command line as somebody on call has it: nothing is known but the
/// stack's name and the way to AWS.
fn ask(deployed: &Deployed, sekali: &Path, line: &[&str]) -> Result<Output> {
    let output = Command::new(sekali)
        .args(line)
        .env_clear()
        .env("AWS_ENDPOINT_URL", deployed.aws().endpoint())
        .envs([("AWS_REGION", REGION), ("AWS_ACCESS_KEY_ID", "invented")])
        .env("AWS_SECRET_ACCESS_KEY", "invented")
        .current_dir(deployed.folder())
        .output()?;
    Ok(output)
}

#[tokio::test]
async fn a_stack_is_found_by_its_name_alone() -> Result<()> {
    let deployed = super::super::deployed().await?;
    let sekali = sekali()?;
    let payment = Payment::unique();
    ensure!(deployed.deliver(&deployed.vendors.sign(payment.paid())?).await?.status == 202);
    deployed.becomes("stripe", &payment.event, "processed").await?;

    let line = ["events", "show", &payment.event, "--stack", STACK, "--json"];
    let shown = ask(deployed, &sekali, &line)?;
    let json: Value = serde_json::from_slice(&shown.stdout)
        .with_context(|| String::from_utf8_lossy(&shown.stderr).into_owned())?;
    ensure!(shown.status.code() == Some(0) && json["event"]["status"] == "processed", "{json}");
    // Nobody is there to say yes, and so it is not done: no success.
    let unsaid =
        ask(deployed, &sekali, &["events", "erase", &payment.event, "--reason", "x", "--stack", STACK])?;
    let said = String::from_utf8_lossy(&unsaid.stderr).into_owned();
    ensure!(unsaid.status.code() == Some(1) && said.contains("nothing was done: --yes does it"), "{said}");
    // The queue and its dead-letter queue are among the outputs, too.
    let letters = ask(deployed, &sekali, &["dlq", "list", "--stack", STACK, "--json"])?;
    let json: Value = serde_json::from_slice(&letters.stdout)?;
    ensure!(json["letters"].is_array(), "{json}");

    let nobody = Command::new(&sekali)
        .args(["stats", "--stack", STACK, "--region", REGION])
        .env_clear()
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .current_dir(deployed.folder())
        .output()?;
    let said = String::from_utf8_lossy(&nobody.stderr).into_owned();
    ensure!(nobody.status.code() == Some(2) && said.contains("no AWS credentials: `aws sts"), "{said}");
    let nobody = ask(deployed, &sekali, &["stats", "--stack", "sekali-nobody"])?;
    let said = String::from_utf8_lossy(&nobody.stderr).into_owned();
    ensure!(nobody.status.code() == Some(2) && said.contains("is its name right"), "{said}");
    let unsaid = ask(deployed, &sekali, &["stats"])?;
    let said = String::from_utf8_lossy(&unsaid.stderr).into_owned();
    ensure!(unsaid.status.code() == Some(2) && said.contains("--stack NAME"), "{said}");
    Ok(())
}
