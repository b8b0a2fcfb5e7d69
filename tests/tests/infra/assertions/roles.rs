//! Each function may do what it does and no more.

use super::super::calls;
use super::super::grants::{self, Grant};
use super::super::template::{Template, objects, several};
use super::{Listed, Verdict, expect};
use sekali_aws::rights::{self, Right, Thing};
use serde_json::Value;
use std::collections::BTreeSet;

pub const ASSERTIONS: &[Listed] = &[
    ("each function may do what its code calls, and no more", functions_may_do_what_they_call),
    ("what the configuration names is granted by its parameter alone", parameters_grant_what_they_name),
    ("nothing is allowed with a wildcard", no_wildcard),
    ("no policy of somebody else's widens a role", no_managed_policy),
    ("each function has a role of its own", roles_are_apart),
];

fn named(right: Right) -> Grant {
    let on = match right.1 {
        Thing::EventsTable => "EventsTable",
        Thing::OpenIndex => "EventsTable/index/open",
        Thing::ResourcesTable => "ResourcesTable",
        Thing::ActionsTable => "ActionsTable",
        Thing::Queue => "Queue",
    };
    Grant { action: right.0.to_owned(), on: on.to_owned() }
}

fn functions_may_do_what_they_call(template: &Template) -> Verdict {
    for (code, function) in template.functions() {
        let mut needed: BTreeSet<Grant> = calls::of_function(code)?.into_iter().map(named).collect();
        if code == "processor" {
            needed.extend(rights::POLLER.iter().copied().map(named));
        }
        needed.extend(rights::RUNTIME.iter().map(|action| Grant {
            action: (*action).to_owned(),
            on: if action.starts_with("logs:") { format!("{function}Logs") } else { "*".to_owned() },
        }));
        let granted = grants::of(template, grants::role(template, function));
        let missing: Vec<_> = needed.difference(&granted).collect();
        let too_much: Vec<_> = granted.difference(&needed).collect();
        expect(
            missing.is_empty() && too_much.is_empty(),
            format!("{function} lacks {missing:?} and needs no {too_much:?}"),
        )?;
    }
    Ok(())
}

/// A policy for each parameter: only with it, and only with what it names.
fn parameters_grant_what_they_name(template: &Template) -> Verdict {
    let mut granted = BTreeSet::new();
    for (name, policy) in template.of_type("AWS::IAM::Policy") {
        expect(policy["Condition"].is_string(), format!("{name} has no condition"))?;
        granted.extend(grants::of(template, name));
    }
    let needed: BTreeSet<Grant> = rights::CONFIGURED
        .iter()
        .map(|(action, parameter)| Grant { action: (*action).to_owned(), on: (*parameter).to_owned() })
        .collect();
    let missing: Vec<_> = needed.difference(&granted).collect();
    let too_much: Vec<_> = granted.difference(&needed).collect();
    expect(
        missing.is_empty() && too_much.is_empty(),
        format!("not granted: {missing:?}; granted and not in the list: {too_much:?}"),
    )
}

/// But for X-Ray, which has no resources to name.
fn no_wildcard(template: &Template) -> Verdict {
    for (name, statement) in grants::allowed(template) {
        let actions: Vec<_> = several(&statement["Action"]).into_iter().filter_map(Value::as_str).collect();
        let traces = actions.iter().all(|action| action.starts_with("xray:Put"));
        let wide = |value: &Value| value.to_string().contains('*');
        expect(
            !actions.iter().any(|action| action.contains('*'))
                && (traces || !wide(&statement["Resource"]))
                && statement["NotAction"].is_null()
                && statement["NotResource"].is_null(),
            format!("{name}: {statement}"),
        )?;
    }
    Ok(())
}

fn no_managed_policy(template: &Template) -> Verdict {
    for (name, resource) in template.section("Resources") {
        for object in objects(resource) {
            let own = resource["Type"] != "AWS::Serverless::Function" || !object.contains_key("Policies");
            expect(own && !object.contains_key("ManagedPolicyArns"), format!("{name} has one"))?;
        }
    }
    Ok(())
}

fn roles_are_apart(template: &Template) -> Verdict {
    let roles: BTreeSet<_> = template.functions().map(|(_, f)| grants::role(template, f)).into();
    expect(roles.len() == 3 && !roles.contains(""), format!("{roles:?}"))?;
    for role in roles {
        let trusted = &template.properties(role)["AssumeRolePolicyDocument"]["Statement"];
        let only_lambda = trusted.as_array().is_some_and(|statements| {
            statements.len() == 1 && statements[0]["Principal"]["Service"] == "lambda.amazonaws.com"
        });
        expect(only_lambda, format!("{role} is not Lambda's alone"))?;
    }
    Ok(())
}
