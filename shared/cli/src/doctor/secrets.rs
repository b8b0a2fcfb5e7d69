//! Secrets that are kept on this machine. Whatever is said of them names their
//! place.

use anyhow::{Context, Result, bail};
use sekali::config::{Endpoint, SecretRef};
use sekali::doctor::KnownSecret;
use sekali::ids::Tenant;
use sekali_aws::secrets::on_this_machine;
use std::path::Path;

/// The secret at a place from the command line.
///
/// # Errors
/// It is no place, or there is no usable secret.
pub(crate) fn named(place: &str, folder: &Path, used: bool) -> Result<KnownSecret> {
    // The text may be a secret itself, so it is not shown.
    let reference = SecretRef::parse(place).context(
        "a secret is given by its place, --secret env:NAME or --secret file:PATH, and never itself",
    )?;
    let name = reference.of(None).context("a secret from the command line names no tenant")?;
    let Some(read) = on_this_machine(folder, &name) else {
        bail!(
            "{name} is kept in AWS, which is not asked here: put it into a variable and say --secret env:NAME"
        );
    };
    let secret = read.with_context(|| format!("cannot read {name}"))?;
    Ok(KnownSecret { name: name.to_string(), secret, used })
}

/// The secrets of an endpoint that can be read here, and why the others cannot.
pub(super) fn of(
    endpoint: &Endpoint,
    tenant: Option<&Tenant>,
    folder: &Path,
    used: bool,
) -> (Vec<KnownSecret>, Vec<String>) {
    let (mut known, mut unread) = (Vec::new(), Vec::new());
    for reference in &endpoint.secrets {
        let Some(name) = reference.of(tenant) else {
            unread.push(format!("  {reference}: say whose it is with --tenant NAME"));
            continue;
        };
        match on_this_machine(folder, &name) {
            Some(Ok(secret)) => {
                let name = match used {
                    true => name.to_string(),
                    false => format!("{name} of endpoint {}", endpoint.name),
                };
                known.push(KnownSecret { name, secret, used });
            }
            Some(Err(reason)) => unread.push(format!("  {name}: {reason}")),
            None => unread.push(format!("  {name}: it is kept in AWS, which is not asked here")),
        }
    }
    (known, unread)
}
