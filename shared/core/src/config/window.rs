//! INV-9: dedup outlives every way an event can come back.

use super::value::show_span;
use super::{Action, Config, Endpoint};
use crate::ids::{ActionName, EndpointName};
use crate::problem::Problem;
use std::collections::BTreeMap;
use std::time::Duration;

/// Added to every window: clocks differ, a sweep takes its time, and a message
/// moved on the last day of its retention is still worked on.
pub const MARGIN: Duration = Duration::from_secs(24 * 60 * 60);

/// What a vendor is taken to repeat for where nobody knows and the endpoint
/// says nothing. [`check_windows`] refuses such an endpoint; where it was not
/// asked, longer is safer.
const UNKNOWN_HORIZON: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long messages are kept, as the template passes it to the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retentions {
    /// By the queue.
    pub queue: Duration,
    /// By the dead-letter queue.
    pub dlq: Duration,
}

/// What a window is made of; `None` is a horizon that nobody knows.
struct Needed {
    retries: Option<Duration>,
    resend: Option<Duration>,
    retentions: Retentions,
}

impl Needed {
    fn of(endpoint: &Endpoint, retentions: Retentions) -> Self {
        let retry = endpoint.vendor.retry();
        Self { retries: retry.horizon, resend: retry.resend, retentions }
    }

    /// The shortest window that is known to be needed.
    fn sum(&self) -> Duration {
        let vendor = self.retries.unwrap_or_default().max(self.resend.unwrap_or_default());
        vendor.saturating_add(self.ours())
    }

    fn ours(&self) -> Duration {
        self.retentions.queue.saturating_add(self.retentions.dlq).saturating_add(MARGIN)
    }

    fn is_known(&self) -> bool {
        self.retries.is_some() && self.resend.is_some()
    }

    fn unknown(&self) -> &'static str {
        match (self.retries, self.resend) {
            (Some(_), _) => "people can send an event again by hand",
            (None, Some(_)) => "the vendor repeats",
            (None, None) => "the vendor repeats, and people can send an event again by hand",
        }
    }

    /// What the description leaves out.
    fn unsaid(&self) -> &'static str {
        match (self.retries, self.resend) {
            (Some(_), _) => "`resend`",
            (None, Some(_)) => "`horizon`",
            (None, None) => "`horizon` and `resend`",
        }
    }

    fn shown(&self) -> String {
        let horizon = |known: Option<Duration>| known.map_or_else(|| "unknown".to_owned(), show_span);
        format!(
            "max(vendor's retries {}, vendor's manual resend {}) + queue {} + DLQ {} + margin {} = {}{}",
            horizon(self.retries),
            horizon(self.resend),
            show_span(self.retentions.queue),
            show_span(self.retentions.dlq),
            show_span(MARGIN),
            show_days(self.sum()),
            if self.is_known() { "" } else { " at least" },
        )
    }
}

/// A sum as people would say it: never less than it is, and in whole days
/// where it is longer than one.
fn show_days(span: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    match span.as_secs() {
        seconds if seconds > DAY => show_span(Duration::from_secs(seconds.div_ceil(DAY) * DAY)),
        _ => show_span(span),
    }
}

impl Endpoint {
    /// How long a repeated event is recognised: what the endpoint says, or else
    /// exactly the sum of INV-9. It is a minimum; DynamoDB removes later.
    pub fn dedup_window(&self, retentions: Retentions) -> Duration {
        let needed = Needed::of(self, retentions);
        let unknown =
            if needed.is_known() { Duration::ZERO } else { UNKNOWN_HORIZON.saturating_add(needed.ours()) };
        self.dedup_window_said.unwrap_or_else(|| needed.sum().max(unknown))
    }
}

/// Checks INV-9 for every endpoint, and that no action is forgotten while an
/// event that names it can still come. A problem shows the sum.
pub fn check_windows(config: &Config, retentions: Retentions) -> Vec<Problem> {
    let mut longest: BTreeMap<&ActionName, (Duration, &EndpointName)> = BTreeMap::new();
    for endpoint in config.endpoints.values().filter(|endpoint| !endpoint.dedup_window_unread) {
        let window = (endpoint.dedup_window(retentions), &endpoint.name);
        for action in endpoint.rules.iter().filter_map(|rule| rule.action.as_ref()) {
            longest.entry(&action.name).and_modify(|known| *known = window.max(*known)).or_insert(window);
        }
    }
    let endpoints = config.endpoints.values().filter_map(|endpoint| check_endpoint(endpoint, retentions));
    let actions =
        config.actions.values().filter_map(|action| check_action(action, *longest.get(&action.name)?));
    endpoints.chain(actions).collect()
}

fn check_endpoint(endpoint: &Endpoint, retentions: Retentions) -> Option<Problem> {
    let needed = Needed::of(endpoint, retentions);
    if endpoint.dedup_window_unread {
        return None;
    }
    let name = &endpoint.name;
    let (message, remedy) = match endpoint.dedup_window_said {
        None if needed.is_known() => return None,
        None => (
            format!(
                "endpoint `{name}` must say its dedup_window, since it is not known how long {}: {}",
                needed.unknown(),
                needed.shown()
            ),
            format!(
                "find it out, and say {} under [retry] in the description of {} (\"0s\": never), or a dedup_window of the endpoint that is long enough",
                needed.unsaid(),
                endpoint.vendor.name()
            ),
        ),
        Some(said) if said >= needed.sum() => return None,
        Some(said) => (
            format!(
                "dedup_window {} of endpoint `{name}` is too short: an event could come back unrecognised; {}",
                show_span(said),
                needed.shown()
            ),
            format!("dedup_window = \"{}\" or longer", show_days(needed.sum())),
        ),
    };
    let place = endpoint.dedup_window_place.clone().unwrap_or_else(|| endpoint.place.clone());
    Some(Problem { place, message, remedy: Some(remedy) })
}

fn check_action(action: &Action, (window, endpoint): (Duration, &EndpointName)) -> Option<Problem> {
    let keep_for = action.keep_for?;
    (keep_for < window).then(|| Problem {
        place: action.place.clone(),
        message: format!(
            "action `{}` is kept for {}, but endpoint `{endpoint}` recognises events for {}: its effect could happen again",
            action.name,
            show_span(keep_for),
            show_days(window)
        ),
        remedy: Some(format!("keep_for = \"{}\" or longer, or leave it out", show_days(window))),
    })
}
