//! What a team wrote in `endpoints.toml`, checked as a whole: every problem
//! with its place, all at once.
//!
//! Four nouns: endpoint, resource, action, destination. A leading `/` is
//! always a pointer into the body. Of an endpoint's rules the first that
//! matches an event counts, in the order of the file.

mod across;
mod action;
mod calls;
mod destination;
mod endpoint;
mod explain;
mod fetch;
pub mod graph;
mod guard;
mod list;
mod mentions;
mod resource;
mod review;
mod rule;
mod secret_ref;
pub(crate) mod value;
mod vendors;
mod window;

#[cfg(test)]
mod tests;

pub use action::Action;
pub use calls::check_calls;
pub use destination::{
    AwsTarget, DEFAULT_SETTLING, DEFAULT_TIMEOUT, Decisive, Destination, DestinationKind, Expected,
    FIFO_WINDOW, InDoubt, LONGEST_TIMEOUT, Probe, ProbePart, Says, Telling,
};
pub use endpoint::{
    DEFAULT_MAX_BODY, DuplicateAnswer, Endpoint, EndpointResource, LARGEST_MAX_BODY, TenantFrom, Unfinished,
    Unusable,
};
pub use explain::{Sentence, explain};
pub use fetch::{Auth, Fetch};
pub use graph::Graph;
pub use guard::{Demand, Guard, GuardAnswer, Network, NotANetwork};
pub use list::ListAccess;
pub use mentions::Mentions;
pub use resource::{OrderKind, Resource};
pub use review::{Remark, Severity, review};
pub use rule::{Condition, Field, Late, Rule, RuleAction, StatusFrom, Types};
pub use secret_ref::{Keeper, NotASecretRef, SecretName, SecretRef};
pub use value::{NotAValue, rate, show_span, size, span};
pub use window::{MARGIN, Retentions, check_windows};

use crate::document::{Document, Table, Text};
use crate::ids::{ActionName, DestinationName, EndpointName, ResourceKind};
use crate::problem::Problem;
use std::collections::BTreeMap;
use vendors::Vendors;

/// The sections of a configuration and their keys: what the reader accepts and
/// what `docs/configuration.md` explains.
pub const KEYS: &[(&str, &[&str])] = &[
    ("[endpoint.NAME]", endpoint::KEYS),
    ("[[endpoint.NAME.rule]]", rule::KEYS),
    ("[[endpoint.NAME.guard]]", guard::KEYS),
    ("[endpoint.NAME.fetch]", fetch::KEYS),
    ("[endpoint.NAME.list]", list::KEYS),
    ("[resource.KIND]", resource::KEYS),
    ("[action]", action::KEYS),
    ("[destination]", destination::KEYS),
];

/// A file and its text.
pub type File<'a> = (&'a str, &'a str);

/// A whole configuration that holds together.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Endpoints by name.
    pub endpoints: BTreeMap<EndpointName, Endpoint>,
    /// Kinds of resource by name.
    pub resources: BTreeMap<ResourceKind, Resource>,
    /// Actions by name.
    pub actions: BTreeMap<ActionName, Action>,
    /// Destinations by name.
    pub destinations: BTreeMap<DestinationName, Destination>,
}

/// What was found in a configuration.
#[derive(Debug)]
pub struct Checked {
    /// The configuration, where there is no problem.
    pub config: Option<Config>,
    /// What can be read of it, also where there is a problem: for further
    /// checks, and never to be run.
    pub parts: Config,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What the file mentions, whether or not it can be used.
    pub mentions: Mentions,
}

/// Loads a configuration to run it.
///
/// # Errors
/// Every problem: nothing of such a configuration may run, since what it leaves
/// out would be lost in silence.
pub fn load(endpoints: File<'_>, team_vendors: &[File<'_>]) -> Result<Config, Vec<Problem>> {
    let Read { parts, problems } = read(endpoints, team_vendors);
    if problems.is_empty() { Ok(parts) } else { Err(problems) }
}

/// Checks a configuration. A team's own vendor description is named by its
/// file, `vendors/NAME.toml`, and comes before a built-in one of that name.
pub fn check(endpoints: File<'_>, team_vendors: &[File<'_>]) -> Checked {
    let Read { parts, problems } = read(endpoints, team_vendors);
    let mentions = Mentions::of(endpoints);
    Checked { config: problems.is_empty().then(|| parts.clone()), parts, problems, mentions }
}

struct Read {
    parts: Config,
    problems: Vec<Problem>,
}

fn read(endpoints: File<'_>, team_vendors: &[File<'_>]) -> Read {
    let (mut document, root) = Document::parse(endpoints.0, endpoints.1);
    let root = Table::root(&root);
    document.only(root, "this file", &["endpoint", "resource", "action", "destination"]);
    let vendors = Vendors::read(team_vendors);
    let destinations = section(&mut document, root, "destination", destination::read);
    let actions = section(&mut document, root, "action", |document, name, table| {
        action::read(document, &destinations, name, table)
    });
    let resources = section(&mut document, root, "resource", resource::read);
    let mut declared = Declared { resources, actions, vendors };
    let endpoints = section(&mut document, root, "endpoint", |document, name, table| {
        endpoint::read(document, &mut declared, name, table)
    });
    if endpoints.is_empty() {
        document.absent(0, "the file declares no endpoint", Some("[endpoint.NAME]".to_owned()));
    }
    let endpoints = sound(endpoints);
    across::check(&mut document, &endpoints);
    let mut problems = declared.vendors.into_problems();
    problems.extend(document.finish());
    let parts = Config {
        endpoints,
        resources: sound(declared.resources),
        actions: sound(declared.actions),
        destinations: sound(destinations),
    };
    Read { parts, problems }
}

/// What rules and endpoints refer to, by name. `None`: it is declared, but
/// malformed, which is a problem already.
struct Declared {
    resources: BTreeMap<ResourceKind, Option<Resource>>,
    actions: BTreeMap<ActionName, Option<Action>>,
    vendors: Vendors,
}

/// Reads every `[SECTION.NAME]`.
fn section<'d, N, T>(
    document: &mut Document<'_>,
    root: Table<'d>,
    key: &str,
    mut read: impl FnMut(&mut Document<'_>, Text<'d>, Table<'d>) -> Option<T>,
) -> BTreeMap<N, Option<T>>
where
    N: Ord + From<&'d str>,
{
    let Some(section) = root.get(key).and_then(|entry| document.table(entry)) else {
        return BTreeMap::new();
    };
    let mut named = BTreeMap::new();
    for entry in section.entries() {
        let name = Text { text: entry.key, at: entry.key_at };
        value::accept(document, name, value::name(entry.key));
        let thing = document.table(entry).and_then(|table| read(document, name, table));
        named.insert(entry.key.into(), thing);
    }
    named
}

fn sound<N: Ord, T>(named: BTreeMap<N, Option<T>>) -> BTreeMap<N, T> {
    named.into_iter().filter_map(|(name, thing)| Some((name, thing?))).collect()
}
