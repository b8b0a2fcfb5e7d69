//! What Lambda gets of a function: `bootstrap` and `config/` in one zip.

use super::checkout::{Checkout, FUNCTIONS};
use super::configuration::LocalConfiguration;
use super::group::Group;
use anyhow::{Context, Result, ensure};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Builds the functions with cargo-lambda, for this machine and on the dev
/// profile: the one that tests and this very binary are built on. Naming the
/// packages would give their crates another set of features than the whole
/// workspace has, and compile most of them a second time.
///
/// Builds of the same checkout wait for each other, and what one has built
/// takes the place of an earlier build in one step: cargo-lambda writes its
/// binaries over what is there, and whoever zips or starts one meanwhile would
/// get half of it.
///
/// # Errors
/// The tools are not installed, or the code does not build.
pub async fn build(checkout: &Checkout) -> Result<()> {
    let fresh = checkout.builds().with_extension("fresh");
    fs::create_dir_all(&fresh)?;
    let one_at_a_time = File::create(fresh.join("lock"))?;
    one_at_a_time.lock().context("cannot lock the builds")?;
    let mut command: Vec<OsString> = vec![checkout.tool("cargo-lambda")?.into()];
    command.extend(
        ["lambda", "build", "--compiler", "cargo", "--profile", "dev", "--lambda-dir"].map(Into::into),
    );
    command.push(fresh.clone().into());
    let environment: Vec<_> = std::env::vars_os().filter(|(name, _)| !is_of_our_own_build(name)).collect();
    let status = Group::start(checkout, &command, &environment, None)?.wait().await?;
    ensure!(status.success(), "the functions did not build");
    for function in FUNCTIONS {
        put_in_place(&fresh.join(function).join("bootstrap"), &checkout.builds().join(function))?;
    }
    Ok(())
}

/// Copies a binary beside where it belongs and renames it: a reader sees the
/// old one or the new one, whole.
fn put_in_place(binary: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let beside = folder.join("bootstrap.fresh");
    fs::copy(binary, &beside).with_context(|| format!("cannot copy {}", binary.display()))?;
    fs::rename(&beside, folder.join("bootstrap"))?;
    Ok(())
}

/// `cargo run` and `make` tell us about themselves; a build inside must not
/// take that for its own.
fn is_of_our_own_build(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"].contains(&&*name)
}

/// Writes one zip for each function into `folder`.
///
/// # Errors
/// A function is not built, or a file cannot be written.
pub async fn zip(
    checkout: &Checkout,
    folder: &Path,
    configuration: &LocalConfiguration,
) -> Result<Vec<PathBuf>> {
    let config = folder.join("config");
    if config.exists() {
        fs::remove_dir_all(&config)?;
    }
    fs::create_dir_all(config.join("vendors"))?;
    fs::write(config.join("endpoints.toml"), &configuration.endpoints)?;
    for (name, text) in &configuration.vendors {
        fs::write(config.join(name), text)?;
    }
    for (name, source) in configuration.secret_files() {
        copy(&source, &config.join(name))?;
    }
    let mut zips = Vec::new();
    for function in FUNCTIONS {
        let bootstrap = checkout.builds().join(function).join("bootstrap");
        ensure!(bootstrap.is_file(), "{function} is not built: {} is missing", bootstrap.display());
        let zip = folder.join(format!("{function}.zip"));
        let command: [OsString; 5] = [
            checkout.tool("python")?.into(),
            checkout.root().join("infra/local/zip_function.py").into(),
            zip.clone().into(),
            bootstrap.into(),
            config.clone().into(),
        ];
        let status = Group::start(checkout, &command, &[], None)?.wait().await?;
        ensure!(status.success(), "cannot write {}", zip.display());
        zips.push(zip);
    }
    Ok(zips)
}

/// Copies a file, or a folder with all that is in it.
fn copy(source: &Path, target: &Path) -> Result<()> {
    if !source.is_dir() {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(source, target)?;
        return Ok(());
    }
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        copy(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

/// Says whether every function has been built at least once.
pub fn is_built(checkout: &Checkout) -> bool {
    FUNCTIONS.iter().all(|function| checkout.builds().join(function).join("bootstrap").is_file())
}

/// What the template leaves to parameters and the emulator cannot: it has no
/// CodeDeploy and shows the SAM transform no parameter with which to say so, and
/// it takes a parameter's number for a text.
const LITERAL: [(&str, &str); 2] = [
    ("Enabled: !Ref GradualDeployment", "Enabled: false"),
    ("MaximumConcurrency: !Ref ProcessorConcurrency", "MaximumConcurrency: 10"),
];

/// The template with each `CodeUri` in the bucket, as `sam package` writes it,
/// and with literals where the emulator reads no parameter.
///
/// # Errors
/// The template has another folder or another parameter than this module knows.
pub fn with_code_in(template: &str, bucket: &str) -> Result<String> {
    let mut packaged = template.to_owned();
    for (parameter, literal) in LITERAL {
        ensure!(packaged.contains(parameter), "infra/template.yaml has no `{parameter}`");
        packaged = packaged.replace(parameter, literal);
    }
    for function in FUNCTIONS {
        let folder = format!("CodeUri: ../target/lambda/{function}/");
        let (before, after) =
            packaged.split_once(&folder).with_context(|| format!("infra/template.yaml has no `{folder}`"))?;
        packaged = format!("{before}CodeUri: s3://{bucket}/{function}.zip{after}");
    }
    Ok(packaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_template_gets_its_code_from_the_bucket() {
        let template = include_str!("../../../../infra/template.yaml");
        let packaged = with_code_in(template, "b").unwrap();
        assert_eq!(packaged.matches("CodeUri: s3://b/").count(), template.matches("CodeUri:").count());
        assert!(with_code_in("Resources: {}", "b").is_err());
        assert!(LITERAL.iter().all(|(parameter, _)| !packaged.contains(parameter)));
    }
}
