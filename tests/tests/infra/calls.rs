//! What the code calls, read off its source: which call of a port makes which
//! calls of AWS, and which function makes which call of a port. Both are
//! compared with the list in `shared/aws/src/rights.rs`.

use sekali_aws::rights::{self, PortRights, Right};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A call of the SDK, and the actions that IAM knows it by. A transaction needs
/// those of its parts.
const OPERATIONS: &[(&str, &str)] = &[
    (".get_item()", "dynamodb:GetItem"),
    (".batch_get_item()", "dynamodb:BatchGetItem"),
    (".put_item()", "dynamodb:PutItem"),
    (".batch_write_item()", "dynamodb:BatchWriteItem"),
    (".update_item()", "dynamodb:UpdateItem"),
    (".delete_item()", "dynamodb:DeleteItem"),
    (".query()", "dynamodb:Query"),
    (".scan()", "dynamodb:Scan"),
    ("Update::builder()", "dynamodb:UpdateItem"),
    ("ConditionCheck::builder()", "dynamodb:ConditionCheckItem"),
    ("Put::builder()", "dynamodb:PutItem"),
    ("Delete::builder()", "dynamodb:DeleteItem"),
    (".send_message()", "sqs:SendMessage"),
    (".send_message_batch()", "sqs:SendMessage"),
    (".receive_message()", "sqs:ReceiveMessage"),
    (".delete_message()", "sqs:DeleteMessage"),
    (".change_message_visibility()", "sqs:ChangeMessageVisibility"),
    (".get_queue_attributes()", "sqs:GetQueueAttributes"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a folder, or one of them, without their tests.
pub fn sources(place: &str) -> Vec<String> {
    let place = repository().join(place);
    let mut found = Vec::new();
    let mut folders = Vec::new();
    if place.is_file() {
        found.push(std::fs::read_to_string(&place).unwrap());
    } else {
        folders.push(place);
    }
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "tests" {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") && !name.contains("tests") {
                found.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let without_tests =
        |text: String| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    found.into_iter().map(without_tests).collect()
}

fn squeezed(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n").chars().filter(|c| !c.is_whitespace()).collect()
}

/// Every function of some sources with its body, one text for each name.
fn bodies(sources: &[String]) -> BTreeMap<String, String> {
    let mut bodies: BTreeMap<String, String> = BTreeMap::new();
    for source in sources {
        for part in source.split("fn ").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(begin) = part.find('{') else { continue };
            bodies.entry(name).or_default().push_str(&squeezed(&part[begin..]));
        }
    }
    bodies
}

/// The actions behind a function: its own calls of the SDK, and those of what
/// it calls in these sources.
fn actions(name: &str, bodies: &BTreeMap<String, String>) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(body) = bodies.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
        found.extend(OPERATIONS.iter().filter(|(call, _)| body.contains(call)).map(|(_, action)| *action));
        open.extend(bodies.keys().filter(|other| body.contains(&format!("self.{other}("))).cloned());
    }
    found
}

fn row(list: &'static [PortRights], call: &str) -> Option<&'static [Right]> {
    list.iter().find(|(name, _)| *name == call).map(|(_, rights)| *rights)
}

/// Compares a port's rows with what its adapter calls.
pub fn compare(
    port: &str,
    folder: &str,
    list: &'static [PortRights],
    more: &[(&str, BTreeSet<&str>)],
) -> Result<(), String> {
    let bodies = bodies(&sources(folder));
    let rows = list.iter().map(|(call, rights)| (*call, rights.iter().map(|right| right.0).collect()));
    for (call, listed) in rows.chain(more.iter().cloned()) {
        let called = actions(call, &bodies);
        if called != listed {
            return Err(format!("{port}::{call} calls {called:?}; shared/aws/src/rights.rs has {listed:?}"));
        }
    }
    Ok(())
}

/// The calls of a trait.
pub fn methods(file: &str, port: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join(file)).unwrap();
    let body = text.split_once(&format!("pub trait {port}")).unwrap().1;
    let body = body.split_once("\n}").unwrap().0;
    body.split("fn ")
        .skip(1)
        .map(|part| part.chars().take_while(|c| *c != '(' && *c != '<').collect())
        .collect()
}

/// What a function needs, by the calls of ports in its code.
pub fn of_function(function: &str) -> Result<BTreeSet<Right>, String> {
    let core = match function {
        "ingest" => "shared/core/src/ingest",
        "processor" => "shared/core/src/process",
        _ => "shared/core/src/sweep",
    };
    let code: String = [sources(core), sources(&format!("functions/{function}/src"))]
        .concat()
        .iter()
        .map(|text| squeezed(text))
        .collect();
    let mut rights = BTreeSet::new();
    for (list, port) in [(rights::STORE, "store"), (rights::QUEUE, "queue")] {
        for (call, needed) in list {
            if code.contains(&format!("{port}.{call}(")) {
                rights.extend(needed.iter().copied());
            }
        }
    }
    let parts = rights::WRITES.iter().find(|(name, _)| *name == function).map(|(_, parts)| *parts);
    let parts = parts.ok_or_else(|| format!("rights::WRITES has no {function}"))?;
    let writes = code.contains("store.write(") || code.contains("apply(");
    if writes == parts.is_empty() {
        return Err(format!("{function} writes transitions: {writes}; rights::WRITES has {parts:?}"));
    }
    for part in parts {
        rights.extend(row(rights::WRITE, part).ok_or_else(|| format!("rights::WRITE has no {part}"))?);
    }
    if writes {
        // The TTL of the event's payload goes with it.
        for call in ["keep_payload", "expire_payload"] {
            rights.extend(row(rights::STORE, call).unwrap_or_default());
        }
    }
    Ok(rights)
}
