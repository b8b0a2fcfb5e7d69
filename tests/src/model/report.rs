//! Runs the slices and the mutants, and says what came of it.

use super::mutant::{Mutant, Protocol};
use super::scenario::Slice;
use super::search::{Searched, search};

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
    /// Kinds of steps that were taken.
    pub steps: usize,
}

/// All of it.
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
    Run { slice: slice.name, states, transitions, violation, cut_short, steps: steps.len() }
}

/// Searches a mutant's slice until it breaks a promise. `None`: it was not caught.
pub fn catch(mutant: &Mutant) -> Option<String> {
    search(mutant.slice, mutant.protocol, MOST_OF_A_MUTANT).violation
}
