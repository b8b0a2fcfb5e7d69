//! What is said of the list, and of what was taken in from it.

use crate::on_call::answer::Page;
use crate::on_call::shown;
use anyhow::Result;
use sekali::protocol::event::EventStatus;
use sekali::reconcile::{Brought, Found, Listed, Standing, Unproven};
use sekali::time::UnixMillis;
use serde_json::{Value, json};

/// What became of one that was to be taken in.
pub(super) fn told(page: &mut Page, listed: &Listed, brought: &Result<Brought>) -> Value {
    let (done, status, why) = match brought {
        Ok(Brought::Kept { status, sent }) => {
            let later = if *sent || *status != EventStatus::Received {
                ""
            } else {
                "; the queue did not take its message: the sweeper sends it within minutes"
            };
            page.line(format_args!("{}: taken in as {}{later}", listed.id, status.as_str()));
            (true, Some(*status), None)
        }
        Ok(Brought::ArrivedMeanwhile(status)) => {
            page.line(format_args!("{}: arrived meanwhile; it is {}", listed.id, status.as_str()));
            (true, Some(*status), Some("arrived meanwhile".to_owned()))
        }
        Err(error) => {
            page.line(format_args!("{}: not taken in: {error:#}", listed.id));
            (false, None, Some(format!("{error:#}")))
        }
    };
    json!({
        "key": listed.key.as_ref().map(|key| key.as_str()), "id": listed.id, "done": done,
        "status": status.map(|status| status.as_str()), "why": why,
    })
}

/// The events, and how many of each standing.
pub(super) fn show(page: &mut Page, found: &Found, now: UnixMillis) {
    let rows = found.events.iter().map(|listed| {
        [
            listed.standing.as_str().to_owned(),
            listed.id.clone(),
            listed.event_type.as_ref().map(ToString::to_string).unwrap_or_default(),
            listed.at.map(|at| shown::span(now.since(at))).unwrap_or_default(),
            meaning(&listed.standing),
        ]
    });
    page.table(["standing", "id", "type", "age", "because"], rows.collect());
    let counts: Vec<String> = found.counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    page.line(match counts.is_empty() {
        true => "the vendor lists no event of that time".to_owned(),
        false => format!("of the vendor's list: {}", counts.join(", ")),
    });
}

fn meaning(standing: &Standing) -> String {
    match standing {
        Standing::Received { status, conflicts } => {
            format!("{}; {} with other content", status.as_str(), counted_deliveries(*conflicts))
        }
        Standing::NeverArrived => "there is no record of it, and one would still be kept".to_owned(),
        Standing::Unproven(Unproven::Expired) => {
            "its record would have expired by now: it may have been received".to_owned()
        }
        Standing::Unproven(Unproven::BeforeUs) => {
            "it is from before the list's `since`: it may have been received elsewhere".to_owned()
        }
        Standing::Unproven(Unproven::NoTime) => "the list does not say when it happened".to_owned(),
        Standing::Unreadable(why) => why.clone(),
        Standing::NoRule | Standing::Filtered => String::new(),
    }
}

fn counted_deliveries(number: u64) -> String {
    match number {
        1 => "1 delivery".to_owned(),
        number => format!("{number} deliveries"),
    }
}

/// One of the events, for machines.
pub(super) fn event(listed: &Listed) -> Value {
    json!({
        "key": listed.key.as_ref().map(|key| key.as_str()),
        "id": listed.id,
        "type": listed.event_type.as_ref().map(|event_type| event_type.as_str()),
        "at": listed.at.map(shown::time),
        "standing": listed.standing.as_str(),
        "because": meaning(&listed.standing),
    })
}
