//! Secrets that are kept on this machine, against the form that their vendors
//! give them. Nothing of a secret is shown.

use sekali::config::{Config, Endpoint, Keeper, Remark, SecretRef, Severity};
use sekali::ports::NoSecret;
use sekali::problem::{Place, Problem};
use sekali::vendor::UnusableKey;
use sekali_aws::secrets::on_this_machine;
use std::path::Path;

/// What follows where there is none (INV-10).
const OFFLINE: &str = "without a usable secret the endpoint answers 503";
const NOT_ASKED: &str = "without it the vendor's API is not asked, and its events wait";
const NOT_CALLED: &str = "without all of its secrets the destination is not called";

/// What is wrong with the secrets of endpoints and destinations, and which were
/// not looked at.
pub(super) fn check(config: &Config, folder: &Path) -> Vec<Remark> {
    let of_endpoints = config.endpoints.values().flat_map(|endpoint| {
        let asks = endpoint.fetch.iter().filter_map(|fetch| {
            let whose = format!("what endpoint `{}` asks with", endpoint.name);
            read(&whose, &fetch.place, fetch.auth.as_ref()?.secret(), (folder, NOT_ASKED)).err()
        });
        let own = endpoint.secrets.iter().flat_map(|secret| of_endpoint(endpoint, secret, folder));
        own.chain(asks).collect::<Vec<_>>()
    });
    let of_destinations = config.destinations.values().flat_map(|destination| {
        let whose = format!("destination `{}`", destination.name);
        let look = |secret: &SecretRef| read(&whose, &destination.place, secret, (folder, NOT_CALLED)).err();
        destination.secrets.iter().filter_map(look).collect::<Vec<_>>()
    });
    of_endpoints.chain(of_destinations).collect()
}

fn of_endpoint(endpoint: &Endpoint, reference: &SecretRef, folder: &Path) -> Option<Remark> {
    let whose = format!("endpoint `{}`", endpoint.name);
    let secret = match read(&whose, &endpoint.place, reference, (folder, OFFLINE)) {
        Ok(secret) => secret,
        Err(remark) => return Some(remark),
    };
    if let Err(UnusableKey::Form { fault, .. }) = endpoint.vendor.keys(std::slice::from_ref(&secret)) {
        let message = format!(
            "the secret {reference} of {whose} is not in the form of {}: {fault}",
            endpoint.vendor.name()
        );
        return Some(remark(
            Severity::Problem,
            &endpoint.place,
            message,
            "store it as the vendor shows it, and nothing else",
        ));
    }
    let prefix = usual_prefix(endpoint.vendor.name().as_str())?;
    (!secret.expose().starts_with(prefix.as_bytes())).then(|| {
        let message = format!(
            "the secret {reference} of {whose} does not begin with `{prefix}`, as those of {} do",
            endpoint.vendor.name()
        );
        remark(
            Severity::Warning,
            &endpoint.place,
            message,
            "the prefix is part of the key here: store it with it",
        )
    })
}

/// Vendors that take a secret's prefix for a part of the key, so that its
/// absence shows in no other way than by signatures that never match.
fn usual_prefix(vendor: &str) -> Option<&'static str> {
    match vendor {
        "stripe" => Some("whsec_"),
        "paddle" => Some("pdl_ntfset_"),
        _ => None,
    }
}

fn read(
    whose: &str,
    place: &Place,
    reference: &SecretRef,
    (folder, without): (&Path, &str),
) -> Result<sekali::secret::Secret, Remark> {
    let not_looked_at = |why: &str| {
        let message = format!("the secret {reference} of {whose} was not looked at: {why}");
        let remedy = "hold it up to a captured request: sekali doctor REQUEST --endpoint NAME --secret env:VARIABLE, with the secret in that variable";
        remark(Severity::Note, place, message, remedy)
    };
    let Some(name) = reference.of(None) else { return Err(not_looked_at("each tenant has one of its own")) };
    match on_this_machine(folder, &name) {
        None => Err(not_looked_at("it is kept in AWS, and nothing here asks AWS")),
        Some(Ok(secret)) => Ok(secret),
        Some(Err(reason)) => {
            let reason = match (&reason, reference.keeper()) {
                (NoSecret::Absent, Keeper::Environment) => {
                    format!("the variable {} is not set here", name.name())
                }
                (NoSecret::Absent, _) => format!("there is no file {}", name.name()),
                _ => reason.to_string(),
            };
            let message = format!("the secret {reference} of {whose} cannot be used: {reason}");
            Err(remark(Severity::Problem, place, message, without))
        }
    }
}

fn remark(severity: Severity, place: &Place, message: String, remedy: &str) -> Remark {
    Remark { severity, problem: Problem { place: place.clone(), message, remedy: Some(remedy.to_owned()) } }
}
