//! What a configuration names in AWS and the emulator does not have yet: one
//! command each, which work as they are beside the run's own variables.

use sekali::config::{Auth, Config, DestinationKind, Keeper, SecretRef};
use std::collections::BTreeSet;

/// The commands that make it: secrets of endpoints, of their APIs and
/// lists, and of destinations; queues and buses. Values are for the reader to fill in.
pub fn commands(config: &Config) -> Vec<String> {
    let endpoints = config.endpoints.values();
    let asking = endpoints.clone().filter_map(|endpoint| endpoint.fetch.as_ref()?.auth.as_ref());
    let listing = endpoints.clone().filter_map(|endpoint| endpoint.list.as_ref());
    let secrets = endpoints
        .flat_map(|endpoint| &endpoint.secrets)
        .chain(asking.map(Auth::secret))
        .chain(listing.map(|list| list.auth.secret()))
        .chain(config.destinations.values().flat_map(|destination| &destination.secrets));
    let targets = config.destinations.values().filter_map(|destination| target(&destination.kind));
    let commands: BTreeSet<String> = secrets.filter_map(secret).chain(targets).collect();
    commands.into_iter().collect()
}

fn secret(secret: &SecretRef) -> Option<String> {
    let name = secret.name();
    match secret.keeper() {
        Keeper::SecretsManager => {
            Some(format!("aws secretsmanager create-secret --name {name} --secret-string .."))
        }
        Keeper::ParameterStore => {
            Some(format!("aws ssm put-parameter --type SecureString --name {name} --value .."))
        }
        Keeper::Environment | Keeper::File => None,
    }
}

fn target(kind: &DestinationKind) -> Option<String> {
    match kind {
        DestinationKind::Sqs(queue) => {
            let name = queue.resource();
            let fifo = if name.ends_with(".fifo") { " --attributes FifoQueue=true" } else { "" };
            Some(format!("aws sqs create-queue --queue-name {name}{fifo}"))
        }
        DestinationKind::EventBridge(bus) => {
            let name = bus.resource().trim_start_matches("event-bus/");
            (name != "default").then(|| format!("aws events create-event-bus --name {name}"))
        }
        // A function needs code, and the team's own code is in the processor.
        DestinationKind::Function(_) | DestinationKind::Http(_) | DestinationKind::Code(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_aws_keeps_comes_with_the_command_that_makes_it() {
        let text = r#"
            [endpoint.shop]
            vendor = "stripe"
            secrets = ["secretsmanager:prod/stripe", "env:NEW"]
            list = { secret = "ssm:/prod/list", since = "2026-11-30" }
            [[endpoint.shop.rule]]
            type = "paid"
            action.pack = { order = "/id" }
            [[endpoint.shop.rule]]
            type = "sent"
            action.tell = { order = "/id" }
            [[endpoint.shop.rule]]
            type = "kept"
            action.keep = { order = "/id" }
            [action]
            pack = { to = "packing" }
            tell = { to = "desk" }
            keep = { to = "shelf" }
            [destination]
            packing = { http = "https://packing.example.com", secrets = ["ssm:/prod/packing", "secretsmanager:prod/stripe"] }
            desk = { sqs = "desk.fifo" }
            shelf = { eventbridge = "shelf" }
        "#;
        let config = sekali::config::load(("endpoints.toml", text), &[]).unwrap();
        assert_eq!(
            commands(&config),
            [
                "aws events create-event-bus --name shelf",
                "aws secretsmanager create-secret --name prod/stripe --secret-string ..",
                "aws sqs create-queue --queue-name desk.fifo --attributes FifoQueue=true",
                "aws ssm put-parameter --type SecureString --name /prod/list --value ..",
                "aws ssm put-parameter --type SecureString --name /prod/packing --value ..",
            ]
        );
    }
}
