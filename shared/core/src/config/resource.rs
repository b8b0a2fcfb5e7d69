//! Kinds of resource: what their events are ordered by, and which moves exist.

use super::graph::{Graph, MOST_STATUSES};
use super::value;
use crate::document::{Document, Table, Text};
use crate::ids::ResourceKind;
use crate::problem::Place;
use std::collections::HashSet;

/// A kind of resource as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The kind.
    pub kind: ResourceKind,
    /// What says which of two events is older.
    pub order: OrderKind,
    /// The statuses and the moves between them.
    pub graph: Graph,
    /// Where it is declared.
    pub place: Place,
}

/// What says which of two events of a resource is older.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderKind {
    /// The vendor's time of the event.
    Time,
    /// The vendor's own number, which grows with each event.
    Sequence,
    /// Nothing but the graph, which has no cycle then.
    Rank,
    /// The webhook is a signal; the vendor's API is asked.
    Fetch,
}

pub(super) const KEYS: &[&str] = &["order", "moves"];
const ORDERS: [(&str, OrderKind); 4] = [
    ("time", OrderKind::Time),
    ("sequence", OrderKind::Sequence),
    ("rank", OrderKind::Rank),
    ("fetch", OrderKind::Fetch),
];

/// Reads `[resource.KIND]`.
pub(super) fn read(document: &mut Document<'_>, kind: Text<'_>, table: Table<'_>) -> Option<Resource> {
    document.only(table, "a resource", KEYS);
    let order = match table.get("order") {
        Some(entry) => document.word(entry, &ORDERS),
        None => {
            let message = format!("resource `{}` does not say what orders its events", kind.text);
            document.absent(
                kind.at,
                message,
                Some("order = \"time\", \"sequence\", \"rank\" or \"fetch\"".to_owned()),
            );
            None
        }
    };
    let graph = match table.get("moves") {
        Some(entry) => {
            let chains = document.texts(entry)?;
            moves(document, entry.key_at, &chains)
        }
        None => {
            let message = format!("resource `{}` has no moves", kind.text);
            document.absent(kind.at, message, Some("moves = [\"pending -> paid\"]".to_owned()));
            None
        }
    };
    if let (Some(OrderKind::Rank), Some(graph), Some(entry)) = (order, &graph, table.get("moves")) {
        refuse_cycle(document, entry.key_at, graph);
    }
    Some(Resource { kind: kind.text.into(), order: order?, graph: graph?, place: document.place(kind.at) })
}

/// Reads chains such as `a -> b -> c`. `None` where one of them is malformed:
/// a graph with a hole would only give more, and misleading, problems.
fn moves(document: &mut Document<'_>, at: usize, chains: &[Text<'_>]) -> Option<Graph> {
    let mut edges: Vec<(&str, &str)> = Vec::new();
    let mut seen = HashSet::new();
    let mut sound = true;
    for chain in chains {
        let statuses: Vec<&str> = chain.text.split("->").map(str::trim).collect();
        if statuses.len() < 2 || statuses.iter().any(|status| value::name(status).is_err()) {
            let message = format!("\"{}\" is no chain of moves", chain.text);
            document.problem(chain.at, message, Some("write \"a -> b\" or \"a -> b -> c\"".to_owned()));
            sound = false;
            continue;
        }
        for step in statuses.windows(2).map(|step| (step[0], step[1])) {
            if step.0 == step.1 {
                document.problem(chain.at, format!("`{}` moves to itself", step.0), None);
            } else if seen.insert(step) {
                edges.push(step);
            } else {
                let message = format!("the move {} -> {} is declared twice", step.0, step.1);
                document.problem(chain.at, message, None);
            }
        }
    }
    if chains.is_empty() {
        document.problem(at, "`moves` is empty", Some("moves = [\"pending -> paid\"]".to_owned()));
        return None;
    }
    if !sound {
        return None;
    }
    Graph::new(edges)
        .map_err(|_| document.problem(at, format!("the moves name more than {MOST_STATUSES} statuses"), None))
        .ok()
}

fn refuse_cycle(document: &mut Document<'_>, at: usize, graph: &Graph) {
    if let Some(status) = graph.on_a_cycle() {
        let around: Vec<&str> = graph
            .statuses()
            .iter()
            .filter(|other| graph.reaches(status, other) && graph.reaches(other, status))
            .map(|other| other.as_str())
            .collect();
        let message = format!(
            "the moves lead around in a circle through {}; with order = \"rank\" nothing would say which is older",
            around.join(", ")
        );
        document.problem(
            at,
            message,
            Some("break the circle, or order by \"time\" or \"sequence\"".to_owned()),
        );
    }
}
