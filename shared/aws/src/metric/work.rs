//! The metrics of what processor and sweeper did.

use super::delivery::millis;
use super::line::Lines;
use super::list::{Dimension, Metric};
use sekali::happened::{CallEnd, Happened};
use sekali::protocol::event::EventStatus;
use sekali::sweep::Swept;
use std::borrow::Cow;

/// What happened in one invocation of the processor, as metrics.
pub fn of_batch(happened: &[Happened]) -> Lines<'_> {
    let mut lines = Lines::default();
    happened.iter().for_each(|happened| add(&mut lines, happened));
    lines
}

/// What one sweep did, as metrics. `SweptMoved` and `SweptLeft` are left out
/// where they are nought; an alarm or a reader waits for the others.
pub fn of_sweep(swept: &Swept) -> Lines<'_> {
    let mut lines = Lines::default();
    lines.state(Metric::Sweeps, 1, &[]);
    lines.state(Metric::SweptSent, swept.sent, &[]);
    lines.state(Metric::OldestOpen, swept.oldest.as_secs(), &[]);
    lines.count(Metric::SweptMoved, swept.moved, &[]);
    lines.count(Metric::SweptLeft, swept.left, &[]);
    for (status, many) in swept.needs_human {
        if let Some(many) = many {
            lines.state(Metric::NeedsHuman, many, &[word(Dimension::Status, status.as_str())]);
        }
    }
    swept.happened.iter().for_each(|happened| add(&mut lines, happened));
    lines
}

fn word(dimension: Dimension, value: &str) -> (Dimension, Cow<'_, str>) {
    (dimension, Cow::Borrowed(value))
}

fn add<'a>(lines: &mut Lines<'a>, happened: &'a Happened) {
    match happened {
        Happened::Ended { endpoint, status, reason, after } => {
            let endpoint = word(Dimension::Endpoint, endpoint.as_str());
            let reason = word(Dimension::Reason, reason.map_or("none", |reason| reason.as_str()));
            let with_reason = [endpoint.clone(), reason];
            let ended = [endpoint.clone(), word(Dimension::Status, status.as_str())];
            match status {
                EventStatus::Held => return lines.count(Metric::Held, 1, &with_reason),
                EventStatus::Ignored => lines.count(Metric::Ignored, 1, &with_reason),
                EventStatus::Processed => {
                    lines.measure(Metric::TimeToProcessed, millis(*after), &[endpoint]);
                }
                EventStatus::Failed
                | EventStatus::InDoubt
                | EventStatus::Received
                | EventStatus::Processing => {}
            }
            lines.count(Metric::Ended, 1, &ended);
        }
        Happened::Called { destination, end, again, took } => {
            let destination = word(Dimension::Destination, destination.as_str());
            let by = [destination.clone()];
            lines.count(Metric::Attempts, 1, &by);
            lines.count(Metric::Retries, u64::from(*again), &by);
            lines.measure(Metric::DestinationTime, millis(*took), &by);
            let failed = u64::from(*end != CallEnd::Done);
            lines.count(Metric::Failures, failed, &[destination, word(Dimension::Class, end.as_str())]);
        }
        Happened::Prevented(action) => {
            lines.count(Metric::EffectsPrevented, 1, &[word(Dimension::Action, action.as_str())]);
        }
        Happened::InDoubt(destination) => {
            lines.count(Metric::InDoubt, 1, &[word(Dimension::Destination, destination.as_str())]);
        }
    }
}
