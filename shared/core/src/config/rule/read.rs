//! Reads rules.

use super::{Condition, Field, Late, Rule, RuleAction, Sound, StatusFrom, Types};
use crate::config::resource::Resource;
use crate::config::{Declared, value};
use crate::document::{Document, Entry, Table, Text};
use crate::ids::{ActionName, EventType, FieldName, Status};
use crate::json::Literal;
use crate::problem::nearest;
use crate::source::Source;

pub(in crate::config) const KEYS: &[&str] = &["type", "when", "status", "action", "late"];
const LATE: [(&str, Late); 2] = [("act", Late::Act), ("skip", Late::Skip)];

/// Words that are keys of a rule and therefore no fields of an action: a field
/// of that name is nearly always a brace in the wrong place.
const RESERVED_FIELDS: [&str; 4] = ["type", "when", "status", "late"];

/// The resource of the endpoint whose rules are read.
#[derive(Debug, Clone, Copy)]
pub(in crate::config) enum ResourceOf<'a> {
    /// It has none.
    Nothing,
    /// It has one that is malformed, which is a problem already.
    Malformed,
    /// This one.
    Declared(&'a Resource),
}

/// What a rule needs to know of the endpoint that it stands in.
#[derive(Debug, Clone, Copy)]
pub(in crate::config) struct OfEndpoint<'a> {
    pub resource: ResourceOf<'a>,
    pub fetched: Fetched,
}

/// Whether a value may be read from what the vendor's API answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) enum Fetched {
    /// The endpoint asks it.
    Known,
    /// The endpoint does not.
    NotAsked,
    /// It is decided before anybody is asked, on the delivery alone.
    TooEarly,
}

/// Reads one `[[endpoint.NAME.rule]]`.
pub(in crate::config) fn read(
    document: &mut Document<'_>,
    declared: &Declared,
    endpoint: OfEndpoint<'_>,
    table: Table<'_>,
) -> Option<Rule> {
    let OfEndpoint { resource, fetched } = endpoint;
    document.only(table, "a rule", KEYS);
    let before = document.found();
    let types = match table.get("type") {
        Some(entry) => types(document, entry),
        None => {
            let remedy = "type = \"an event type\", a list of them, or \"*\" for every event";
            let message = "the rule does not say for which type of event it is";
            document.absent(table.at, message, Some(remedy.to_owned()));
            None
        }
    };
    let when = table.get("when").and_then(|entry| conditions(document, fetched, entry)).unwrap_or_default();
    let condition = document.found() == before && !document.is_broken();
    let status = table.get("status").map(|entry| status(document, endpoint, entry));
    let action = table.get("action").map(|entry| action(document, declared, fetched, entry));
    if status.is_none() && action.is_none() {
        let remedy = "give it a status, an action or both; an event without a rule is ignored anyway";
        document.absent(table.at, "the rule does nothing", Some(remedy.to_owned()));
    }
    let late = late(document, table, !matches!(resource, ResourceOf::Nothing), action.is_some());
    // One that is there but malformed is a problem already.
    let outcome = status != Some(None) && action != Some(None);
    Some(Rule {
        types: types?,
        when,
        status: status.flatten(),
        action: action.flatten(),
        late,
        place: document.place(table.at),
        sound: Sound { condition, outcome },
    })
}

/// Reads the types of a rule or a guard.
pub(in crate::config) fn types(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Types> {
    let texts = document.one_or_more(entry)?;
    if texts.is_empty() {
        document.problem(
            entry.value_at,
            format!("`{}` is empty", entry.key),
            Some("\"*\" is every event".to_owned()),
        );
        return None;
    }
    if let [Text { text: "*", .. }] = texts[..] {
        return Some(Types::Every);
    }
    let mut types: Vec<EventType> = Vec::with_capacity(texts.len());
    for text in texts {
        if text.text.is_empty() || text.text.contains('*') {
            let message = format!("\"{}\" is no event type", text.text);
            let remedy = "types are named in full; \"*\" alone is every event";
            document.problem(text.at, message, Some(remedy.to_owned()));
        } else if types.iter().any(|before| before.as_str() == text.text) {
            document.problem(text.at, format!("type \"{}\" stands twice", text.text), None);
        } else {
            types.push(text.text.into());
        }
    }
    Some(Types::These(types))
}

/// Reads the conditions of a rule or a guard.
pub(in crate::config) fn conditions(
    document: &mut Document<'_>,
    fetched: Fetched,
    entry: Entry<'_>,
) -> Option<Vec<Condition>> {
    let table = document.table(entry)?;
    let mut conditions = Vec::new();
    for entry in table.entries() {
        let source = source(document, fetched, Text { text: entry.key, at: entry.key_at });
        let literal = Literal::from_toml(entry.value);
        if literal.is_none() {
            let message = "the right side of `when` is text, a number, true or false";
            let remedy = "for one of several values write a rule for each";
            document.problem(entry.value_at, message, Some(remedy.to_owned()));
        }
        if let (Some(source), Some(literal)) = (source, literal) {
            conditions.push(Condition { source, literal });
        }
    }
    Some(conditions)
}

/// Reads the place of a value.
pub(in crate::config) fn source(
    document: &mut Document<'_>,
    fetched: Fetched,
    text: Text<'_>,
) -> Option<Source> {
    let source = match Source::parse(text.text) {
        Ok(source) => source,
        Err(refused) => {
            document.problem(text.at, refused.to_string(), refused.remedy());
            return None;
        }
    };
    match (&source, fetched) {
        (Source::Fetch(_), Fetched::NotAsked) => {
            let remedy = "fetch.url = \"https://api.example.com/v1/jobs/{/id}\"";
            document.absent(text.at, "the endpoint asks nobody: it has no `fetch`", Some(remedy.to_owned()));
            None
        }
        (Source::Fetch(_), Fetched::TooEarly) => {
            let message = "this is decided on the delivery alone, before the vendor's API is asked";
            document.problem(text.at, message, Some("a place in the delivery".to_owned()));
            None
        }
        _ => Some(source),
    }
}

fn status(
    document: &mut Document<'_>,
    OfEndpoint { resource, fetched }: OfEndpoint<'_>,
    entry: Entry<'_>,
) -> Option<StatusFrom> {
    let text = document.text(entry)?;
    let resource = match resource {
        ResourceOf::Declared(resource) => resource,
        ResourceOf::Malformed => return None,
        ResourceOf::Nothing => {
            let remedy = "say where the endpoint's resource has its key: resource.KIND = \"/pointer\"";
            let message = "a status, but the endpoint has no resource";
            document.absent(entry.key_at, message, Some(remedy.to_owned()));
            return None;
        }
    };
    // No status is called so: a name has no colon.
    if text.text.starts_with("fetch:") {
        return source(document, fetched, text).map(StatusFrom::Fetched);
    }
    let status = Status::new(text.text);
    if !resource.graph.declares(&status) {
        let known = resource.graph.statuses().iter().map(Status::as_str);
        let remedy = match nearest(text.text, known.clone()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("its statuses are {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("no move of resource `{}` names the status \"{}\"", resource.kind, text.text);
        document.problem(text.at, message, Some(remedy));
    }
    Some(StatusFrom::Rule(status))
}

fn action(
    document: &mut Document<'_>,
    declared: &Declared,
    fetched: Fetched,
    entry: Entry<'_>,
) -> Option<RuleAction> {
    let table = document.table(entry)?;
    let mut named = table.entries();
    let Some(first) = named.next() else {
        document.problem(entry.key_at, "`action` names no action", Some("action.NAME = { .. }".to_owned()));
        return None;
    };
    for more in named {
        let message = format!("a rule has at most one action; `{}` is one more", more.key);
        let remedy = "one event asks for one effect: let its destination do both";
        document.problem(more.key_at, message, Some(remedy.to_owned()));
    }
    let fields = fields(document, fetched, first);
    let Some(action) = declared.actions.get(first.key) else {
        let remedy = match nearest(first.key, declared.actions.keys().map(ActionName::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("[action] {} = {{ to = \"a destination\" }}", first.key),
        };
        document.absent(first.key_at, format!("action `{}` is not declared", first.key), Some(remedy));
        return None;
    };
    let (action, fields) = (action.as_ref()?, fields?);
    let key = match &action.key {
        Some(names) => Some(key_fields(document, first, names, &fields)?),
        None => None,
    };
    Some(RuleAction { name: action.name.clone(), fields, key, to: action.to.clone() })
}

/// The fields that are the action's key; a rule has to give all of them.
fn key_fields(
    document: &mut Document<'_>,
    action: Entry<'_>,
    names: &[FieldName],
    fields: &[Field],
) -> Option<Vec<Field>> {
    let given = document.table(action)?;
    let mut key = Vec::with_capacity(names.len());
    for name in names {
        match fields.iter().find(|field| field.name == *name) {
            Some(field) => key.push(field.clone()),
            // Given, but malformed: a problem already.
            None if given.get(name.as_str()).is_some() => {}
            None => {
                let message = format!(
                    "the key of action `{}` has the field `{name}`, which this rule does not give",
                    action.key
                );
                let remedy = format!("action.{} = {{ {name} = \"/pointer\", .. }}", action.key);
                document.absent(action.key_at, message, Some(remedy));
            }
        }
    }
    (key.len() == names.len()).then_some(key)
}

fn fields(document: &mut Document<'_>, fetched: Fetched, entry: Entry<'_>) -> Option<Vec<Field>> {
    let table = document.table(entry)?;
    let mut fields = Vec::new();
    for field in table.entries() {
        if RESERVED_FIELDS.contains(&field.key) {
            let message = format!("`{}` is a key of the rule and no field of an action", field.key);
            let remedy =
                format!("if the destination needs it, name it otherwise, e.g. `event_{}`", field.key);
            document.problem(field.key_at, message, Some(remedy));
            continue;
        }
        value::accept(document, Text { text: field.key, at: field.key_at }, value::name(field.key));
        let Some(text) = document.text(field) else { continue };
        if let Some(source) = source(document, fetched, text) {
            fields.push(Field { name: field.key.into(), source });
        }
    }
    Some(fields)
}

fn late(document: &mut Document<'_>, table: Table<'_>, has_resource: bool, has_action: bool) -> Option<Late> {
    match (table.get("late"), has_resource && has_action) {
        (Some(entry), true) => document.word(entry, &LATE),
        (Some(entry), false) => {
            let message = match has_action {
                true => "`late` says nothing where the endpoint has no resource",
                false => "`late` says what becomes of an action, and the rule has none",
            };
            document.absent(entry.key_at, message, None);
            None
        }
        (None, true) => {
            // Dropping a paid order's task because `shipped` came first must be
            // somebody's decision, so there is no default.
            let remedy = "late = \"act\" asks for the action all the same, late = \"skip\" ignores the event";
            let message = "the rule does not say what becomes of its action when the event is late";
            document.absent(table.at, message, Some(remedy.to_owned()));
            None
        }
        (None, false) => None,
    }
}
