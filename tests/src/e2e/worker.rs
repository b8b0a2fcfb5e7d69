//! A process of a function, the real binary, driven through a Runtime API of
//! its own and calling AWS through a proxy of its own. It can be killed and
//! frozen at any moment.

use super::gate::Gate;
use super::proxy::Proxy;
use super::runtime_api::{Ended, RuntimeApi};
use super::until::until;
use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often we look whether a process that works has died of itself.
const LOOK: Duration = Duration::from_millis(200);

/// A process of a function. It ends with this value.
pub struct Worker {
    child: Mutex<Child>,
    api: RuntimeApi,
    /// What stands between it and AWS.
    pub proxy: Proxy,
}

impl Worker {
    /// Starts `bootstrap` with these variables and nothing else of ours; what
    /// it says is added to the file `log`.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn start(
        bootstrap: &Path,
        variables: &BTreeMap<String, String>,
        upstream: u16,
        log: &Path,
    ) -> Result<Self> {
        let (api, proxy) = (RuntimeApi::start().await?, Proxy::start(upstream).await?);
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        // The certificates of this machine, or the system's search for them
        // would be most of the start.
        let inherited = ["SSL_CERT_FILE", "SSL_CERT_DIR"]
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        let child = Command::new(bootstrap)
            .env_clear()
            .envs(inherited)
            .envs(variables)
            .env("AWS_ENDPOINT_URL", proxy.url())
            .env("AWS_LAMBDA_RUNTIME_API", api.address())
            .env("AWS_LAMBDA_FUNCTION_NAME", "driven")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", bootstrap.display()))?;
        Ok(Self { child: Mutex::new(child), api, proxy })
    }

    /// Hands it an event, with so much time to work on it, and waits for the
    /// end. A process that dies meanwhile is one of the ends.
    ///
    /// # Errors
    /// It could not even start.
    pub async fn invoke(&self, event: &Value, time: Duration) -> Result<Ended> {
        let mut ended = self.api.invoke(Bytes::from(event.to_string()), time);
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                ended = &mut ended => return Ok(ended.unwrap_or(Ended::Gone)),
                _ = looks.tick() => {
                    if let Some(error) = self.api.init_error() {
                        bail!("the function cannot start: {error}");
                    }
                    ensure!(self.child().try_wait()?.is_none() || self.api.is_over(), "the process died of itself");
                }
            }
        }
    }

    /// The same, where only an answer will do.
    ///
    /// # Errors
    /// The invocation ended otherwise.
    pub async fn answer(&self, event: &Value, time: Duration) -> Result<Value> {
        match self.invoke(event, time).await? {
            Ended::Answered(answer) => Ok(answer),
            Ended::Failed(error) => bail!("the function failed: {error}"),
            Ended::Gone => bail!("the function's process died"),
        }
    }

    /// Kills it, as `kill -9` does: it does nothing more, not even an answer.
    ///
    /// # Errors
    /// The system refuses.
    pub fn kill(&self) -> Result<()> {
        let mut child = self.child();
        // What it is about to answer no longer counts.
        self.api.end();
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Lets `work`, which it does, run until it stands at `gate`, and kills it
    /// there; then whatever is left of the work ends. `None`: it was killed.
    ///
    /// # Errors
    /// Those of the work.
    pub async fn killed_at<T>(
        &self,
        gate: &Gate,
        work: impl Future<Output = Result<T>>,
    ) -> Result<Option<T>> {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            ended = &mut work => return ended.map(Some),
            () = gate.reached() => {}
        }
        self.kill()?;
        work.await?;
        Ok(None)
    }

    /// Freezes it, as Lambda may between two steps of an invocation.
    ///
    /// # Errors
    /// The system refuses.
    pub async fn freeze(&self) -> Result<()> {
        self.signal("-STOP")?;
        let status = format!("/proc/{}/stat", self.child().id());
        until("the process to stand still", async || {
            // The state is behind the name, which is in brackets.
            let text = std::fs::read_to_string(&status)?;
            Ok(text.rsplit_once(") ").filter(|(_, rest)| rest.starts_with('T')).map(drop))
        })
        .await
    }

    /// Lets a frozen one go on.
    ///
    /// # Errors
    /// The system refuses.
    pub fn thaw(&self) -> Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let id = self.child().id().to_string();
        let status = Command::new("kill").args([signal, &id]).status()?;
        ensure!(status.success(), "kill {signal} was refused");
        Ok(())
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Nothing can be done about a failure here, and our own end closes
        // the Runtime API, without which it ends too.
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }
}
