//! Runs the slices and the mutants, and says what came of it.

use super::mutant::{Mutant, Protocol};
use super::scenario::Slice;
use super::search::{Searched, search};
use super::step::What;
use super::trace;
use std::collections::HashSet;
use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// States after which a mutant is given up as not caught.
const MOST_OF_A_MUTANT: usize = 3_000_000;

/// One slice searched to its end.
#[derive(Debug)]
pub struct Run {
    /// The slice's name.
    pub slice: &'static str,
    /// Distinct states.
    pub states: usize,
    /// Steps between them.
    pub transitions: usize,
    /// The first violation, told step by step.
    pub violation: Option<String>,
    /// States were left when the limit was reached.
    pub cut_short: bool,
    steps: HashSet<What>,
}

/// All of it. Shown, it is the one line that counts.
#[derive(Debug, Default)]
pub struct Report {
    /// The slices under the protocol as it is.
    pub runs: Vec<Run>,
    /// Mutants by name, and how each was caught.
    pub mutants: Vec<(&'static str, Option<String>)>,
}

/// Searches a slice under the protocol as it is, up to a number of states.
pub fn explore(slice: Slice, most: usize) -> Run {
    let Searched { states, transitions, violation, cut_short, steps } = search(slice, Protocol::REAL, most);
    Run { slice: slice.name, states, transitions, violation, cut_short, steps }
}

/// Searches slices, as many at a time as there are cores; `heard` is told of
/// each when it has ended.
pub fn explore_all(slices: &[Slice], most: usize, heard: impl Fn(&Run) + Sync) -> Vec<Run> {
    on_every_core(slices, |slice| {
        let run = explore(*slice, most);
        heard(&run);
        run
    })
}

/// Searches a mutant's slice until it breaks a promise. `None`: it was not caught.
pub fn catch(mutant: &Mutant) -> Option<String> {
    search(mutant.slice, mutant.protocol, MOST_OF_A_MUTANT).violation
}

/// These mutants by name, and how each was caught.
pub fn catch_all(mutants: &[Mutant]) -> Vec<(&'static str, Option<String>)> {
    on_every_core(mutants, |mutant| (mutant.name, catch(mutant)))
}

/// Kinds of steps that none of these runs took. What never happens proves
/// nothing.
pub fn never_taken(runs: &[Run]) -> Vec<&'static str> {
    // By their words: which step of its course a resource is at makes no kind.
    let same = |taken: &What, what: &What| trace::what(*taken) == trace::what(*what);
    let taken = |what: &What| runs.iter().any(|run| run.steps.iter().any(|taken| same(taken, what)));
    What::ALL.into_iter().filter(|what| !taken(what)).map(trace::what).collect()
}

impl Report {
    /// Whether everything was searched to its end, no promise was broken,
    /// every mutant was caught and every kind of step taken.
    pub fn is_good(&self) -> bool {
        self.kept_and_caught() && never_taken(&self.runs).is_empty()
    }

    /// The same of a part, which need not take every kind of step.
    pub fn kept_and_caught(&self) -> bool {
        let kept = self.runs.iter().all(|run| run.violation.is_none() && !run.cut_short);
        kept && self.mutants.iter().all(|(_, caught)| caught.is_some())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "model: {} states, {} transitions, {} violations, {}/{} mutants caught",
            self.runs.iter().map(|run| run.states).sum::<usize>(),
            self.runs.iter().map(|run| run.transitions).sum::<usize>(),
            self.runs.iter().filter(|run| run.violation.is_some()).count(),
            self.mutants.iter().filter(|(_, caught)| caught.is_some()).count(),
            self.mutants.len(),
        )
    }
}

/// Works through a list side by side; what came of it is in the list's order.
fn on_every_core<T: Sync, R: Send>(list: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = list.get(place) else { return done };
            done.push((place, work(item)));
        }
    };
    let mut all = thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let ended = running.into_iter().map(|worker| worker.join());
        ended
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Vec<_>>()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}
