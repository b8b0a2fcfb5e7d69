//! The commands as people run them: a process, its output and its exit code.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod against;
mod canary;
mod check;
mod cost;
mod doctor;
mod every;
mod send;
mod template;
mod vectors;
mod vendors;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own for each test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sekali-commands-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn sekali(&self, arguments: &[&str]) -> Run {
        run(&self.0, arguments, &[])
    }

    fn sekali_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        run(&self.0, arguments, variables)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a command ended.
struct Run {
    code: i32,
    out: String,
    error: String,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.error))
    }

    /// Everything that it said.
    fn said(&self) -> String {
        format!("{}{}", self.out, self.error)
    }
}

fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_sekali"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Run {
        code: status.code().unwrap(),
        out: String::from_utf8(stdout).unwrap(),
        error: String::from_utf8(stderr).unwrap(),
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn each_command_shows_an_example_and_its_exit_codes() {
    let folder = Folder::new();
    for command in ["check", "cost", "doctor", "send", "vectors"] {
        let help = folder.sekali(&[command, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.out.contains(&format!("sekali {command} ")), "{}", help.out);
        assert!(help.out.contains("Exit codes: 0"), "{}", help.out);
    }
    let main = folder.sekali(&["--help"]).out;
    assert!(
        main.contains("  check ") && main.contains("  doctor ") && !main.contains("  vectors "),
        "{main}"
    );
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step_and_ends_with_2() {
    let folder = Folder::new();
    for (arguments, says) in [
        (&["check"][..], "name the configuration's file"),
        (&["check", "none.toml"], "name another file"),
        (&["doctor", "none.http", "--vendor", "github"], "cannot read"),
        (&["vectors", "none.json"], "cannot read"),
        (&["check", "--strikt"], "--strict"),
    ] {
        let run = folder.sekali(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.said());
        assert!(run.error.contains(says), "{arguments:?}: {}", run.said());
        assert!(run.out.is_empty(), "{arguments:?}: {}", run.out);
    }
}

#[test]
fn without_a_terminal_there_are_no_colours() {
    let folder = Folder::new();
    folder.put("infra/endpoints.toml", "nonsense = 1\n");
    let run = folder.sekali(&["check"]);
    assert_eq!(run.code, 1);
    assert!(!run.said().contains('\u{1b}'), "{}", run.said());
}

#[test]
fn completions_for_every_shell_know_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = folder.sekali(&["completions", shell]);
        assert_eq!(run.code, 0, "{}", run.error);
        assert!(run.out.contains("redrive") && run.out.contains("switch-on"), "{shell}");
    }
    let run = folder.sekali(&["completions", "dash"]);
    assert!(run.code == 2 && run.error.contains("zsh"), "{}", run.error);
}
