//! The story of an event, in the order in which it happened, as far as the
//! tables remember it.

use crate::on_call::answer::counted;
use crate::on_call::shown;
use sekali::ids::Generation;
use sekali::protocol::action::{Action, ActionStatus};
use sekali::protocol::event::{Event, EventStatus};
use sekali::protocol::history::{Decided, History};
use sekali::protocol::reason::Reason;
use sekali::time::UnixMillis;
use serde_json::{Value, json};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub at: UnixMillis,
    /// What, in one line.
    pub what: String,
}

impl Moment {
    fn new(at: UnixMillis, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }

    /// For machines.
    pub fn json(&self) -> Value {
        json!({ "at": shown::time(self.at), "what": self.what })
    }
}

/// What happened to an event and its action.
pub fn story(event: &Event, action: Option<&Action>, history: &History) -> Vec<Moment> {
    let mut moments = received(event);
    moments.extend(history.decisions.iter().map(decided));
    moments.extend(moved(event));
    moments.extend(action.into_iter().flat_map(|action| acted(event, action)));
    // What happened in the same millisecond stays in the order of the protocol.
    moments.sort_by_key(|moment| moment.at);
    moments
}

fn decided(decided: &Decided) -> Moment {
    let about = decided.about.as_ref().map_or(String::new(), |about| format!(" ({about})"));
    // The evidence that somebody brings is the reason, too.
    let is_said = decided.why.is_empty() || decided.about.as_ref() == Some(&decided.why);
    let why = if is_said { String::new() } else { format!(": {}", decided.why) };
    let what = format!(
        "{} says {}{about}{why} [it was {} in generation {}]",
        decided.who,
        decided.what,
        decided.from.as_str(),
        decided.generation
    );
    Moment::new(decided.at, what)
}

fn received(event: &Event) -> Vec<Moment> {
    let mut moments = Vec::new();
    if let Some(at) = event.occurred_at {
        moments.push(Moment::new(at, format!("it happened, as {} says", event.vendor)));
    }
    let secret = event.signature.secret.map_or("no secret".to_owned(), |secret| {
        format!("{} secret {}", secret.stage.as_str(), secret.position + 1)
    });
    let first = match event.signature.is_of_list() {
        true => "brought from the vendor's own list of events".to_owned(),
        false => format!("first delivery, verified by {} with the {secret}", event.signature.scheme),
    };
    moments.push(Moment::new(event.received_at, first));
    let seen = &event.seen;
    if seen.deliveries + seen.conflicts > 1 {
        let conflicts = match seen.conflicts {
            0 => String::new(),
            conflicts => format!("; {conflicts} with other content (`sekali conflicts show`)"),
        };
        let last = format!("last delivery of {}{conflicts}", seen.deliveries + seen.conflicts);
        moments.push(Moment::new(seen.last_at, last));
    }
    moments
}

fn moved(event: &Event) -> Vec<Moment> {
    let progress = &event.progress;
    let mut moments = Vec::new();
    if progress.generation > Generation::FIRST {
        moments.push(Moment::new(progress.opened_at, format!("generation {} opened", progress.generation)));
    }
    if let Some(at) = progress.failed_at {
        let why = shown::reason(progress.reason.as_ref());
        moments.push(Moment::new(at, format!("failed after {}: {why}", attempts(progress.attempts))));
    }
    if let (Some(due), false) = (progress.due, progress.status == EventStatus::Failed) {
        let what = match progress.status {
            EventStatus::Held => format!("held: {}", shown::reason(progress.reason.as_ref())),
            _ => format!("the sweeper looks at it ({} so far)", sweeps(progress.sweeps)),
        };
        moments.push(Moment::new(due, what));
    }
    moments
}

fn acted(event: &Event, action: &Action) -> Vec<Moment> {
    let shared = if action.begun_by == event.key { "" } else { ", by another event" };
    let begun = format!(
        "{} generation {} begun at {}{shared}",
        action.name, action.generation, action.request.destination
    );
    let mut moments = vec![Moment::new(action.first_begun_at, begun)];
    if action.status == ActionStatus::Begun {
        let lease = format!("the lease of token {} ends", action.token);
        moments.push(Moment::new(action.lease_until, lease));
    }
    if let Some(at) = action.settled_at {
        let result = match (&action.result, &action.reason) {
            (Some(result), _) => format!(": {}", result.0),
            (None, Some(Reason { cause: Some(cause), .. })) if action.status == ActionStatus::Rejected => {
                format!(": {cause}")
            }
            (None, Some(_)) => format!(": {}", shown::reason(action.reason.as_ref())),
            (None, None) => String::new(),
        };
        moments.push(Moment::new(at, format!("{} {}{result}", action.name, word(action.status))));
    }
    moments
}

/// `1 attempt`, `2 attempts`.
pub fn attempts(number: u32) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "attempt")
}

/// `1 sweep`, `2 sweeps`.
pub fn sweeps(number: u32) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "sweep")
}

fn word(status: ActionStatus) -> &'static str {
    match status {
        ActionStatus::Begun => "is begun",
        ActionStatus::Ready => "is ready again",
        ActionStatus::Done => "is done",
        ActionStatus::Rejected => "was rejected",
        ActionStatus::InDoubt => "is in doubt",
    }
}

/// How an action stands, line by line.
pub fn action_lines(action: &Action) -> Vec<String> {
    let mut lines = vec![
        format!("action       {}", action.key),
        format!("             {}, generation {}", word(action.status), action.generation),
        format!(
            "destination  {}, idempotency key {}",
            action.request.destination,
            action.idempotency_key().as_str()
        ),
        format!("claim        token {}, lease until {}", action.token, shown::time(action.lease_until)),
    ];
    if let Some(result) = &action.result {
        lines.push(format!("result       {}", result.0));
    }
    if action.reason.is_some() {
        lines.push(format!("reason       {}", shown::reason(action.reason.as_ref())));
    }
    if action.doubted {
        lines.push("doubted      an earlier call of this generation ended unknown".to_owned());
    }
    lines
}
