//! A receiver built with the official library of Standard Webhooks accepts
//! what we sign.

use super::{Asked, destinations, folder};
use anyhow::{Context, Result, ensure};
use sekali::ports::Outcome;
use sekali_cli::local::checkout::Checkout;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const OLD: &str = "whsec_b2xkIGludmVudGVkIHNlY3JldCE=";
const NEW: &str = "whsec_bmV3IGludmVudGVkIHNlY3JldCE=";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/destinations/receiver.py");

/// A receiver; it ends with this value.
struct Receiver {
    child: Child,
    port: u16,
}

impl Receiver {
    /// One that knows this secret and answers with these statuses in turn.
    fn start(secret: &str, statuses: &[&str]) -> Result<Self> {
        let python = Checkout::around(Path::new(env!("CARGO_MANIFEST_DIR")))?.tool("python")?;
        let has =
            Command::new(&python).args(["-c", "import standardwebhooks"]).stderr(Stdio::null()).status()?;
        ensure!(
            has.success(),
            "the official library of Standard Webhooks is not installed: run `make tools`"
        );
        let mut child = Command::new(&python)
            .arg(SCRIPT)
            .arg(secret)
            .args(statuses)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has an output")?).read_line(&mut line)?;
        let port = line.trim().parse().context("the receiver did not start")?;
        Ok(Self { child, port })
    }

    async fn seen(&self) -> Result<Value> {
        let request = http::Request::get("/").body(bytes::Bytes::new())?;
        let answer = sekali_cli::local::wire::exchange(self.port, request).await?;
        Ok(serde_json::from_slice(&answer.body)?)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

// INV-2: one message, one id, the same bytes, however many attempts it takes.
#[tokio::test]
async fn the_official_library_accepts_every_attempt_and_sees_one_id() -> Result<()> {
    let receiver = Receiver::start(NEW, &["429", "503", "200"])?;
    let folder = folder("official");
    std::fs::write(folder.join("new"), NEW)?;
    let section = format!(
        "packing = {{ http = \"http://127.0.0.1:{}/tasks\", secrets = [\"file:new\"] }}",
        receiver.port
    );
    let destinations = destinations(&section, "http://127.0.0.1:1", &folder);
    let mut asked = Asked::of("packing", "order_1");
    ensure!(matches!(asked.call(&destinations).await, Outcome::NotStarted { .. }));
    asked.attempt = 2;
    ensure!(matches!(asked.call(&destinations).await, Outcome::Unknown { .. }));
    asked.attempt = 3;
    ensure!(matches!(asked.call(&destinations).await, Outcome::Done(_)));
    let seen = receiver.seen().await?;
    let key = asked.key();
    ensure!(seen["ids"] == serde_json::json!([key.as_str(), key.as_str(), key.as_str()]), "{seen}");
    ensure!(seen["keys"] == seen["ids"] && seen["refused"] == 0, "{seen}");
    ensure!(seen["attempts"] == serde_json::json!(["1", "2", "3"]), "{seen}");
    let bodies = seen["bodies"].as_array().context("bodies")?;
    ensure!(bodies.iter().all(|body| *body == bodies[0]), "{seen}");
    Ok(())
}

#[tokio::test]
async fn while_secrets_roll_a_receiver_of_the_old_one_and_one_of_the_new_one_accept() -> Result<()> {
    let folder = folder("rolling");
    std::fs::write(folder.join("new"), NEW)?;
    std::fs::write(folder.join("old"), OLD)?;
    for secret in [OLD, NEW] {
        let receiver = Receiver::start(secret, &["200"])?;
        let section = format!(
            "packing = {{ http = \"http://127.0.0.1:{}/tasks\", secrets = [\"file:new\", \"file:old\"] }}",
            receiver.port
        );
        let destinations = destinations(&section, "http://127.0.0.1:1", &folder);
        let outcome = Asked::of("packing", "order_1").call(&destinations).await;
        ensure!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_receiver_of_another_secret_refuses_for_good() -> Result<()> {
    let folder = folder("other");
    std::fs::write(folder.join("old"), OLD)?;
    let receiver = Receiver::start(NEW, &["200"])?;
    let section = format!(
        "packing = {{ http = \"http://127.0.0.1:{}/tasks\", secrets = [\"file:old\"] }}",
        receiver.port
    );
    let outcome =
        Asked::of("packing", "order_1").call(&destinations(&section, "http://127.0.0.1:1", &folder)).await;
    ensure!(matches!(outcome, Outcome::Rejected { .. }), "{outcome:?}");
    ensure!(receiver.seen().await?["refused"] == 1);
    Ok(())
}
