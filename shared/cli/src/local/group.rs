//! A process group that lives no longer than we do.

use super::checkout::Checkout;
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often we look whether a command has ended.
const LOOK: Duration = Duration::from_millis(50);

/// A command and all that it starts. It ends with this value, and with this
/// process, however that ends: the pipe to its input closes then.
#[derive(Debug)]
pub struct Group {
    child: Child,
}

impl Group {
    /// Starts `command` with `environment` and nothing else of ours. Its output
    /// goes to the file `output`, or to our own standard error.
    ///
    /// # Errors
    /// The tools are not installed or the file cannot be written.
    pub fn start<A: AsRef<OsStr>>(
        checkout: &Checkout,
        command: &[A],
        environment: &[(OsString, OsString)],
        output: Option<&Path>,
    ) -> Result<Self> {
        let (out, err) = match output {
            Some(path) => {
                let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
                (Stdio::from(file.try_clone()?), Stdio::from(file))
            }
            None => (Stdio::from(std::io::stderr()), Stdio::inherit()),
        };
        let python = checkout.tool("python")?;
        let child = Command::new(&python)
            .arg(checkout.while_open())
            .args(command)
            .current_dir(checkout.root())
            .env_clear()
            .envs(environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        Ok(Self { child })
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The system does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// The system does not say.
    pub async fn wait(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The group kills itself at once; waiting makes sure that it has, and
        // that its ports are free.
        let _ = self.child.wait();
    }
}
