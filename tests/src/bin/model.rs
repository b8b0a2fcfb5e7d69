//! `make model`: every state of every slice, and every mutant. A state from
//! which a promise is broken is told with a shortest way there.

use anyhow::{Context, bail};
use sekali_tests::model::{DEEP, MUTANTS, QUICK, Report, Run, catch_all, explore_all, never_taken};
use std::io::{Write, stdout};

/// States of one slice, after which memory is the limit and not patience.
const MOST: usize = 60_000_000;

fn main() -> anyhow::Result<()> {
    // The short ones first: what they find need not be waited for.
    let slices = [QUICK, DEEP].concat();
    let runs = explore_all(&slices, MOST, |run| {
        // Told again in the end; that nobody listens is noticed there.
        let _unheard = say(&told(run));
    });
    let report = Report { runs, mutants: catch_all() };
    for (name, _) in report.mutants.iter().filter(|(_, caught)| caught.is_none()) {
        say(&format!("not caught: {name}"))?;
    }
    for step in never_taken(&report.runs) {
        say(&format!("nobody ever {step}"))?;
    }
    say(&report.to_string())?;
    if !report.is_good() {
        bail!("{} slices and {} mutants, and not all of them as they should be", slices.len(), MUTANTS.len());
    }
    Ok(())
}

fn told(run: &Run) -> String {
    let end = if run.cut_short { ", cut short" } else { "" };
    let violation = run.violation.as_deref().map(|told| format!("\n{told}")).unwrap_or_default();
    format!("{}: {} states, {} transitions{end}{violation}", run.slice, run.states, run.transitions)
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(stdout().lock(), "{line}").context("nobody listens")
}
