//! The configuration of the end-to-end tests, with this run's ports in it.

use anyhow::{Context, Result};
use sekali_cli::local::configuration::LocalConfiguration;
use std::fs;
use std::path::Path;

/// The endpoints that most tests share.
pub const ENDPOINTS: &str = include_str!("endpoints.toml");
const PARCELS: &str = include_str!("parcels.toml");

/// The destinations that recognise a repeated key, as `endpoints.toml` says.
pub const HONOURING: [&str; 2] = ["packing", "scales"];

/// Writes endpoints and vendors into `folder`, as they travel beside a binary,
/// and reads them as the local run does.
///
/// # Errors
/// A file cannot be written, or the configuration does not hold together.
pub fn write(folder: &Path, destination: u16, absent: u16) -> Result<LocalConfiguration> {
    write_these(folder, ENDPOINTS, destination, absent)
}

/// The same with other endpoints.
///
/// # Errors
/// As [`write`].
pub fn write_these(
    folder: &Path,
    endpoints: &str,
    destination: u16,
    absent: u16,
) -> Result<LocalConfiguration> {
    let vendors = folder.join("vendors");
    fs::create_dir_all(&vendors).with_context(|| format!("cannot write to {}", folder.display()))?;
    let endpoints =
        endpoints.replace("{destination}", &destination.to_string()).replace("{absent}", &absent.to_string());
    let file = folder.join("endpoints.toml");
    fs::write(&file, endpoints)?;
    fs::write(vendors.join("parcels.toml"), PARCELS)?;
    LocalConfiguration::read(&file, destination)
}
