//! `sekali tail` as people run it: a process that follows until it is ended.

use super::Shift;
use super::dlq::AT_ONCE;
use crate::handshakes::sekali;
use anyhow::{Context, Result, ensure};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::{Reason, Slug};
use sekali_cli::Ended::Well;
use sekali_tests::e2e::desk::{ask, texts};
use sekali_tests::e2e::proxy::{Aim, Fault, Proxy};
use sekali_tests::e2e::until::until;
use sekali_tests::e2e::vendors::{Payment, shop, unique};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Events that make more than a page.
const LAID: usize = 900;

/// Somebody who follows.
struct Following {
    child: Child,
    said: PathBuf,
    aside: PathBuf,
}

impl Following {
    /// Starts it, and waits until it follows.
    async fn begin(shift: &Shift, line: &[&str]) -> Result<Self> {
        Self::through(shift, &shift.receiver.kept.aws.endpoint(), line, None).await
    }

    /// The same with AWS elsewhere, and with another reader.
    async fn through(shift: &Shift, aws: &str, line: &[&str], reader: Option<Stdio>) -> Result<Self> {
        let folder = shift.receiver.folder().join(unique("tail"));
        fs::create_dir_all(&folder)?;
        let environment = shift.receiver.environment(aws);
        let lines = environment.iter().map(|(name, value)| format!("{name}='{value}'\n"));
        fs::write(folder.join("env"), lines.collect::<String>())?;
        let (said, aside) = (folder.join("said"), folder.join("aside"));
        let child = Command::new(sekali()?)
            .args(["tail", "--local=env"])
            .args(line)
            .current_dir(&folder)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(reader.unwrap_or(File::create(&said)?.into()))
            .stderr(File::create(&aside)?)
            .spawn()?;
        let following = Self { child, said, aside };
        until("it to follow", async || Ok(following.aside()?.contains("Ctrl-C").then_some(()))).await?;
        Ok(following)
    }

    fn aside(&self) -> Result<String> {
        fs::read_to_string(&self.aside).context("standard error")
    }

    fn lines(&self) -> Result<Vec<String>> {
        let said = fs::read_to_string(&self.said)?;
        // A line that is being written is none yet.
        let whole = said.rfind('\n').map_or("", |end| &said[..end]);
        Ok(whole.lines().map(str::to_owned).collect())
    }

    async fn until_lines(&self, number: usize) -> Result<Vec<String>> {
        until(format_args!("{number} lines in {}", self.said.display()), async || {
            let lines = self.lines()?;
            Ok((lines.len() >= number).then_some(lines))
        })
        .await
    }

    async fn ended(&mut self) -> Result<ExitStatus> {
        until("its end", async || Ok(self.child.try_wait()?)).await
    }

    /// Ends it as a terminal, or a supervisor, does; how it ended.
    async fn end(mut self, signal: &str) -> Result<Option<i32>> {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status()?;
        ensure!(sent.success());
        Ok(self.ended().await?.code())
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // It has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn what_comes_and_what_moves_is_told_once_and_in_order_until_ctrl_c() -> Result<()> {
    let shift = Shift::begin().await?;
    let old = unique("msg");
    shift.deliver(shop("order.paid", &old, ""), 202).await?;
    let following = Following::begin(&shift, &["--json", "--endpoint", "shop", "--every", "50ms"]).await?;

    // A missing order keeps them held, so that nothing but people moves them.
    let ids: Vec<String> = (0..12).map(|_| unique("msg")).collect();
    for id in &ids {
        shift.deliver(shop("order.paid", id, ""), 202).await?;
        shift.deliver(Payment::unique().paid(), 202).await?;
    }
    following.until_lines(12).await?;
    shift.deliver(shop("order.paid", &ids[3], ""), 200).await?;
    following.until_lines(13).await?;
    ask(&shift.desk, &["held", "discard", &ids[5], "--reason", "a test"], Well).await?;
    following.until_lines(14).await?;
    ask(&shift.desk, &["held", "release", &ids[7], "--reason", "mended"], Well).await?;
    let lines = following.until_lines(15).await?;

    let told: Vec<Value> = lines.iter().map(|line| Ok(serde_json::from_str(line)?)).collect::<Result<_>>()?;
    let told = Value::from(told);
    let expected: Vec<&str> = ids.iter().chain([&ids[3], &ids[5], &ids[7]]).map(String::as_str).collect();
    ensure!(texts(&told, "/id") == expected, "{lines:?}");
    let status = texts(&told, "/status");
    ensure!(status[..13].iter().all(|status| *status == "held") && status[13..] == ["ignored", "received"]);
    ensure!(told[12]["deliveries"] == 2 && told[14]["generation"] == 2, "{lines:?}");
    ensure!(following.end("-INT").await? == Some(0), "Ctrl-C is its ordinary end");
    Ok(())
}

#[tokio::test]
async fn more_than_a_page_of_the_index_is_told_whole_and_filters_ask_where_it_moved_to() -> Result<()> {
    let shift = Shift::begin().await?;
    // A look at so much takes the emulator a while.
    let slowly = ["--every", "1s"];
    let every = Following::begin(&shift, &[&slowly[..], &["--type", "order.p*"]].concat()).await?;
    let failed =
        Following::begin(&shift, &[&slowly[..], &["--status", "failed", "--whole"]].concat()).await?;
    // More than a hundred in parts of the index, of which it has eight.
    let sample = &shift.sample().await?;
    stream::iter(0..LAID)
        .map(|one| {
            let (shift, reason) = (&shift, Some(Reason::with(Slug::Rejected, "paged")));
            async move { shift.lay(sample, &format!("paged-{one}x"), EventStatus::Failed, reason).await }
        })
        .buffer_unordered(AT_ONCE)
        .try_collect::<Vec<_>>()
        .await?;
    shift.process(shop("order.heard", &unique("msg"), "of another type")).await?;

    let ids = |lines: &[String]| -> BTreeSet<String> {
        lines.iter().filter_map(|line| line.split("  ").nth(2).map(str::to_owned)).collect()
    };
    for following in [&every, &failed] {
        let lines = following.until_lines(LAID).await?;
        ensure!(lines.len() == LAID && ids(&lines).len() == LAID, "{} lines", lines.len());
        ensure!(
            lines.iter().all(|line| line.contains("order.paid  failed  rejected: paged")),
            "{}",
            lines[0]
        );
    }
    ask(&shift.desk, &["redrive", "paged-7x", "--reason", "mended"], Well).await?;
    let moved = every.until_lines(LAID + 1).await?;
    ensure!(moved[LAID].contains("paged-7x  order.paid  received"), "{}", moved[LAID]);
    ask(&shift.desk, &["discard", "paged-8x", "--reason", "a test"], Well).await?;
    let lines = failed.until_lines(LAID + 1).await?;
    ensure!(lines[LAID].contains("paged-8x") && lines.len() == LAID + 1, "{:?}", &lines[LAID..]);
    ensure!(every.end("-TERM").await? == Some(0) && failed.end("-HUP").await? == Some(0));
    Ok(())
}

#[tokio::test]
async fn it_outlives_calls_that_fail_and_ends_when_nobody_reads_any_more() -> Result<()> {
    let shift = Shift::begin().await?;
    let proxy = Proxy::start(shift.receiver.kept.aws.port).await?;
    let following = Following::through(&shift, &proxy.url(), &["--every", "50ms"], None).await?;
    // More than the SDK itself tries again.
    proxy.plan(Aim::any().at("Query").times(5), Fault::Says(400, "AccessDeniedException"));
    until("a look that failed", async || Ok(following.aside()?.contains("looked at again").then_some(())))
        .await?;
    let id = unique("msg");
    shift.deliver(shop("order.paid", &id, ""), 202).await?;
    let lines = following.until_lines(1).await?;
    ensure!(lines[0].contains(&id), "{lines:?}");
    ensure!(following.end("-INT").await? == Some(0));

    let (unread, pipe) = std::io::pipe()?;
    let aws = shift.receiver.kept.aws.endpoint();
    let mut following = Following::through(&shift, &aws, &["--every", "50ms"], Some(pipe.into())).await?;
    drop(unread);
    shift.deliver(shop("order.paid", &unique("msg"), ""), 202).await?;
    ensure!(following.ended().await?.code() == Some(0));
    Ok(())
}
