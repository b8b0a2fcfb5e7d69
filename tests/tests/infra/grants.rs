//! What the template grants, role by role.

use super::template::{Template, several};
use serde_json::Value;
use std::collections::BTreeSet;

/// One action on one thing, both as they stand in the template: a thing is
/// `EventsTable`, `EventsTable/index/open`, or what else a statement names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    pub action: String,
    pub on: String,
}

/// Every statement that allows something: the role or policy, and the statement.
pub fn allowed(template: &Template) -> Vec<(String, &Value)> {
    let mut statements = Vec::new();
    for (name, role) in template.of_type("AWS::IAM::Role") {
        for policy in several(&role["Properties"]["Policies"]) {
            let inside = several(&policy["PolicyDocument"]["Statement"]);
            statements.extend(inside.into_iter().map(|statement| (name.to_owned(), statement)));
        }
    }
    for (name, policy) in template.of_type("AWS::IAM::Policy") {
        let inside = several(&policy["Properties"]["PolicyDocument"]["Statement"]);
        statements.extend(inside.into_iter().map(|statement| (name.to_owned(), statement)));
    }
    statements.retain(|(_, statement)| statement["Effect"] == "Allow");
    statements
}

/// What a role, or a policy, allows.
pub fn of(template: &Template, name: &str) -> BTreeSet<Grant> {
    let own = allowed(template).into_iter().filter(|(holder, _)| holder == name);
    own.flat_map(|(_, statement)| {
        let on: Vec<_> = several(&statement["Resource"]).into_iter().map(thing).collect();
        several(&statement["Action"]).into_iter().flat_map(move |action| {
            let action = action.as_str().unwrap_or_default().to_owned();
            on.clone().into_iter().map(move |on| Grant { action: action.clone(), on })
        })
    })
    .collect()
}

/// The role of a function.
pub fn role<'t>(template: &'t Template, function: &str) -> &'t str {
    template.properties(function)["Role"]["Fn::GetAtt"][0].as_str().unwrap_or_default()
}

fn thing(resource: &Value) -> String {
    if let Some(name) = resource["Fn::GetAtt"][0].as_str().or(resource["Ref"].as_str()) {
        return name.to_owned();
    }
    let text = resource["Fn::Sub"].as_str().or(resource.as_str()).unwrap_or_default();
    text.replace("${", "").replace(".Arn}", "").replace('}', "")
}
