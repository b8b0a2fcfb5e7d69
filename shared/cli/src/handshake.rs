//! `sekali handshake`: secrets that vendors hand over. Ingest keeps the first
//! one for an endpoint that has none; whoever is on call looks at it here and
//! puts it where the endpoint's secret is kept. Nothing is verified with it
//! before.

use crate::local::environment;
use crate::say::say;
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use sekali::ids::EndpointName;
use sekali_aws::client::Patience;
use sekali_aws::{Aws, DynamoStore, Tables};

/// The variable in which the template names the table to the functions.
const EVENTS_TABLE: &str = "SEKALI_EVENTS_TABLE";

/// Secrets that vendors hand over.
#[derive(Debug, Subcommand)]
pub enum Handshake {
    /// Show the secret that a vendor handed over, alone on standard output.
    #[command(after_help = "Examples:
  sekali handshake show notes --table prod-events
  sekali handshake show notes --local")]
    Show(Whose),
    /// Take it away, so that the vendor can hand over another: after a
    /// stranger was first, or once the secret has its place.
    #[command(after_help = "Example:\n  sekali handshake forget notes --table prod-events")]
    Forget(Whose),
}

/// Which endpoint's, and where to look.
#[derive(Debug, Args)]
pub struct Whose {
    /// The endpoint.
    endpoint: String,
    /// The events table; else the one that SEKALI_EVENTS_TABLE names.
    #[arg(long)]
    table: Option<String>,
    /// Look into the tables of `sekali local run`, while it is up.
    #[arg(long, conflicts_with = "table")]
    local: bool,
}

impl Handshake {
    /// Does what was asked for.
    ///
    /// # Errors
    /// What is missing, or why the table could not be asked.
    pub async fn run(self) -> Result<()> {
        match self {
            Self::Show(whose) => whose.show().await,
            Self::Forget(whose) => whose.forget().await,
        }
    }
}

impl Whose {
    async fn show(&self) -> Result<()> {
        let endpoint = EndpointName::new(self.endpoint.as_str());
        let captured = self.store()?.captured(&endpoint).await?.with_context(|| self.nothing())?;
        let secret = std::str::from_utf8(captured.secret.expose()).context("the secret is no text")?;
        eprintln!(
            "handed over at {} ms, by delivery {}. Anybody could have sent it: compare it with what the \
             vendor shows, put it where the endpoint's secret is kept, then `sekali handshake forget {}`.",
            captured.at.0, captured.correlation, endpoint
        );
        say(secret);
        Ok(())
    }

    async fn forget(&self) -> Result<()> {
        let endpoint = EndpointName::new(self.endpoint.as_str());
        let store = self.store()?;
        ensure!(store.captured(&endpoint).await?.is_some(), self.nothing());
        store.forget_captured(&endpoint).await?;
        say(format_args!("gone; while endpoint {endpoint} has no secret, the next one is kept"));
        Ok(())
    }

    fn nothing(&self) -> String {
        format!(
            "no secret was handed over for endpoint {}: have the vendor send it again, while the endpoint \
             has none",
            self.endpoint
        )
    }

    /// The store, of which the events table alone is asked.
    fn store(&self) -> Result<DynamoStore> {
        let local = if self.local { Some(environment::read(None)?) } else { None };
        let variable = |name: &str| match &local {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        let table = self.table.clone().or_else(|| variable(EVENTS_TABLE)).filter(|name| !name.is_empty());
        let Some(events) = table else { bail!("name the events table: --table NAME, or --local") };
        let aws = Aws::from_variables(Patience::PERSON, variable)?;
        let tables = Tables { events, resources: String::new(), actions: String::new() };
        Ok(DynamoStore::new(aws.dynamodb(), tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_table_it_says_how_to_name_one() {
        let whose = Whose { endpoint: "notes".into(), table: Some(String::new()), local: false };
        let refused = whose.store().unwrap_err();
        assert!(refused.to_string().contains("--table"), "{refused}");
    }
}
