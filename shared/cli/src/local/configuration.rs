//! The configuration as the local run deploys it: the team's own, except that
//! effects stay on this machine.

use anyhow::{Context, Result, bail};
use sekali::config::{self, Config, Keeper};
use std::fs;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The path below which the local destination plays vendors' APIs.
pub const APIS: &str = "apis";

/// A configuration made ready for the local run.
#[derive(Debug)]
pub struct LocalConfiguration {
    /// What it says, checked.
    pub config: Config,
    /// The text that is deployed.
    pub endpoints: String,
    /// The team's own vendor descriptions: path in the package, and text.
    pub vendors: Vec<(String, String)>,
    /// Destinations whose calls were turned to the local destination, with the
    /// URL that they would have gone to.
    pub redirected: Vec<(String, String)>,
    /// The folder of the file.
    pub folder: PathBuf,
}

impl LocalConfiguration {
    /// Reads `endpoints_file` and the vendor descriptions in the folder `vendors`
    /// beside it. Every `http = "https://.."` becomes a path of the local
    /// destination on `port`: a trial run must not pack a real parcel. What
    /// calls this machine already is left as it is.
    ///
    /// # Errors
    /// A file cannot be read, or the configuration does not hold together: each
    /// problem with its place.
    pub fn read(endpoints_file: &Path, port: u16) -> Result<Self> {
        let text = fs::read_to_string(endpoints_file)
            .with_context(|| format!("cannot read the configuration {}", endpoints_file.display()))?;
        let folder = endpoints_file.parent().unwrap_or(Path::new(".")).to_owned();
        let vendors = read_vendors(&folder.join("vendors"))?;
        let named = endpoints_file.display().to_string();
        let files: Vec<_> = vendors.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let config = config::load((&named, &text), &files).map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(|problem| format!("  {problem}")).collect();
            anyhow::anyhow!("the configuration does not hold together:\n{}", lines.join("\n"))
        })?;
        let (endpoints, redirected) = redirect(&text, port)?;
        Ok(Self { config, endpoints, vendors, redirected, folder })
    }

    /// Asks the vendors' APIs that the demo plays on the local destination, on
    /// `port`, instead of the vendors' own: what they are asked about is
    /// invented.
    ///
    /// # Errors
    /// The text cannot be read any more.
    pub fn with_local_apis(mut self, port: u16) -> Result<Self> {
        self.endpoints = local_apis(&self.endpoints, port)?;
        Ok(self)
    }

    /// Files beside the configuration that hold secrets: the path from there,
    /// and the file or, where each tenant has one, the folder of them.
    pub fn secret_files(&self) -> Vec<(PathBuf, PathBuf)> {
        let secrets = self.config.endpoints.values().flat_map(|endpoint| &endpoint.secrets);
        let mut files: Vec<_> = secrets
            .filter(|secret| secret.keeper() == Keeper::File && Path::new(secret.name()).is_relative())
            .map(|secret| {
                let fixed = Path::new(secret.name());
                let fixed: PathBuf =
                    fixed.iter().take_while(|part| !part.to_string_lossy().contains('{')).collect();
                (fixed.clone(), self.folder.join(fixed))
            })
            .filter(|(_, source)| source.exists())
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

fn read_vendors(folder: &Path) -> Result<Vec<(String, String)>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut vendors = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            vendors.push((format!("vendors/{name}"), fs::read_to_string(&path)?));
        }
    }
    vendors.sort();
    Ok(vendors)
}

/// Replaces the URL of every destination that is not on this machine.
fn redirect(text: &str, port: u16) -> Result<(String, Vec<(String, String)>)> {
    let document = DeTable::parse(text)?;
    let destinations = match document.get_ref().get("destination").map(toml::Spanned::get_ref) {
        Some(DeValue::Table(table)) => table,
        _ => return Ok((text.to_owned(), Vec::new())),
    };
    let mut urls = Vec::new();
    for (name, value) in destinations.iter() {
        let DeValue::Table(destination) = value.get_ref() else { continue };
        let Some(http) = destination.get("http") else { continue };
        let DeValue::String(url) = http.get_ref() else { bail!("`http` is not a text") };
        if url.starts_with("https://") {
            urls.push((http.span(), name.get_ref().to_string(), url.to_string()));
        }
    }
    urls.sort_by_key(|(span, ..)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, name, _) in &urls {
        text.replace_range(span.clone(), &format!("\"http://127.0.0.1:{port}/{name}\""));
    }
    Ok((text, urls.into_iter().rev().map(|(_, name, url)| (name, url)).collect()))
}

/// Replaces the host of every `fetch.url`; path and parts stay.
fn local_apis(text: &str, port: u16) -> Result<String> {
    let document = DeTable::parse(text)?;
    let endpoints = match document.get_ref().get("endpoint").map(toml::Spanned::get_ref) {
        Some(DeValue::Table(table)) => table,
        _ => return Ok(text.to_owned()),
    };
    let mut urls = Vec::new();
    for (name, value) in endpoints.iter() {
        let DeValue::Table(endpoint) = value.get_ref() else { continue };
        let Some(DeValue::Table(fetch)) = endpoint.get("fetch").map(toml::Spanned::get_ref) else { continue };
        let Some(url) = fetch.get("url") else { continue };
        let DeValue::String(text) = url.get_ref() else { bail!("`url` is not a text") };
        let rest = text.strip_prefix("https://").and_then(|rest| rest.find('/').map(|at| &rest[at..]));
        if let Some(path) = rest {
            urls.push((url.span(), format!("\"http://127.0.0.1:{port}/{APIS}/{}{path}\"", name.get_ref())));
        }
    }
    urls.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, url) in urls {
        text.replace_range(span, &url);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_would_leave_this_machine_go_to_the_local_destination() {
        let text = r#"
            [destination]
            packing = { http = "https://packing.example.com/tasks", in_doubt = "park" }
            here = { http = "http://127.0.0.1:9/x" }
            [destination.jobs]
            http = 'https://jobs.example.com'
        "#;
        let (text, redirected) = redirect(text, 4600).unwrap();
        assert!(text.contains(r#"http = "http://127.0.0.1:4600/packing", in_doubt"#), "{text}");
        assert!(text.contains(r#"http = "http://127.0.0.1:4600/jobs""#), "{text}");
        assert!(text.contains(r#"here = { http = "http://127.0.0.1:9/x" }"#), "{text}");
        let asking = "[endpoint.a.fetch]\nurl = 'https://api.example.com/v1/{/id}?x={/y}' # why\n";
        let local = local_apis(asking, 4600).unwrap();
        assert_eq!(
            local,
            "[endpoint.a.fetch]\nurl = \"http://127.0.0.1:4600/apis/a/v1/{/id}?x={/y}\" # why\n"
        );
        let names: Vec<_> = redirected.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["packing", "jobs"]);
    }
}
