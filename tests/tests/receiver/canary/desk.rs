//! Every command on call, as a process of its own.

use super::{Canary, Ends, SHOP, paid};
use crate::handshakes::sekali;
use anyhow::{Context, Result, ensure};
use sekali_cli::local::aws::REGION;
use sekali_tests::e2e::until::until;
use sekali_tests::e2e::vendors::unique;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The command line, and where it finds the receiver.
struct Desk {
    sekali: PathBuf,
    environment: PathBuf,
    folder: PathBuf,
}

impl Desk {
    fn of(canary: &Canary) -> Result<Self> {
        let (kept, folder) = (&canary.receiver.kept, canary.receiver.folder());
        let config = folder.join("config");
        let lines = [
            ("AWS_ENDPOINT_URL", kept.aws.endpoint()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", "invented".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "canary-secret-of-aws".to_owned()),
            ("SEKALI_EVENTS_TABLE", kept.tables.events.clone()),
            ("SEKALI_RESOURCES_TABLE", kept.tables.resources.clone()),
            ("SEKALI_ACTIONS_TABLE", kept.tables.actions.clone()),
            ("SEKALI_QUEUE_URL", kept.queue.clone()),
            ("SEKALI_DLQ_URL", kept.dead_letters.clone()),
            ("SEKALI_CONFIG", config.display().to_string()),
        ];
        let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect();
        let environment = folder.join("environment");
        fs::write(&environment, lines.concat())?;
        Ok(Self { sekali: sekali()?, environment, folder: folder.to_owned() })
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(&self.sekali);
        command
            .args(line)
            .arg(format!("--local={}", self.environment.display()))
            .args(["--as", "alice"])
            .env_clear()
            .current_dir(&self.folder);
        command
    }

    /// Both outputs of a command, as lines or as JSON. It must have looked.
    fn said(&self, line: &[&str], more: &[&str]) -> Result<String> {
        let output = self.command(line).args(more).output()?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).context("it writes text")?;
        ensure!(matches!(output.status.code(), Some(0 | 1)), "{line:?}: {said}");
        Ok(said)
    }
}

fn look(desk: &Desk, canary: &Canary, line: &[&str]) -> Result<()> {
    for more in [&[][..], &["--json"]] {
        let said = desk.said(line, more)?;
        ensure!(!said.is_empty(), "{line:?} says nothing");
        canary.is_silent(&line.join(" "), &said)?;
    }
    Ok(())
}

pub(super) async fn every_look(canary: &Canary, ends: &Ends) -> Result<()> {
    let desk = Desk::of(canary)?;
    let lines: [&[&str]; 17] = [
        &["stats"],
        &["stats", "--whole"],
        &["events", "list"],
        &["events", "list", "--status", "failed"],
        &["events", "list", "--status", "in_doubt"],
        &["events", "show", "nobody"],
        &["resources", "show", "order", &ends.order],
        &["actions", "show", "pack", &ends.order, "--events"],
        &["held", "list"],
        &["conflicts", "list"],
        &["conflicts", "list", "--judged"],
        &["pauses"],
        &["destinations", "list"],
        &["replay", "--endpoint", "shop", "--reason", "x", "--dry-run"],
        &["dlq", "list", "--endpoint", "shop"],
        &["dlq", "redrive", "--endpoint", "shop", "--reason", "x", "--dry-run"],
        &["dlq", "discard", "--endpoint", "shop", "--reason", "x", "--dry-run"],
    ];
    for line in lines {
        look(&desk, canary, line)?;
    }
    for (_, id) in &ends.events {
        look(&desk, canary, &["events", "show", id, "--endpoint", "shop"])?;
    }
    // The marks are there, for whoever asks for them by name.
    for asked in [
        &["events", "payload", &ends.events[0].1][..],
        &["actions", "show", "pack", &ends.order, "--request"],
    ] {
        ensure!(desk.said(asked, &[])?.contains("canary-body"), "{asked:?} shows no body");
    }
    // Names are shown and values are not.
    let redacted = desk.said(&["events", "payload", &ends.events[0].1, "--redact"], &[])?;
    canary.is_silent("a redacted payload", &redacted.replace("canary-name", ""))?;
    let conflict = desk.said(&["conflicts", "show", &ends.events[1].1, "--redact"], &[])?;
    canary.is_silent("a redacted conflict", &conflict.replace("canary-name", ""))?;
    tail(&desk, canary).await
}

/// `tail` has no end of its own: one line of it, then it is stopped.
async fn tail(desk: &Desk, canary: &Canary) -> Result<()> {
    let mut child =
        desk.command(&["tail", "--every", "100ms"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let out = BufReader::new(child.stdout.take().context("it is piped")?);
    let first = tokio::task::spawn_blocking(move || out.lines().next());
    // It tells what changes while it looks, and nobody sees when it begins to.
    until("tail to say something".to_owned(), async || {
        let signed = canary.receiver.vendors.sign_with(paid("order.paid", &unique("msg"), ""), SHOP)?;
        canary.receiver.deliver(&canary.ingest, &signed).await?;
        Ok(first.is_finished().then_some(()))
    })
    .await?;
    child.kill()?;
    child.wait()?;
    let line = first.await?.context("it says something")??;
    ensure!(line.contains("held"), "{line}");
    canary.is_silent("tail", &line)
}

pub(super) async fn every_decision(canary: &Canary, ends: &Ends) -> Result<()> {
    let desk = Desk::of(canary)?;
    let of = |at: usize| ends.events[at].1.as_str();
    let lines: [&[&str]; 9] = [
        &["held", "discard", of(2), "--reason", "x"],
        &["held", "release", of(3), "--reason", "x"],
        &["redrive", of(5), "--reason", "x"],
        &["discard", of(6), "--reason", "x"],
        &["resolve", of(7), "--happened", "task_81"],
        &["again", of(0), "--reason", "x"],
        &["pause", "shop", "--reason", "x"],
        &["resume", "shop"],
        &["destinations", "switch-on", "packing", "--reason", "x"],
    ];
    for line in lines {
        canary.is_silent(&line.join(" "), &desk.said(line, &["--json"])?)?;
    }
    for line in [&["events", "show", of(0)][..], &["dlq", "redrive", of(10), "--reason", "x", "--yes"]] {
        canary.is_silent(&line.join(" "), &desk.said(line, &[])?)?;
    }
    let nobody = desk.said(&["events", "erase", of(4), "--reason", "x", "--yes"], &[])?;
    canary.is_silent("events erase", &nobody)
}
