//! Whether calls fit into the time that the processor has.

use super::Config;
use super::destination::{Destination, InDoubt};
use super::value::show_span;
use crate::problem::Problem;
use crate::process::{LEASE_MARGIN, RESERVE};
use std::time::Duration;

/// How much of an invocation goes by before a call: reading, the claim.
const BEFORE: Duration = Duration::from_secs(5);

/// Checks that each destination can be called within one invocation of the
/// processor, and called again where it may be (INV-2): else nothing is ever
/// claimed for it, or no call ever repeated. `invocation` is how long one may
/// last, as the template says.
pub fn check_calls(config: &Config, invocation: Duration) -> Vec<Problem> {
    config.destinations.values().filter_map(|destination| check(destination, invocation)).collect()
}

fn check(destination: &Destination, invocation: Duration) -> Option<Problem> {
    let (name, timeout) = (&destination.name, destination.timeout);
    let around = BEFORE + RESERVE;
    if timeout + around > invocation {
        let message = format!(
            "a call of destination `{name}` may take {}, and one invocation of the processor lasts {} (ProcessorTimeoutSeconds): nothing would ever be begun",
            show_span(timeout),
            show_span(invocation)
        );
        let needed = (timeout + around).as_secs();
        let remedy = format!(
            "a timeout of {} or less, or ProcessorTimeoutSeconds={needed} and VisibilityTimeoutSeconds={}",
            show_span(invocation.saturating_sub(around)),
            needed * 6
        );
        return Some(Problem { place: destination.place.clone(), message, remedy: Some(remedy) });
    }
    // A repeated call has a lease of its own, within what is honoured.
    let lease = invocation + LEASE_MARGIN + timeout;
    let honoured = destination.honours_key_for.filter(|_| destination.in_doubt == InDoubt::Retry)?;
    (honoured < lease).then(|| Problem {
        place: destination.place.clone(),
        message: format!(
            "destination `{name}` honours a key for {}, which is too short for a call and a second one with a lease of one invocation of the processor ({}, ProcessorTimeoutSeconds): it would never be called again",
            show_span(honoured),
            show_span(invocation)
        ),
        remedy: Some(format!("honours_key_for = \"{}\" or longer, or in_doubt = \"park\"", show_span(lease))),
    })
}
