//! The demo as it is written down in `events/demo.toml`.

use crate::local::destination::ApiAnswer;
use anyhow::{Context, Result, bail, ensure};
use sekali::config::Config;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Deliveries in the order in which they are sent, and what is to come of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What `env:NAME` holds.
    pub secrets: BTreeMap<String, String>,
    /// The deliveries.
    #[serde(rename = "delivery")]
    pub deliveries: Vec<Delivery>,
    /// What vendors' APIs answer.
    #[serde(default, rename = "api")]
    pub apis: Vec<Api>,
    /// Every effect that the destinations are to be asked for, each once.
    #[serde(rename = "effect")]
    pub effects: Vec<Wanted>,
    /// The folder that bodies are named in.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// One delivery, or several of the same.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delivery {
    /// For people.
    pub title: String,
    /// The endpoint that is called.
    pub endpoint: String,
    /// The file with the body.
    pub body: PathBuf,
    /// Headers besides those that sign it.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How often it is sent.
    #[serde(default = "once")]
    pub times: usize,
    /// All of them at the same time, not one after the other.
    #[serde(default)]
    pub at_once: bool,
    /// Its signature is of another body.
    #[serde(default)]
    pub forged: bool,
    /// How long ago it was signed, in seconds.
    #[serde(default)]
    pub age_s: u64,
    /// The HTTP status of each, in order; where they are sent at once, in any.
    pub answers: Vec<u16>,
    /// The vendor's id of the event. None: nothing is to be stored.
    pub event: Option<String>,
    /// The status that the event ends in.
    pub becomes: Option<String>,
    /// The next delivery is sent only after this one's event has ended.
    #[serde(default)]
    pub settle: bool,
}

/// What a vendor's API answers to whoever asks for a path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    /// The endpoint whose vendor it is.
    pub endpoint: String,
    /// The path, as the URL of the endpoint's `fetch` makes it.
    pub path: String,
    /// How often it is not there yet.
    #[serde(default)]
    pub missing: usize,
    /// The file with the answer.
    pub body: PathBuf,
}

/// An effect that is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The destination.
    pub destination: String,
    /// Fields by which it is recognised.
    pub data: BTreeMap<String, String>,
}

fn once() -> usize {
    1
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// It cannot be read, or contradicts itself; the message names the place.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut script: Self =
            toml::from_str(&text).with_context(|| format!("{} is no demo", path.display()))?;
        script.folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        for delivery in &script.deliveries {
            let title = &delivery.title;
            ensure!(
                delivery.answers.len() == delivery.times,
                "\"{title}\": one answer for each time it is sent"
            );
            ensure!(
                delivery.event.is_some() == delivery.becomes.is_some(),
                "\"{title}\": `event` and `becomes` go together"
            );
        }
        Ok(script)
    }

    /// Whether the configuration, which lies in `file`, has what is played.
    ///
    /// # Errors
    /// It lacks an endpoint; how a configuration of one's own is run.
    pub fn fits(&self, config: &Config, file: &Path) -> Result<()> {
        let lacks = |delivery: &&Delivery| !config.endpoints.contains_key(delivery.endpoint.as_str());
        match self.deliveries.iter().find(lacks) {
            None => Ok(()),
            Some(delivery) => bail!(
                "the demo plays the endpoint {}, which {file} does not have: it goes with the file as it came; a configuration of your own runs, without the demo, by: make run ENDPOINTS={file}",
                delivery.endpoint,
                file = file.display()
            ),
        }
    }

    /// The answers of vendors' APIs, by the path at the local destination.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn answers(&self) -> Result<BTreeMap<String, ApiAnswer>> {
        let read = |api: &Api| {
            let file = self.folder.join(&api.body);
            let body = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let path = format!("/{}/{}{}", super::super::configuration::APIS, api.endpoint, api.path);
            Ok((path, ApiAnswer { missing: api.missing, body: body.into() }))
        };
        self.apis.iter().map(read).collect()
    }

    /// How many requests it sends.
    pub fn requests(&self) -> usize {
        self.deliveries.iter().map(|delivery| delivery.times).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Script {
        Script::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../events/demo.toml"))).unwrap()
    }

    #[test]
    fn the_shipped_demo_can_be_read_and_names_bodies_that_are_there() {
        let script = shipped();
        for delivery in &script.deliveries {
            assert!(script.folder.join(&delivery.body).is_file(), "{}", delivery.body.display());
        }
        assert_eq!(script.answers().unwrap().len(), script.apis.len());
        assert!(script.requests() > script.deliveries.len());
    }

    #[test]
    fn a_configuration_that_the_demo_does_not_fit_is_told_how_it_is_run() {
        let own = r#"
            [endpoint.stripe]
            vendor = "stripe"
            secrets = ["env:OWN"]
        "#;
        let config = sekali::config::check(("infra/endpoints.toml", own), &[]).parts;
        let error = shipped().fits(&config, Path::new("infra/endpoints.toml")).unwrap_err().to_string();
        assert!(error.contains("the endpoint shop, which infra/endpoints.toml does not have"), "{error}");
        assert!(error.ends_with("make run ENDPOINTS=infra/endpoints.toml"), "{error}");
    }

    #[test]
    fn the_shipped_demo_has_a_secret_for_every_endpoint_and_destination_of_the_shipped_configuration() {
        use crate::local::configuration::LocalConfiguration;
        use crate::local::secrets::Secrets;
        let endpoints = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra/endpoints.toml");
        let configuration = LocalConfiguration::read(&endpoints, 4600).unwrap();
        let secrets = Secrets::gather(&configuration.config, Some(&shipped()));
        assert_eq!(secrets.missing, [""; 0]);
    }
}
