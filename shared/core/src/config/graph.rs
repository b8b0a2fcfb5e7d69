//! The status graph of a kind of resource: which status may come after which.

use crate::ids::Status;
use std::collections::HashMap;

/// A row of reachable statuses is one word; and nobody can read a larger graph.
pub const MOST_STATUSES: usize = 64;

/// The declared statuses and moves of a resource. What is reachable is worked
/// out once, when the configuration is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    statuses: Vec<Status>,
    places: HashMap<Status, usize>,
    /// Bit `to` of row `from`: one or more moves lead from the one to the other.
    reachable: Vec<u64>,
}

/// A graph has more than [`MOST_STATUSES`] statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {MOST_STATUSES} statuses")]
pub struct TooManyStatuses;

impl Graph {
    /// The graph of these moves, each from one status to the next. Statuses
    /// are known in the order in which they are first named.
    pub fn new<'a>(moves: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, TooManyStatuses> {
        let mut graph = Self { statuses: Vec::new(), places: HashMap::new(), reachable: Vec::new() };
        for (from, to) in moves {
            let (from, to) = (graph.place(from)?, graph.place(to)?);
            graph.reachable[from] |= 1 << to;
        }
        graph.close();
        Ok(graph)
    }

    fn place(&mut self, status: &str) -> Result<usize, TooManyStatuses> {
        if let Some(&place) = self.places.get(status) {
            return Ok(place);
        }
        let place = self.statuses.len();
        if place == MOST_STATUSES {
            return Err(TooManyStatuses);
        }
        self.statuses.push(status.into());
        self.places.insert(status.into(), place);
        self.reachable.push(0);
        Ok(place)
    }

    /// Warshall's closure, a row at a time.
    fn close(&mut self) {
        for middle in 0..self.reachable.len() {
            let onward = self.reachable[middle];
            for row in &mut self.reachable {
                if *row & (1 << middle) != 0 {
                    *row |= onward;
                }
            }
        }
    }

    /// Whether one or more declared moves lead from one status to the other.
    /// A status reaches itself only around a cycle; one that is not declared
    /// reaches nothing.
    pub fn reaches(&self, from: &Status, to: &Status) -> bool {
        match (self.places.get(from), self.places.get(to)) {
            (Some(&from), Some(&to)) => self.reachable[from] & (1 << to) != 0,
            _ => false,
        }
    }

    /// Whether this status is declared.
    pub fn declares(&self, status: &Status) -> bool {
        self.places.contains_key(status)
    }

    /// Every declared status, in the order of the file.
    pub fn statuses(&self) -> &[Status] {
        &self.statuses
    }

    /// The first declared status that lies on a cycle. Under `order = "rank"`
    /// there must be none, since the graph alone says what is older.
    pub fn on_a_cycle(&self) -> Option<&Status> {
        self.statuses.iter().find(|status| self.reaches(status, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payment() -> Graph {
        Graph::new([("pending", "paid"), ("paid", "refunded"), ("pending", "failed")]).unwrap()
    }

    #[test]
    fn a_status_reaches_what_moves_lead_to_and_nothing_else() {
        let reaches = |from: &str, to: &str| payment().reaches(&from.into(), &to.into());
        assert!(reaches("pending", "refunded"));
        assert!(!reaches("refunded", "pending"));
        assert!(!reaches("failed", "paid"));
        assert!(!reaches("paid", "paid"), "a status is not a move to itself");
        assert!(!reaches("unknown", "paid"));
    }

    #[test]
    fn a_status_on_a_cycle_reaches_itself() {
        let graph = Graph::new([("a", "b"), ("b", "c"), ("c", "b")]).unwrap();
        assert!(graph.reaches(&"b".into(), &"b".into()));
        assert!(!graph.reaches(&"a".into(), &"a".into()));
        assert_eq!(graph.on_a_cycle(), Some(&"b".into()));
        assert_eq!(payment().on_a_cycle(), None);
    }

    #[test]
    fn one_status_too_many_is_refused() {
        let names: Vec<String> = (0..=MOST_STATUSES).map(|n| n.to_string()).collect();
        let chain = |n: usize| names[..n].windows(2).map(|two| (two[0].as_str(), two[1].as_str()));
        assert!(Graph::new(chain(MOST_STATUSES)).unwrap().reaches(&"0".into(), &"63".into()));
        assert_eq!(Graph::new(chain(MOST_STATUSES + 1)), Err(TooManyStatuses));
    }

    proptest! {
        #[test]
        fn reaching_is_what_a_walk_finds(moves in proptest::collection::vec((0..8_usize, 0..8_usize), 0..20)) {
            const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let graph = Graph::new(moves.iter().map(|&(from, to)| (NAMES[from], NAMES[to]))).unwrap();
            for (from, name) in NAMES.iter().enumerate() {
                let mut seen = [false; 8];
                let mut open = vec![from];
                while let Some(at) = open.pop() {
                    for &(_, to) in moves.iter().filter(|(source, _)| *source == at) {
                        if !std::mem::replace(&mut seen[to], true) {
                            open.push(to);
                        }
                    }
                }
                for (to, &walked) in seen.iter().enumerate() {
                    prop_assert_eq!(graph.reaches(&(*name).into(), &NAMES[to].into()), walked);
                }
            }
        }
    }
}
