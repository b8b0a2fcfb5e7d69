//! `make model`: every state of every slice, and every mutant. A state from
//! which a promise is broken is told with a shortest way there. `--only WORDS`
//! searches the slices and mutants whose names contain them.

use anyhow::{Context, bail};
use sekali_tests::model::{
    DEEP, MUTANTS, Mutant, QUICK, Report, Run, Slice, catch_all, explore_all, never_taken,
};
use std::io::{Write, stdout};

/// States of one slice, after which memory is the limit and not patience.
const MOST: usize = 60_000_000;

fn main() -> anyhow::Result<()> {
    let only = only(std::env::args().skip(1))?;
    // The short ones first: what they find need not be waited for.
    let mut slices: Vec<Slice> = [QUICK, DEEP].concat();
    let mut mutants: Vec<Mutant> = MUTANTS.to_vec();
    if let Some(words) = &only {
        slices.retain(|slice| slice.name.contains(words.as_str()));
        mutants.retain(|mutant| mutant.name.contains(words.as_str()));
    }
    let runs = explore_all(&slices, MOST, |run| {
        // Told again in the end; that nobody listens is noticed there.
        let _unheard = say(&told(run));
    });
    let report = Report { runs, mutants: catch_all(&mutants) };
    for (name, _) in report.mutants.iter().filter(|(_, caught)| caught.is_none()) {
        say(&format!("not caught: {name}"))?;
    }
    say(&report.to_string())?;
    if only.is_some() && report.kept_and_caught() {
        return Ok(());
    }
    for step in never_taken(&report.runs) {
        say(&format!("nobody ever {step}"))?;
    }
    if !report.is_good() {
        bail!("{} slices and {} mutants, and not all of them as they should be", slices.len(), mutants.len());
    }
    Ok(())
}

/// `--only WORDS`.
fn only(mut words: impl Iterator<Item = String>) -> anyhow::Result<Option<String>> {
    match (words.next().as_deref(), words.next(), words.next()) {
        (None, ..) => Ok(None),
        (Some("--only"), Some(only), None) => Ok(Some(only)),
        (Some(word), ..) => bail!("model takes --only WORDS, not {word}"),
    }
}

fn told(run: &Run) -> String {
    let end = if run.cut_short { ", cut short" } else { "" };
    let violation = run.violation.as_deref().map(|told| format!("\n{told}")).unwrap_or_default();
    format!("{}: {} states, {} transitions{end}{violation}", run.slice, run.states, run.transitions)
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(stdout().lock(), "{line}").context("nobody listens")
}
