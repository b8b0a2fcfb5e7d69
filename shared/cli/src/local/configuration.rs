//! The configuration as the local run deploys it: the team's own, except that
//! effects stay on this machine.

use anyhow::{Context, Result, bail};
use sekali::config::{self, Config, Keeper, SecretRef};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A configuration made ready for the local run.
#[derive(Debug)]
pub struct LocalConfiguration {
    /// What it says, checked.
    pub config: Config,
    /// The text that is deployed.
    pub endpoints: String,
    /// The team's own vendor descriptions: file name and text.
    pub vendors: Vec<(String, String)>,
    /// Destinations whose calls were turned to the local destination, with the
    /// URL that they would have gone to.
    pub redirected: Vec<(String, String)>,
}

impl LocalConfiguration {
    /// Reads `endpoints` and the vendor descriptions in the folder `vendors`
    /// beside it. Every `http = "https://.."` becomes a path of the local
    /// destination on `port`: a trial run must not pack a real parcel. What
    /// calls this machine already is left as it is.
    ///
    /// # Errors
    /// A file cannot be read, or the configuration does not hold together: each
    /// problem with its place.
    pub fn read(endpoints: &Path, vendors: &Path, port: u16) -> Result<Self> {
        let text = fs::read_to_string(endpoints)
            .with_context(|| format!("cannot read the configuration {}", endpoints.display()))?;
        let vendors = read_vendors(vendors)?;
        let named = endpoints.display().to_string();
        let files: Vec<_> = vendors.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let config = config::load((&named, &text), &files).map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(|problem| format!("  {problem}")).collect();
            anyhow::anyhow!("the configuration does not hold together:\n{}", lines.join("\n"))
        })?;
        let (endpoints, redirected) = redirect(&text, port)?;
        Ok(Self { config, endpoints, vendors, redirected })
    }

    /// The variables that hold secrets: those of endpoints, and those of
    /// destinations.
    pub fn secret_variables(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let names = |secrets: &[SecretRef]| -> Vec<String> {
            secrets
                .iter()
                .filter(|secret| secret.keeper() == Keeper::Environment)
                .map(|secret| secret.name().to_owned())
                .collect()
        };
        (
            self.config.endpoints.values().flat_map(|endpoint| names(&endpoint.secrets)).collect(),
            self.config.destinations.values().flat_map(|destination| names(&destination.secrets)).collect(),
        )
    }

    /// The values of `names` that the environment `given` holds, and the names
    /// that it does not.
    pub fn pick(
        names: &BTreeSet<String>,
        given: impl Fn(&str) -> Option<String>,
    ) -> (BTreeMap<String, String>, Vec<String>) {
        let mut found = BTreeMap::new();
        let mut missing = Vec::new();
        for name in names {
            match given(name) {
                Some(value) => drop(found.insert(name.clone(), value)),
                None => missing.push(name.clone()),
            }
        }
        (found, missing)
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
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            vendors.push((name.unwrap_or_default(), fs::read_to_string(&path)?));
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
        let names: Vec<_> = redirected.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["packing", "jobs"]);
    }
}
