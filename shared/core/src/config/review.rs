//! What can be said of a configuration that can be read: rules that never
//! fire, keys that cannot be, statuses that nothing gives. The functions run
//! without this; `sekali check` tells people before a delivery does.

use super::{Condition, Config, Demand, Endpoint, Guard, Mentions, OrderKind, Rule, Types};
use crate::problem::{Place, Problem};
use crate::source::{Pointer, Source};
/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It will not do what it says.
    Problem,
    /// It may be meant.
    Warning,
    /// Something to know.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something about a configuration, where it stands and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub problem: Problem,
}

impl Remark {
    fn new(severity: Severity, place: &Place, message: String, remedy: &str) -> Self {
        let problem = Problem { place: place.clone(), message, remedy: Some(remedy.to_owned()) };
        Self { severity, problem }
    }
}

/// Everything that can be said, in the order of the file, also of one that has
/// problems: what something malformed mentions is used all the same.
pub fn review(config: &Config, mentions: &Mentions) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = config.endpoints.values().flat_map(of_endpoint).collect();
    // Behind an error of syntax anything may be mentioned.
    if mentions.are_all() {
        remarks.extend(unreached_statuses(config, mentions));
        remarks.extend(unused(config, mentions));
    }
    remarks.sort_by(|a, b| (&a.problem.place, a.severity).cmp(&(&b.problem.place, b.severity)));
    remarks
}

fn of_endpoint(endpoint: &Endpoint) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(resource) = &endpoint.resource {
        let what = format!("the key of resource `{}`", resource.kind);
        remarks.extend(about_key(endpoint, &endpoint.place, &what, &resource.key));
    }
    remarks.extend(asks_for_nothing(endpoint));
    for (index, rule) in endpoint.rules.iter().enumerate() {
        remarks.extend(never_fires(endpoint, rule, &endpoint.rules[..index]));
        remarks.extend(about_reads(endpoint, rule));
    }
    remarks
}

/// An API that is declared and never asked.
fn asks_for_nothing(endpoint: &Endpoint) -> Option<Remark> {
    let fetch = endpoint.fetch.as_ref().filter(|_| endpoint.whole)?;
    let in_order = endpoint.resource.as_ref().is_some_and(|resource| match resource.order {
        OrderKind::Fetch => true,
        OrderKind::Time => fetch.time.is_some(),
        OrderKind::Sequence => fetch.version.is_some(),
        OrderKind::Rank => false,
    });
    let read = endpoint.sources().iter().any(|source| matches!(source, Source::Fetch(_)));
    (!in_order && !read).then(|| {
        let message = format!("nothing of endpoint `{}` reads what its `fetch` would answer", endpoint.name);
        Remark::new(
            Severity::Warning,
            &fetch.place,
            message,
            "name a place `fetch:/pointer`, or leave it out",
        )
    })
}

/// A rule that can never fire, for one reason.
fn never_fires(endpoint: &Endpoint, rule: &Rule, earlier: &[Rule]) -> Option<Remark> {
    let never = |why: String, remedy: &str| {
        let message = format!("this rule never fires: {why}");
        Some(Remark::new(Severity::Problem, &rule.place, message, remedy))
    };
    // Where the earlier one has no condition, reading the file said so already.
    let shadow = earlier.iter().find(|earlier| {
        !earlier.when.is_empty()
            && rule.sound.condition
            && earlier.sound.condition
            && types_within(&rule.types, &earlier.types)
            && implies(rule, earlier)
    });
    if let Some(shadow) = shadow {
        let why = format!("the one in line {} takes all its events", shadow.place.line);
        return never(why, "the first rule that matches counts; put this one before it");
    }
    if let Some(guard) = endpoint.guards.iter().find(|guard| excludes(guard, rule)) {
        let why = format!("the guard in line {} lets none of its events pass", guard.place.line);
        return never(why, "change the guard, or leave the rule out");
    }
    for (index, condition) in rule.when.iter().enumerate() {
        if let Some(other) = rule.when[..index].iter().find(|other| contradicts(other, condition)) {
            let why = format!("{} and {} cannot both be so", other.source, condition.source);
            return never(why, "write a rule for each");
        }
        if let Some(reason) = endpoint.vendor.never_holds(&condition.source) {
            return never(
                format!("{} is never there, since {reason}", condition.source),
                "name the right place",
            );
        }
    }
    None
}

/// Whether every type of the one is among those of the other.
fn types_within(inner: &Types, outer: &Types) -> bool {
    match (inner, outer) {
        (_, Types::Every) => true,
        (Types::Every, Types::These(_)) => false,
        (Types::These(inner), Types::These(outer)) => {
            inner.iter().all(|event_type| outer.contains(event_type))
        }
    }
}

/// Whether an event that the rule takes fulfils all that the earlier one asks.
fn implies(rule: &Rule, earlier: &Rule) -> bool {
    earlier.when.iter().all(|wanted| rule.when.iter().any(|own| same(own, wanted)))
}

fn same(a: &Condition, b: &Condition) -> bool {
    a.source.canonical() == b.source.canonical() && a.literal == b.literal
}

/// One place with two values, or a place below one that is a plain value.
fn contradicts(a: &Condition, b: &Condition) -> bool {
    if a.source.canonical() == b.source.canonical() {
        return a.literal != b.literal;
    }
    match (&a.source, &b.source) {
        (Source::Body(a), Source::Body(b)) => is_below(a, b) || is_below(b, a),
        _ => false,
    }
}

fn is_below(inner: &Pointer, outer: &Pointer) -> bool {
    inner.steps().len() > outer.steps().len() && inner.steps().starts_with(outer.steps())
}

fn excludes(guard: &Guard, rule: &Rule) -> bool {
    match &guard.demands {
        Demand::Types(Types::These(allowed)) if rule.sound.condition => match &rule.types {
            Types::These(types) => !types.iter().any(|event_type| allowed.contains(event_type)),
            Types::Every => false,
        },
        Demand::When(demanded) => {
            demanded.iter().any(|demanded| rule.when.iter().any(|own| contradicts(own, demanded)))
        }
        Demand::Types(_) | Demand::Networks(_) | Demand::Livemode { .. } => false,
    }
}

fn about_reads(endpoint: &Endpoint, rule: &Rule) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for condition in rule.when.iter().filter(|condition| is_volatile(endpoint, &condition.source)) {
        let message = format!("the rule asks for {}, {CHANGES}", condition.source);
        remarks.push(Remark::new(
            Severity::Warning,
            &rule.place,
            message,
            "ask for something that the event itself says",
        ));
    }
    let Some(action) = &rule.action else { return remarks };
    let is_key = |name: &str| action.key.iter().flatten().any(|field| field.name.as_str() == name);
    for field in &action.fields {
        let what = format!("field `{}` of action `{}`", field.name, action.name);
        if is_key(field.name.as_str()) {
            let what = format!("the key's {what}");
            remarks.extend(about_key(endpoint, &rule.place, &what, &field.source));
        } else if let Some(reason) = endpoint.vendor.never_holds(&field.source) {
            let message = format!("{what} is always null: {} is never there, since {reason}", field.source);
            remarks.push(Remark::new(Severity::Warning, &rule.place, message, "name the right place"));
        } else if is_volatile(endpoint, &field.source) {
            let message = format!("{what} is {}, {CHANGES}", field.source);
            remarks.push(Remark::new(
                Severity::Warning,
                &rule.place,
                message,
                "the destination sees what the first delivery said",
            ));
        }
    }
    remarks
}

const CHANGES: &str = "which changes from delivery to delivery of one event";

/// A part of a key that cannot exist, or that is another one for a repeat.
fn about_key(endpoint: &Endpoint, place: &Place, what: &str, source: &Source) -> Option<Remark> {
    if let Some(reason) = endpoint.vendor.never_holds(source) {
        let message = format!("{what} cannot exist: nothing is ever at {source}, since {reason}");
        return Some(Remark::new(
            Severity::Problem,
            place,
            message,
            "every event would be held; name the right place",
        ));
    }
    is_volatile(endpoint, source).then(|| {
        let message = format!("{what} is {source}, {CHANGES}");
        let remedy = "a repeat would ask for another effect; take a place that stays the same";
        Remark::new(Severity::Problem, place, message, remedy)
    })
}

fn is_volatile(endpoint: &Endpoint, source: &Source) -> bool {
    let Source::Body(pointer) = source else { return false };
    endpoint
        .vendor
        .volatile()
        .any(|volatile| pointer == volatile || is_below(pointer, volatile) || is_below(volatile, pointer))
}

/// Statuses of resources in use that no rule gives.
fn unreached_statuses(config: &Config, mentions: &Mentions) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for resource in config.resources.values() {
        let kind = resource.kind.as_str();
        if !mentions.has_resource(kind) {
            let message = format!("no endpoint has the resource `{kind}`");
            let remedy = format!("resource.{kind} = \"/pointer\" in an endpoint, or leave it out");
            remarks.push(Remark::new(Severity::Warning, &resource.place, message, &remedy));
            continue;
        }
        let statuses = resource.graph.statuses();
        let declared: Vec<&str> = statuses.iter().map(|status| status.as_str()).collect();
        let Some(given) = mentions.statuses(kind, &declared) else {
            // The API may say any of them.
            continue;
        };
        for status in statuses.iter().filter(|status| !given.contains(status.as_str())) {
            let begins = !statuses.iter().any(|from| resource.graph.reaches(from, status));
            let message = format!("no rule gives resource `{kind}` the status \"{status}\"");
            let remedy = match begins {
                true => {
                    "moves begin there, so it may only name where a resource stands before its first event"
                }
                false => "write the rule that gives it, or leave it out of the moves",
            };
            remarks.push(Remark::new(Severity::Warning, &resource.place, message, remedy));
        }
    }
    remarks
}

/// Actions and destinations that nothing asks for.
fn unused(config: &Config, mentions: &Mentions) -> Vec<Remark> {
    let warning =
        |place: &Place, message: String, remedy: &str| Remark::new(Severity::Warning, place, message, remedy);
    let actions = config.actions.values().filter(|action| !mentions.asks_for(action.name.as_str()));
    let actions = actions.map(|action| {
        let message = format!("no rule asks for the action `{}`", action.name);
        warning(&action.place, message, "write the rule that asks for it, or leave it out")
    });
    let destinations = config.destinations.values();
    let destinations = destinations.filter(|destination| !mentions.calls(destination.name.as_str()));
    let destinations = destinations.map(|destination| {
        let message = format!("no action goes to the destination `{}`", destination.name);
        warning(&destination.place, message, "leave it out, or send an action there")
    });
    actions.chain(destinations).collect()
}
