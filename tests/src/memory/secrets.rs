//! A keeper of secrets in memory, with rotation, silence and a count of how
//! often it was asked.

use super::lock;
use sekali::config::SecretName;
use sekali::ports::{Kept, KeyDocuments, NoKeyDocument, NoSecret, Secrets};
use sekali::secret::{Secret, Stage};
use sekali::vendor::KeyUrl;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A handle to one keeper; clones share it. It plays every keeper that a
/// configuration can name.
#[derive(Debug, Clone, Default)]
pub struct MemorySecrets(Arc<Mutex<Drawer>>);

#[derive(Debug, Default)]
struct Drawer {
    /// By the name as a configuration writes it.
    kept: BTreeMap<String, Vec<Kept>>,
    readings: Vec<String>,
    /// What vendors publish, by URL.
    published: BTreeMap<String, Vec<u8>>,
    fetches: usize,
}

impl MemorySecrets {
    /// Keeps `text` as the only version, e.g. under `ssm:/prod/hub`. A blank
    /// text is kept as what it is: no secret.
    pub fn put(&self, name: &str, text: &str) {
        lock(&self.0).kept.insert(name.to_owned(), vec![(Stage::Current, secret(text))]);
    }

    /// Puts `text` in the place of the current version, which becomes the
    /// previous one.
    pub fn rotate(&self, name: &str, text: &str) {
        let mut drawer = lock(&self.0);
        let kept = drawer.kept.entry(name.to_owned()).or_default();
        let before =
            kept.iter().find(|(stage, _)| *stage == Stage::Current).map(|(_, secret)| secret.clone());
        *kept = vec![(Stage::Current, secret(text))];
        kept.extend(before.map(|secret| (Stage::Previous, secret)));
    }

    /// Answers nothing but this when asked for the name.
    pub fn refuse(&self, name: &str, reason: NoSecret) {
        lock(&self.0).kept.insert(name.to_owned(), vec![(Stage::Current, Err(reason))]);
    }

    /// A vendor publishes a document of keys.
    pub fn publish(&self, url: &str, document: impl Into<Vec<u8>>) {
        lock(&self.0).published.insert(url.to_owned(), document.into());
    }

    /// How often a published document was asked for.
    pub fn fetches(&self) -> usize {
        lock(&self.0).fetches
    }

    /// Every name that was asked for, in order.
    pub fn readings(&self) -> Vec<String> {
        lock(&self.0).readings.clone()
    }
}

fn secret(text: &str) -> Result<Secret, NoSecret> {
    Secret::new(text).map_err(|reason| NoSecret::Unusable(reason.to_string()))
}

impl Secrets for MemorySecrets {
    async fn read(&self, name: &SecretName) -> Vec<Kept> {
        let name = name.to_string();
        let mut drawer = lock(&self.0);
        let absent = || vec![(Stage::Current, Err(NoSecret::Absent))];
        let kept = drawer.kept.get(&name).cloned().unwrap_or_else(absent);
        drawer.readings.push(name);
        kept
    }
}

impl KeyDocuments for MemorySecrets {
    async fn fetch(&self, url: &KeyUrl) -> Result<Vec<u8>, NoKeyDocument> {
        let mut drawer = lock(&self.0);
        drawer.fetches += 1;
        let absent = || NoKeyDocument::Absent(format!("{url} is not published here"));
        drawer.published.get(url.as_str()).cloned().ok_or_else(absent)
    }
}
