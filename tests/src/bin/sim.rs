//! `make sim`: every single fault, every pair of faults over the shapes that
//! are marked for it, and faults drawn from seeds. A run that breaks a promise
//! is told in full; its seed plays it again.

use anyhow::{Context, bail};
use sekali_tests::fault::Menu;
use sekali_tests::sim::explore::{self, LONG_PAUSE, SHORT_PAUSE, Tally};
use sekali_tests::sim::{Case, Shape};
use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Duration;

/// Runs that are told in full; the others are named.
const TOLD: usize = 3;

/// Beyond a lease: a worker that comes back finds another in its place.
const PAUSES: [Duration; 2] = [SHORT_PAUSE, LONG_PAUSE];

fn main() -> anyhow::Result<()> {
    let (runs, seed) = arguments(std::env::args().skip(1))?;
    let mut all = Tally::default();
    for shape in Shape::all().into_iter().map(Arc::new) {
        for pause in PAUSES {
            all.add(explore::every(&shape, seed, Menu { pause, permanent: true }, 1));
        }
    }
    say(&format!("every single fault: {} schedules", all.schedules))?;
    let singles = all.schedules;
    for shape in Shape::all().into_iter().filter(|shape| shape.pairs).map(Arc::new) {
        let tally = explore::every(&shape, seed, Menu { pause: LONG_PAUSE, permanent: false }, 2);
        say(&format!("every pair of faults, {}: {} schedules", shape.name, tally.schedules))?;
        all.add(tally);
    }
    let pairs = all.schedules - singles;
    // What a seed draws may lie behind the end of its run: only the others must
    // meet every fault.
    all.add(Tally { unmet: 0, ..explore::seeds(seed..seed.saturating_add(runs)) });
    say(&format!("every pair: {pairs} schedules; seeds {seed} to {}: {runs} schedules", seed + runs))?;
    conclude(&all)
}

fn conclude(all: &Tally) -> anyhow::Result<()> {
    for case in all.broken.iter().take(TOLD) {
        say(&shown(case))?;
    }
    for case in &all.broken {
        say(&format!("broken by seed {}, {}: {:?}", case.seed, case.shape.name, case.schedule))?;
    }
    let never_met: Vec<_> = PAUSES
        .into_iter()
        .flat_map(|pause| all.never_met(Menu { pause, permanent: true }))
        .map(|(call, fault)| format!("{fault:?} at {call:?}"))
        .collect();
    if !never_met.is_empty() {
        say(&format!("no run met {}", never_met.join(", ")))?;
    }
    let seeds: Vec<_> = all.broken.iter().map(|case| case.seed.to_string()).collect();
    let seeds = if seeds.is_empty() { String::new() } else { format!(" (seeds {})", seeds.join(", ")) };
    say(&format!("sim: {} schedules, {} violations{seeds}", all.schedules, all.violations))?;
    if all.violations > 0 || all.unmet > 0 || !never_met.is_empty() {
        bail!(
            "{} violations, {} schedules that missed a fault, {} faults never met",
            all.violations,
            all.unmet,
            never_met.len()
        );
    }
    Ok(())
}

fn shown(case: &Case) -> String {
    let smallest = explore::shrunk(case);
    smallest.told().report(&smallest)
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(stdout().lock(), "{line}").context("nobody listens")
}

/// `--runs N --seed N`.
fn arguments(mut words: impl Iterator<Item = String>) -> anyhow::Result<(u64, u64)> {
    let (mut runs, mut seed) = (20_000, 1);
    while let Some(word) = words.next() {
        let number = words.next().with_context(|| format!("{word} needs a number"))?;
        let number = number.parse().with_context(|| format!("`{number}` is no number"))?;
        match word.as_str() {
            "--runs" => runs = number,
            "--seed" => seed = number,
            _ => bail!("sim takes --runs and --seed, not {word}"),
        }
    }
    Ok((runs, seed))
}
