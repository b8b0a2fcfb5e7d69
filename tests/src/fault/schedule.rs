//! Which point meets which fault, and which points there were.

use super::kind::{Fault, PortCall};
use std::collections::BTreeMap;

/// Which point meets which fault. Points are numbered from 0 in the order in
/// which the calls are made, over all workers.
#[derive(Debug, Clone, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Schedule(BTreeMap<usize, Fault>);

impl Schedule {
    /// Nothing goes wrong.
    pub fn quiet() -> Self {
        Self::default()
    }

    /// This schedule with one more fault.
    #[must_use]
    pub fn with(&self, point: usize, fault: Fault) -> Self {
        let mut faults = self.0.clone();
        faults.insert(point, fault);
        Self(faults)
    }

    /// The schedules with one fault less.
    pub fn without_each(&self) -> Vec<Self> {
        let without = |point: &usize| {
            let mut faults = self.0.clone();
            faults.remove(point);
            Self(faults)
        };
        self.0.keys().map(without).collect()
    }

    /// The faults and their points.
    pub fn faults(&self) -> impl Iterator<Item = (usize, Fault)> {
        self.0.iter().map(|(point, fault)| (*point, *fault))
    }

    /// The fault at a point.
    pub fn at(&self, point: usize) -> Option<Fault> {
        self.0.get(&point).copied()
    }

    /// How many faults.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first point behind all of its faults.
    pub(super) fn open_from(&self) -> usize {
        self.0.last_key_value().map_or(0, |(point, _)| point + 1)
    }
}

/// A call that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Which of all calls.
    pub number: usize,
    /// Who made it.
    pub worker: String,
    /// What was called.
    pub call: PortCall,
    /// What it met.
    pub fault: Option<Fault>,
}
