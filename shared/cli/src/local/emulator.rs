//! AWS on one port of this machine, for as long as this value lives.

use super::aws::{Aws, REGION};
use super::checkout::Checkout;
use super::group::Group;
use super::wire::loopback;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A start takes two seconds; a loaded machine may take many times that.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// What of AWS the template uses. The emulator plays no more than that.
const SERVICES: &str = "apigateway,cloudformation,dynamodb,events,iam,lambda,logs,monitoring,s3,scheduler,\
                        secretsmanager,sqs,ssm,sts";

/// What of our environment the emulator, and so the functions, may see. No
/// credentials: a trial run must not reach anybody's account.
const INHERITED: [&str; 5] = ["PATH", "HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// A running emulator.
#[derive(Debug)]
pub struct Emulator {
    group: Group,
    log: PathBuf,
    /// Its AWS.
    pub aws: Aws,
}

impl Emulator {
    /// Starts an emulator on `port`, with its log and its scratch files in
    /// `folder`, and waits until it is up.
    ///
    /// # Errors
    /// The tools are not installed, the port is taken, or it does not come up.
    pub async fn start(checkout: &Checkout, folder: &Path, port: u16) -> Result<Self> {
        free(port, "PORT")?;
        let scratch = folder.join("tmp");
        // What an earlier emulator unpacked there may be half of a function.
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        fs::create_dir_all(&scratch)?;
        let log = folder.join("emulator.log");
        let aws = Aws { port };
        let command = [checkout.tool("python")?.into_os_string(), "-m".into(), "ministack".into()];
        let group = Group::start(checkout, &command, &environment(aws, &scratch), Some(&log))?;
        let mut emulator = Self { group, log, aws };
        tokio::time::timeout(PATIENCE, emulator.up()).await.with_context(|| {
            format!("the emulator did not come up within {PATIENCE:?}; see {}", emulator.log.display())
        })??;
        Ok(emulator)
    }

    async fn up(&mut self) -> Result<()> {
        while !self.aws.healthy().await {
            self.alive()?;
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Says whether it is still there.
    ///
    /// # Errors
    /// It has ended; where its last words are.
    pub fn alive(&mut self) -> Result<()> {
        match self.group.ended()? {
            None => Ok(()),
            Some(_) => bail!("the emulator ended; its last words are in {}", self.log.display()),
        }
    }

    /// Where it writes what it and the functions say.
    pub fn log(&self) -> &Path {
        &self.log
    }
}

/// The emulator hands its own environment down to the functions.
fn environment(aws: Aws, scratch: &Path) -> Vec<(OsString, OsString)> {
    let own = [
        ("GATEWAY_PORT", aws.port.to_string()),
        ("BIND_HOST", "127.0.0.1".to_owned()),
        ("LAMBDA_EXECUTOR", "local".to_owned()),
        ("SERVICES", SERVICES.to_owned()),
        // On by default, and on every interface.
        ("IOT_MTLS_ENABLED", "0".to_owned()),
        ("SFTP_ENABLED", "0".to_owned()),
        ("MINISTACK_REGION", REGION.to_owned()),
        ("AWS_ENDPOINT_URL", aws.endpoint()),
        ("TMPDIR", scratch.display().to_string()),
        ("PYTHONUNBUFFERED", "1".to_owned()),
    ]
    .map(|(name, value)| (name.into(), value.into()));
    let inherited = INHERITED.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    inherited.chain(own).collect()
}

/// Refuses a port that somebody has. `variable` is what `make run` calls it.
pub fn free(port: u16, variable: &str) -> Result<()> {
    match TcpListener::bind(loopback(port)) {
        Ok(_) => Ok(()),
        Err(_) => bail!("port {port} is taken: choose another with {variable}="),
    }
}

/// A port that nobody has at this moment, for runs that do not care which.
///
/// # Errors
/// The system has none.
pub fn any_port() -> Result<u16> {
    Ok(TcpListener::bind(loopback(0))?.local_addr()?.port())
}
