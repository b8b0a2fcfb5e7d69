//! No command on the line is without an example and a test.

use crate::repository;
use clap::{Arg, Command, CommandFactory};
use std::fs;
use std::path::Path;

/// Where commands are run by tests: against the local AWS, and as processes.
const TESTS: [&str; 2] = ["tests/tests", "shared/cli/tests/commands"];

/// What runs a command whose line is put together, or that only `make` runs: the
/// command, the file, and what stands there.
const PUT_TOGETHER: [(&str, &str, &str); 3] = [
    ("local run", "Makefile", "--bin sekali -- local run"),
    ("handshake show", "tests/tests/receiver/handshakes.rs", r#"["handshake", what, "notes""#),
    ("handshake forget", "tests/tests/receiver/handshakes.rs", r#"["handshake", what, "notes""#),
];

/// What all commands on call share: which receiver is asked, and who asks.
const OF_ALL: [&str; 7] = ["stack", "local", "profile", "region", "config", "as", "json"];

/// What many of them share, of one struct each: it is enough that one test uses it.
const OF_MANY: [&str; 11] = [
    "endpoint",
    "tenant",
    "status",
    "with-reason",
    "type",
    "older-than",
    "newer-than",
    "limit",
    "reason",
    "yes",
    "dry-run",
];

fn sources(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // This file names commands and runs none.
        let is_test = path.extension().is_some_and(|end| end == "rs") && !path.ends_with("every.rs");
        if path.is_dir() {
            sources(&path, into);
        } else if is_test {
            into.push(fs::read_to_string(&path).unwrap());
        }
    }
}

/// Looks at each command that does something, by its path.
fn each(command: &Command, path: &[&str], look: &mut impl FnMut(&[&str], &Command)) {
    for below in command.get_subcommands() {
        let path = [path, &[below.get_name()]].concat();
        match below.has_subcommands() {
            true => each(below, &path, look),
            false => look(&path, below),
        }
    }
}

fn options(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(Arg::get_long)
}

fn is_on_call(command: &Command) -> bool {
    options(command).any(|option| option == "stack")
}

#[test]
fn every_command_and_every_option_on_call_is_used_by_a_test() {
    let mut all = Vec::new();
    for folder in TESTS {
        sources(&repository().join(folder), &mut all);
    }
    for (command, file, says) in PUT_TOGETHER {
        let source = fs::read_to_string(repository().join(file)).unwrap();
        assert!(source.contains(says), "{file} does not run {command} by {says:?} any more");
    }
    let (mut missing, mut seen) = (Vec::new(), 0);
    each(&sekali_cli::Cli::command(), &[], &mut |path, command| {
        seen += 1;
        let quoted: Vec<String> = path.iter().map(|word| format!("\"{word}\"")).collect();
        let begins = quoted.join(", ");
        let running: Vec<&String> = all.iter().filter(|source| source.contains(&begins)).collect();
        let path = path.join(" ");
        if running.is_empty() && !PUT_TOGETHER.iter().any(|(of, ..)| *of == path) {
            missing.push(path.clone());
        }
        for option in options(command).filter(|option| is_on_call(command) && !OF_ALL.contains(option)) {
            let quoted = format!("\"--{option}\"");
            let used = |source: &&String| source.contains(&quoted);
            let used = if OF_MANY.contains(&option) {
                all.iter().any(|source| used(&source))
            } else {
                running.iter().any(used)
            };
            if !used {
                missing.push(format!("{path} --{option}"));
            }
        }
    });
    assert!(seen >= 35, "{seen} commands");
    assert!(missing.is_empty(), "no test uses\n  {}", missing.join("\n  "));
}

#[test]
fn every_command_shows_an_example_of_itself() {
    each(&sekali_cli::Cli::command(), &["sekali"], &mut |path, command| {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(
            help.contains("Example") && help.contains(&format!("{} ", path.join(" "))),
            "{path:?}: {help}"
        );
    });
}
