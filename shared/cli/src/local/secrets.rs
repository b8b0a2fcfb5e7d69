//! The secrets of a local run, and what to do about those that are not there.

use super::demo::script::Script;
use sekali::config::{Config, Keeper, SecretRef};
use std::collections::BTreeMap;

/// The variables that functions read as `env:NAME`.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// For ingest: those of endpoints.
    pub of_endpoints: BTreeMap<String, String>,
    /// For the processor: those of destinations, and those to ask APIs with.
    pub of_processor: BTreeMap<String, String>,
    /// What is not there, and what follows: one sentence each.
    pub missing: Vec<String>,
}

impl Secrets {
    /// From the demo, or from our own environment where none is played. What
    /// is kept elsewhere than in the environment is for the functions to read.
    pub fn gather(config: &Config, script: Option<&Script>) -> Self {
        Self::from(config, |name| match script {
            Some(script) => script.secrets.get(name).cloned(),
            None => std::env::var(name).ok(),
        })
    }

    fn from(config: &Config, given: impl Fn(&str) -> Option<String>) -> Self {
        let mut secrets = Self::default();
        for endpoint in config.endpoints.values() {
            let missing = take(&endpoint.secrets, &given, &mut secrets.of_endpoints);
            let what_follows = match missing.len() == endpoint.secrets.len() {
                true => "answers 503 until one is exported before `make run`",
                false => "goes on with its other secrets",
            };
            if let [first, ..] = &missing[..] {
                let name = &endpoint.name;
                secrets.missing.push(format!("{first} is not set: endpoint {name} {what_follows}"));
            }
        }
        let asking = config.endpoints.values().filter_map(|endpoint| {
            Some((&endpoint.name, endpoint.fetch.as_ref()?.auth.as_ref()?.secret().clone()))
        });
        for (endpoint, secret) in asking {
            for name in take(&[secret], &given, &mut secrets.of_processor) {
                secrets.missing.push(format!("{name} is not set: events of {endpoint} wait for it"));
            }
        }
        for destination in config.destinations.values() {
            for name in take(&destination.secrets, &given, &mut secrets.of_processor) {
                let destination = &destination.name;
                secrets
                    .missing
                    .push(format!("{name} is not set: calls to {destination} are not signed with it"));
            }
        }
        secrets
    }
}

/// Takes what is given, and returns the names of variables that are not.
fn take(
    declared: &[SecretRef],
    given: impl Fn(&str) -> Option<String>,
    taken: &mut BTreeMap<String, String>,
) -> Vec<String> {
    let variables = declared.iter().filter(|secret| secret.keeper() == Keeper::Environment);
    let mut missing = Vec::new();
    for name in variables.map(SecretRef::name) {
        match given(name) {
            Some(value) => drop(taken.insert(name.to_owned(), value)),
            None => missing.push(name.to_owned()),
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(secrets: &str) -> Config {
        let text = format!(
            "[endpoint.shop]\nvendor = \"stripe\"\nsecrets = {secrets}\n[[endpoint.shop.rule]]\ntype = \"*\"\n\
             action.pack = {{ order = \"/id\" }}\n[action]\npack = {{ to = \"packing\" }}\n[destination]\n\
             packing = {{ http = \"https://packing.example.com\" }}\n"
        );
        sekali::config::load(("endpoints.toml", &text), &[]).unwrap()
    }

    fn given(name: &str) -> Option<String> {
        (name == "NEW").then(|| "whsec_invented".to_owned())
    }

    #[test]
    fn an_endpoint_with_one_secret_of_two_goes_on_and_with_none_is_offline() {
        let one = Secrets::from(&config(r#"["env:NEW", "env:OLD"]"#), given);
        assert_eq!(one.of_endpoints.keys().collect::<Vec<_>>(), ["NEW"]);
        assert_eq!(one.missing, ["OLD is not set: endpoint shop goes on with its other secrets"]);
        let none = Secrets::from(&config(r#"["env:OLD"]"#), given);
        assert!(
            none.missing[0].starts_with("OLD is not set: endpoint shop answers 503"),
            "{:?}",
            none.missing
        );
    }
}
