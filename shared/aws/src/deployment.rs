//! A function's environment: the tables and the queue that the template names,
//! and the configuration that travelled beside the binary.

use sekali::config::{Retentions, check_calls, check_windows, load};
use sekali::deployment::Deployment;
use sekali::problem::Problem;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

use crate::dynamodb::Tables;

/// Where the configuration lies below the function's code.
const CONFIG_FOLDER: &str = "config";

/// Why a function cannot start. Everything that is wrong is listed at once.
#[derive(Debug, Error)]
pub enum NotDeployed {
    /// Variables that the template sets.
    #[error("{}", .0.join("; "))]
    Environment(Vec<String>),
    /// A file that cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// What is wrong with the configuration, each with its place.
    #[error("the configuration has {} problem(s):\n{}", .0.len(), lines(.0))]
    Configuration(Vec<Problem>),
}

/// What the template tells a function.
#[derive(Debug)]
pub struct Environment {
    /// What the deployment is called; metrics are counted by it.
    pub stage: String,
    /// The three tables.
    pub tables: Tables,
    /// The queue's address.
    pub queue_url: String,
    /// Configuration and the queue's numbers.
    pub deployment: Deployment,
    /// Where the configuration lies, and `file:` secrets beside it.
    pub folder: PathBuf,
}

impl Environment {
    /// Reads the environment and the configuration beside the binary.
    ///
    /// # Errors
    /// See [`NotDeployed`]: the function must not start.
    pub fn read() -> Result<Self, NotDeployed> {
        let mut variables = Variables { wrong: Vec::new() };
        let tables = Tables {
            events: variables.text("SEKALI_EVENTS_TABLE"),
            resources: variables.text("SEKALI_RESOURCES_TABLE"),
            actions: variables.text("SEKALI_ACTIONS_TABLE"),
        };
        let stage = variables.text("SEKALI_STAGE");
        let queue_url = variables.text("SEKALI_QUEUE_URL");
        let retentions = Retentions {
            queue: variables.seconds("SEKALI_QUEUE_RETENTION_S"),
            dlq: variables.seconds("SEKALI_DLQ_RETENTION_S"),
        };
        let visibility = variables.seconds("SEKALI_VISIBILITY_S");
        let invocation = variables.seconds("SEKALI_PROCESSOR_TIMEOUT_S");
        if !variables.wrong.is_empty() {
            return Err(NotDeployed::Environment(variables.wrong));
        }
        let folder = config_folder();
        let config = read_config(&folder)?;
        let mut problems = check_windows(&config, retentions);
        problems.extend(check_calls(&config, invocation));
        if !problems.is_empty() {
            return Err(NotDeployed::Configuration(problems));
        }
        let deployment = Deployment { config, retentions, visibility };
        Ok(Self { stage, tables, queue_url, deployment, folder })
    }
}

fn config_folder() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("SEKALI_CONFIG")
        .or_else(|| set("LAMBDA_TASK_ROOT").map(|root| root.join(CONFIG_FOLDER)))
        .unwrap_or_else(|| PathBuf::from(CONFIG_FOLDER))
}

/// Reads `endpoints.toml` and a team's own `vendors/*.toml`.
///
/// # Errors
/// A file cannot be read, or what is wrong with the configuration.
pub fn read_config(folder: &Path) -> Result<sekali::config::Config, NotDeployed> {
    let endpoints = read(&folder.join("endpoints.toml"))?;
    let mut vendors = Vec::new();
    let own = folder.join("vendors");
    if own.is_dir() {
        let failed = |error| NotDeployed::File { path: own.clone(), error };
        let mut paths: Vec<PathBuf> = std::fs::read_dir(&own)
            .map_err(failed)?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            vendors.push((format!("vendors/{name}"), read(&path)?));
        }
    }
    let vendors: Vec<(&str, &str)> =
        vendors.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    load(("endpoints.toml", &endpoints), &vendors).map_err(NotDeployed::Configuration)
}

fn read(path: &Path) -> Result<String, NotDeployed> {
    std::fs::read_to_string(path).map_err(|error| NotDeployed::File { path: path.to_owned(), error })
}

/// Reads variables and collects what is wrong with them.
struct Variables {
    wrong: Vec<String>,
}

impl Variables {
    fn text(&mut self, name: &str) -> String {
        match std::env::var(name) {
            Ok(value) if !value.trim().is_empty() => value,
            _ => {
                self.wrong.push(format!("{name} is not set: the template sets it"));
                String::new()
            }
        }
    }

    fn seconds(&mut self, name: &str) -> Duration {
        let value = self.text(name);
        if value.is_empty() {
            return Duration::ZERO;
        }
        value.trim().parse().map(Duration::from_secs).unwrap_or_else(|_| {
            self.wrong.push(format!("{name} must be a whole number of seconds"));
            Duration::ZERO
        })
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
