//! A process of a function under measurement: the real binary, or any other
//! command line that speaks Lambda's Runtime API.

use super::quota::Quota;
use crate::e2e::runtime_api::{Ended, RuntimeApi};
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use sekali::time::{Clock, Monotonic};
use sekali_aws::SystemClock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A start that takes longer has failed.
const LONGEST_START: Duration = Duration::from_secs(60);

/// How long an invocation may last.
const INVOCATION: Duration = Duration::from_secs(30);

/// A tick of `/proc/*/stat`, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// What is started.
#[derive(Debug, Clone)]
pub struct Program {
    /// The binary, and what follows on its command line.
    pub command: Vec<String>,
    /// Its whole environment.
    pub variables: BTreeMap<String, String>,
    /// Where it writes what it says.
    pub log: PathBuf,
}

/// A running process. It ends with this value.
pub struct Running {
    child: Child,
    api: RuntimeApi,
    started: Monotonic,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn start(program: &Program) -> Result<Self> {
        let api = RuntimeApi::start().await?;
        let (binary, arguments) = program.command.split_first().context("an empty command line")?;
        let log = File::options().create(true).append(true).open(&program.log)?;
        let mut command = Command::new(binary);
        command
            .args(arguments)
            .env_clear()
            .envs(&program.variables)
            .env("AWS_LAMBDA_RUNTIME_API", api.address())
            .env("AWS_LAMBDA_FUNCTION_NAME", "bench")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let started = SystemClock.monotonic();
        let child = command.spawn().with_context(|| format!("cannot start {binary}"))?;
        Ok(Self { child, api, started })
    }

    /// How long from its start until it asked for its first event.
    ///
    /// # Errors
    /// It never did.
    pub async fn ready(&mut self) -> Result<Duration> {
        let asked = tokio::time::timeout(LONGEST_START, self.api.asked()).await;
        match asked {
            Ok(asked) => Ok(asked.0.saturating_sub(self.started.0)),
            Err(_) => bail!(
                "it never asked for an event: {:?}, {:?}",
                self.api.init_error(),
                self.child.try_wait()?
            ),
        }
    }

    /// Hands it an event and takes its answer and how long that took.
    ///
    /// # Errors
    /// It answered with an error, or not at all.
    pub async fn invoke(&self, event: &Value) -> Result<(Value, Duration)> {
        let event = Bytes::from(event.to_string());
        let began = SystemClock.monotonic();
        let ended = tokio::time::timeout(INVOCATION, self.api.invoke(event, INVOCATION)).await;
        let took = SystemClock.monotonic().0.saturating_sub(began.0);
        match ended.context("no answer in time")?.context("the process is gone")? {
            Ended::Answered(answer) => Ok((answer, took)),
            Ended::Failed(error) => bail!("the function failed: {error}"),
            Ended::Gone => bail!("the process is gone"),
        }
    }

    /// The processor time that it has taken so far.
    ///
    /// # Errors
    /// The system does not say.
    pub fn cpu(&self) -> Result<Duration> {
        let folder = self.proc();
        // By the nanosecond, but only of threads that live; by the tick, of all.
        let mut living = 0;
        for thread in fs::read_dir(folder.join("task"))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            living += text.split(' ').next().context("an empty schedstat")?.parse::<u64>()?;
        }
        let text = fs::read_to_string(folder.join("stat"))?;
        // The fields are counted from behind the name, which is in brackets.
        let fields = text.rsplit_once(") ").context("no stat")?.1;
        let fields: Vec<_> = fields.split(' ').collect();
        let ticks: u32 = fields[11].parse::<u32>()? + fields[12].parse::<u32>()?;
        let by_the_tick = (TICK * ticks).saturating_sub(TICK * 2);
        Ok(Duration::from_nanos(living).max(by_the_tick))
    }

    /// The most memory that it had so far, in KiB.
    ///
    /// # Errors
    /// The system does not say.
    pub fn peak_memory(&self) -> Result<u64> {
        let text = fs::read_to_string(self.proc().join("status"))?;
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
        Ok(line.split_whitespace().nth(1).context("no number")?.parse()?)
    }

    /// From now on it has only this share of a processor.
    ///
    /// # Errors
    /// The system refuses.
    pub fn slow_down(&self, quota: &Quota) -> Result<()> {
        quota.take(self.child.id())
    }

    fn proc(&self) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing can be done about a failure here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
