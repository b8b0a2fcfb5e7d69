//! What the crates may depend on. The core is pure: no AWS, no runtime, no
//! network, no clock; and one HTTP stack serves the whole workspace.

use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::process::Command;

/// The packages of a `cargo tree`, as `name version`.
fn tree(arguments: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p}"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo tree says: {errors}");
    let lines = String::from_utf8(output.stdout)?;
    lines
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (name, rest) = line.split_once(" v").context("a line without a version")?;
            let version = rest.split_whitespace().next().context("an empty version")?;
            Ok(format!("{name} {version}"))
        })
        .collect()
}

#[test]
fn the_core_knows_no_aws_no_runtime_no_network_and_no_clock() -> anyhow::Result<()> {
    let packages = tree(&["--package", "sekali", "--edges", "normal"])?;
    ensure!(packages.iter().any(|package| package.starts_with("serde ")), "the tree is not that of the core");
    let kept_out = [
        "aws-",
        "aws_",
        "lambda_",
        "tokio",
        "async-std",
        "smol",
        "mio ",
        "socket2 ",
        "hyper",
        "h2 ",
        "reqwest",
        "rustls",
        "chrono",
        "time ",
        "jiff",
        "humantime",
        "quanta",
        "web-time",
        "wasm-timer",
    ];
    let found: Vec<_> =
        packages.iter().filter(|package| kept_out.iter().any(|name| package.starts_with(name))).collect();
    ensure!(found.is_empty(), "the core depends on {found:?}");
    Ok(())
}

#[test]
fn the_workspace_has_one_http_stack() -> anyhow::Result<()> {
    let packages = tree(&["--workspace", "--edges", "normal,build,dev"])?;
    let versions: Vec<_> = packages.iter().filter(|package| package.starts_with("hyper ")).collect();
    ensure!(versions.len() == 1 && versions[0].starts_with("hyper 1."), "versions of hyper: {versions:?}");
    let second: Vec<_> = ["rustls 0.21", "rustls 0.20", "h2 0.3", "native-tls ", "openssl ", "aws-lc-rs "]
        .into_iter()
        .filter(|name| packages.iter().any(|package| package.starts_with(name)))
        .collect();
    ensure!(second.is_empty(), "a second stack: {second:?}");
    Ok(())
}
