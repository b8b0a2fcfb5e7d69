//! A configuration as English sentences, one for each rule, so that its author
//! can read what it will do.

use super::{Action, Config, Endpoint, Late, Rule, RuleAction, StatusFrom, Types};
use crate::problem::Place;

/// What one rule does, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Where the rule stands.
    pub place: Place,
    /// The sentence.
    pub text: String,
}

/// Every rule as a sentence, endpoint by endpoint, in the order in which the
/// rules are tried. Of what is malformed nothing is said: a sentence without a
/// part of it would say something else.
pub fn explain(config: &Config) -> Vec<Sentence> {
    let rules = config.endpoints.values().flat_map(|endpoint| {
        let whole = |rule: &&Rule| {
            let has_resource = endpoint.whole || endpoint.resource.is_some() || rule.status.is_none();
            rule.sound.condition && rule.sound.outcome && has_resource
        };
        endpoint
            .rules
            .iter()
            .filter(whole)
            .map(|rule| Sentence { place: rule.place.clone(), text: sentence(config, endpoint, rule) })
    });
    rules.collect()
}

fn sentence(config: &Config, endpoint: &Endpoint, rule: &Rule) -> String {
    let what = match &rule.types {
        Types::Every => "anything".to_owned(),
        Types::These(types) => list(types.iter().map(|event_type| format!("`{event_type}`")), "or"),
    };
    let mut text = format!("When {} sends {what} to {}", endpoint.vendor.name(), endpoint.name);
    if !rule.when.is_empty() {
        let conditions =
            rule.when.iter().map(|condition| format!("{} is {}", condition.source, condition.literal));
        text.push_str(&format!(" and {}", list(conditions, "and")));
    }
    let moves = endpoint.resource.as_ref().zip(rule.status.as_ref()).map(|(resource, status)| {
        let becomes = match status {
            StatusFrom::Rule(status) => status.to_string(),
            StatusFrom::Fetched(source) => format!("what {source} says"),
        };
        format!("the {} that {} names becomes {becomes}", resource.kind, resource.key)
    });
    let asks = rule.action.as_ref().map(|action| asks(config.actions.get(&action.name), action));
    text.push_str(&format!(", {}", list(moves.into_iter().chain(asks), "and")));
    text.push_str(match rule.late {
        Some(Late::Act) => "; if the event is late, the action is asked for all the same",
        Some(Late::Skip) => "; if the event is late, it is ignored",
        None => "",
    });
    text.push('.');
    text
}

fn asks(declared: Option<&Action>, action: &RuleAction) -> String {
    let once = match &action.key {
        Some(key) => format!("once for each {}", list(key.iter().map(|field| field.name.to_string()), "and")),
        None => "once for each event".to_owned(),
    };
    let remembered = match declared.and_then(|action| action.keep_for) {
        Some(span) => format!(" within {}", super::value::show_span(span)),
        None => String::new(),
    };
    let with = match action.fields.is_empty() {
        true => String::new(),
        false => {
            let fields = action.fields.iter().map(|field| format!("{} from {}", field.name, field.source));
            format!(" with {}", list(fields, "and"))
        }
    };
    format!("{} is asked to {}{with}, {once}{remembered}", action.to, action.name)
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: impl Iterator<Item = String>, last: &str) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        Some((only, _)) => only.clone(),
        None => String::new(),
    }
}
