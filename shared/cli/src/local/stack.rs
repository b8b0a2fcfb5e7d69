//! The template, deployed to an emulator of its own. `make run` and the
//! end-to-end tests use the same.

use super::aws::{Aws, StackState};
use super::checkout::{Checkout, FUNCTIONS};
use super::configuration::LocalConfiguration;
use super::emulator::Emulator;
use super::package;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the local stack.
pub const STACK: &str = "sekali-local";
const BUCKET: &str = "sekali-local";
const TEMPLATE: &str = "template.yaml";
const STAGE: &str = "local";
/// What a stack on an emulator does without.
const EMULATED: [(&str, &str); 2] = [("Emulated", "true"), ("DeletionProtection", "false")];
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// What to deploy.
#[derive(Debug)]
pub struct Spec<'a> {
    /// Of which checkout.
    pub checkout: &'a Checkout,
    /// Where this run keeps its files.
    pub folder: PathBuf,
    /// The emulator's port.
    pub port: u16,
    /// The configuration.
    pub configuration: &'a LocalConfiguration,
    /// What `env:NAME` holds for endpoints, which ingest reads.
    pub endpoint_secrets: BTreeMap<String, String>,
    /// What `env:NAME` holds for destinations, which the processor reads.
    pub destination_secrets: BTreeMap<String, String>,
    /// Parameters of the template other than stage and architecture.
    pub parameters: Vec<(&'static str, String)>,
}

/// A deployed stack. It ends with this value.
#[derive(Debug)]
pub struct Stack {
    emulator: Emulator,
    outputs: BTreeMap<String, String>,
}

impl Stack {
    /// Starts an emulator and deploys the template to it. The functions must
    /// have been built.
    ///
    /// # Errors
    /// One sentence that says what is missing, taken or refused.
    pub async fn start(spec: Spec<'_>) -> Result<Self> {
        fs::create_dir_all(&spec.folder)?;
        let emulator = Emulator::start(spec.checkout, &spec.folder, spec.port).await?;
        let aws = emulator.aws;
        aws.create_bucket(BUCKET).await?;
        let zips = package::zip(spec.checkout, &spec.folder, spec.configuration).await?;
        for (function, zip) in FUNCTIONS.iter().zip(zips) {
            aws.put_object(BUCKET, &format!("{function}.zip"), fs::read(zip)?.into()).await?;
        }
        let template = package::with_code_in(&fs::read_to_string(spec.checkout.template())?, BUCKET)?;
        aws.put_object(BUCKET, TEMPLATE, template.into()).await?;
        let mut stack = Self { emulator, outputs: BTreeMap::new() };
        stack.outputs = stack.deploy(&spec.parameters).await?;
        stack.set_variables(&spec).await?;
        Ok(stack)
    }

    async fn deploy(&self, parameters: &[(&str, String)]) -> Result<BTreeMap<String, String>> {
        let architecture = match std::env::consts::ARCH {
            "aarch64" => "arm64",
            other => other,
        };
        let mut all = vec![("Stage", STAGE), ("Architecture", architecture)];
        all.extend(EMULATED);
        all.extend(parameters.iter().map(|(name, value)| (*name, value.as_str())));
        let aws = self.aws();
        aws.create_stack(STACK, &format!("{BUCKET}/{TEMPLATE}"), &all).await?;
        let state = tokio::time::timeout(PATIENCE, deployed(aws))
            .await
            .context("the stack did not stand within a minute")??;
        if state.status != "CREATE_COMPLETE" {
            let cause = aws.stack_failure(STACK).await?.or(state.reason).unwrap_or_default();
            bail!("the stack ended as {}: {cause}", state.status);
        }
        Ok(state.outputs)
    }

    /// Adds what only this run knows to the functions' environment, the way a
    /// team would: after the deployment, beside the template's own variables.
    async fn set_variables(&self, spec: &Spec<'_>) -> Result<()> {
        let aws = self.aws();
        if !spec.endpoint_secrets.is_empty() {
            aws.add_variables(self.output("IngestFunction")?, &spec.endpoint_secrets).await?;
        }
        let mut variables = spec.destination_secrets.clone();
        // The local destination is plain HTTP on this machine, which the
        // processor refuses everywhere else.
        variables.insert("SEKALI_ALLOW_PRIVATE_DESTINATIONS".to_owned(), "1".to_owned());
        aws.add_variables(self.output("ProcessorFunction")?, &variables).await
    }

    /// The emulator's AWS.
    pub fn aws(&self) -> Aws {
        self.emulator.aws
    }

    /// An output of the template.
    ///
    /// # Errors
    /// The template has no such output.
    pub fn output(&self, name: &str) -> Result<&str> {
        self.outputs
            .get(name)
            .map(String::as_str)
            .with_context(|| format!("infra/template.yaml has no output {name}"))
    }

    /// The path of an endpoint on the emulator's port. The API's own host name
    /// ends in `.localhost`, which not every resolver knows.
    ///
    /// # Errors
    /// The template has no output ApiId.
    pub fn endpoint_path(&self, endpoint: &str) -> Result<String> {
        Ok(format!("/_aws/execute-api/{}/webhooks/{endpoint}", self.output("ApiId")?))
    }

    /// Where the emulator and the functions write what they say.
    pub fn log(&self) -> &Path {
        self.emulator.log()
    }

    /// Says whether the emulator is still there.
    ///
    /// # Errors
    /// It has ended.
    pub fn alive(&mut self) -> Result<()> {
        self.emulator.alive()
    }
}

async fn deployed(aws: Aws) -> Result<StackState> {
    loop {
        let state = aws.stack(STACK).await?;
        if !state.status.ends_with("IN_PROGRESS") {
            return Ok(state);
        }
        tokio::time::sleep(LOOK).await;
    }
}
