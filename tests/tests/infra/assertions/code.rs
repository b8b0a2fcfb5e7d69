//! Where template, code and documentation meet.

use super::super::calls;
use super::super::template::Template;
use super::{Listed, Verdict, expect};
use std::collections::BTreeSet;

pub const ASSERTIONS: &[Listed] = &[
    ("the functions are told what they read, and nothing else", variables_are_those_of_the_code),
    ("the command line finds every output that it reads", outputs_are_there),
    ("every parameter and output says what it is", everything_is_described),
    ("the template holds nothing that CloudFormation does not read", no_aliases),
];

/// Every text of this form in some sources, between quotes.
fn quoted(folders: &[&str], prefix: &str) -> BTreeSet<String> {
    let texts: String = folders.iter().flat_map(|folder| calls::sources(folder)).collect();
    texts
        .split(&format!("\"{prefix}"))
        .skip(1)
        .filter_map(|rest| Some(format!("{prefix}{}", rest.split_once('"')?.0)))
        .collect()
}

fn variables_are_those_of_the_code(template: &Template) -> Verdict {
    let read = quoted(&["shared/aws/src", "functions"], "SEKALI_");
    // What only a folder beside the functions, a local run or a test sets.
    let elsewhere = ["SEKALI_CONFIG", "SEKALI_ALLOW_PRIVATE_DESTINATIONS"].map(str::to_owned).into();
    let told: BTreeSet<String> = template.section("Globals")["Function"]["Environment"]["Variables"]
        .as_object()
        .map(|variables| variables.keys().cloned().collect())
        .unwrap_or_default();
    let untold: Vec<_> =
        read.difference(&told).filter(|name| !BTreeSet::contains(&elsewhere, *name)).collect();
    expect(untold.is_empty(), format!("the code reads {untold:?}"))?;
    // For those who read a function's variables, not for the code.
    let for_people = ["SEKALI_DLQ_URL", "SEKALI_MAX_RECEIVE_COUNT"].map(str::to_owned).into();
    let unread: Vec<_> =
        told.difference(&read).filter(|name| !BTreeSet::contains(&for_people, *name)).collect();
    expect(unread.is_empty(), format!("nothing reads {unread:?}"))
}

fn outputs_are_there(template: &Template) -> Verdict {
    let outputs = template.section("Outputs");
    let texts = calls::sources("shared/cli/src").concat() + &calls::sources("tests/src").concat();
    let read: BTreeSet<&str> = texts
        .split("output(\"")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0))
        .chain([
            "ApiId",
            "Url",
            "EventsTable",
            "ResourcesTable",
            "ActionsTable",
            "QueueUrl",
            "QueueArn",
            "DlqUrl",
            "DlqArn",
            "IngestFunction",
            "IngestFunctionArn",
            "ProcessorFunction",
            "ProcessorFunctionArn",
            "SweeperFunction",
            "SweeperFunctionArn",
            "IngestLogs",
            "ProcessorLogs",
            "SweeperLogs",
            "ApiLogs",
            "AlarmTopic",
        ])
        .collect();
    let missing: Vec<_> = read.into_iter().filter(|name| !outputs.contains_key(*name)).collect();
    expect(missing.is_empty(), format!("no output {missing:?}"))
}

fn everything_is_described(template: &Template) -> Verdict {
    for section in ["Parameters", "Outputs"] {
        for (name, member) in template.section(section) {
            let says = member["Description"].as_str().unwrap_or_default();
            expect(
                says.len() > 5 && says.ends_with('.') || says.ends_with("none."),
                format!("{name}: {says:?}"),
            )?;
        }
    }
    Ok(())
}

/// YAML's own aliases are the one thing that every linter takes and it refuses.
fn no_aliases(template: &Template) -> Verdict {
    let lines = template.text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let aliased =
        lines.into_iter().find(|line| line.contains(": *") || line.contains("- *") || line.contains(": &"));
    expect(aliased.is_none(), format!("{aliased:?}"))
}
