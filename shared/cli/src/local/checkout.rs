//! Where things are in a checkout of the project.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// The functions, by the names of their packages; the template has one of each.
pub const FUNCTIONS: [&str; 3] = ["ingest", "processor", "sweeper"];

/// A checkout of the project: what is deployed and the tools to do it with.
#[derive(Debug, Clone)]
pub struct Checkout {
    root: PathBuf,
}

impl Checkout {
    /// The checkout around `start`, e.g. the current directory.
    ///
    /// # Errors
    /// No folder from there upwards holds the template: run it in a checkout.
    pub fn around(start: &Path) -> Result<Self> {
        start
            .ancestors()
            .find(|folder| folder.join("infra/template.yaml").is_file())
            .map(|root| Self { root: root.to_owned() })
            .with_context(|| format!("{} is not inside a checkout of Sekali", start.display()))
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The template.
    pub fn template(&self) -> PathBuf {
        self.root.join("infra/template.yaml")
    }

    /// The configuration that is shipped.
    pub fn endpoints(&self) -> PathBuf {
        self.root.join("infra/endpoints.toml")
    }

    /// The demo.
    pub fn demo(&self) -> PathBuf {
        self.root.join("events/demo.toml")
    }

    /// The script that ends a process group with its input.
    pub fn while_open(&self) -> PathBuf {
        self.root.join("infra/local/while_open.py")
    }

    /// Where builds for the local run are put, apart from those for a deployment.
    pub fn builds(&self) -> PathBuf {
        self.root.join("target/local/lambda")
    }

    /// A tool of the private tool folder.
    ///
    /// # Errors
    /// It is not installed.
    pub fn tool(&self, name: &str) -> Result<PathBuf> {
        let tool = self.root.join(".tools/venv/bin").join(name);
        ensure!(
            tool.is_file(),
            "the tool folder has no {name}: run `make tools` (it needs Python 3.11 or newer)"
        );
        Ok(tool)
    }
}
