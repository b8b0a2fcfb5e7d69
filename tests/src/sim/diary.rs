//! What happened, in words, for whoever reads a violation.

use sekali::ports::{Create, StoreError, Write};
use sekali::protocol::action::{Action, ActionGuard};
use sekali::protocol::event::{Event, Progress};
use sekali::protocol::transition::{ActionWrite, PayloadTtl, Transition};
use sekali::time::UnixMillis;
use std::sync::{Arc, Mutex, PoisonError};

use super::traffic::BEGINNING;

/// The lines of one run; none where nobody will read them.
#[derive(Debug, Clone, Default)]
pub struct Diary(Option<Arc<Mutex<Vec<String>>>>);

impl Diary {
    /// A diary that is kept.
    pub fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    /// Whether it is kept: words cost time.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// One line.
    pub fn note(&self, now: UnixMillis, words: impl FnOnce() -> String) {
        if let Some(lines) = &self.0 {
            let line = format!("{:>14}  {}", shown(now), words());
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    /// All lines.
    pub fn lines(&self) -> Vec<String> {
        self.0
            .as_ref()
            .map(|lines| lines.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .unwrap_or_default()
    }
}

/// A time as how long after the beginning it is.
pub fn shown(at: UnixMillis) -> String {
    let millis = at.0.saturating_sub(BEGINNING.0);
    let (sign, millis) = (if millis < 0 { "-" } else { "" }, millis.abs());
    let (days, seconds, rest) = (millis / 86_400_000, millis / 1000 % 86_400, millis % 1000);
    let clock = format!("{:02}:{:02}:{:02}.{rest:03}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if days > 0 { format!("{sign}{days}d {clock}") } else { format!("{sign}{clock}") }
}

/// A transition in one line.
pub fn transition(transition: &Transition) -> String {
    let mut parts = Vec::new();
    if let Some(write) = &transition.event {
        parts.push(format!(
            "event from {}#{} to {}",
            write.from.status.as_str(),
            write.from.generation,
            progress(&write.to)
        ));
    }
    match &transition.action {
        Some(ActionWrite::Put { from, to }) => {
            let from = match from {
                ActionGuard::Absent => "absent".to_owned(),
                ActionGuard::AsRead { status, generation, token } => {
                    format!("{}#{generation} token {token}", status.as_str())
                }
                ActionGuard::Held { token, .. } => format!("held under token {token}"),
            };
            parts.push(format!("action from {from} to {}", action(to)));
        }
        Some(ActionWrite::Check { action }) => parts.push(format!("if action is {}", action.status.as_str())),
        None => {}
    }
    if let Some(write) = &transition.resource {
        parts.push(format!("resource to {} version {}", write.to.status, write.to.version));
    }
    match &transition.payload {
        PayloadTtl::Unchanged => {}
        PayloadTtl::KeepBefore(..) => parts.push("payload kept".to_owned()),
        PayloadTtl::ExpireAfter(..) => parts.push("payload to expire".to_owned()),
    }
    parts.join("; ")
}

/// An action in a few words.
pub fn action(action: &Action) -> String {
    format!(
        "{}#{} token {} lease {}{}{}",
        action.status.as_str(),
        action.generation,
        action.token,
        shown(action.lease_until),
        if action.doubted { " doubted" } else { "" },
        action.reason.as_ref().map(|reason| format!(" ({})", reason.slug.as_str())).unwrap_or_default()
    )
}

/// How far an event has come, in a few words.
pub fn progress(progress: &Progress) -> String {
    format!(
        "{}#{} attempts {} sweeps {}{}{}{}",
        progress.status.as_str(),
        progress.generation,
        progress.attempts,
        progress.sweeps,
        progress.due.map(|due| format!(" due {}", shown(due))).unwrap_or_default(),
        if progress.expires.is_none() { " kept" } else { "" },
        progress.reason.as_ref().map(|reason| format!(" ({})", reason.slug.as_str())).unwrap_or_default()
    )
}

/// The end of a call of the store.
pub fn end<T>(end: &Result<T, StoreError>, good: impl FnOnce(&T) -> String) -> String {
    match end {
        Ok(thing) => good(thing),
        Err(error) => format!("ERROR {error}"),
    }
}

/// The end of a create.
pub fn created(end: &Create) -> String {
    match end {
        Create::Created => "created".to_owned(),
        Create::Exists(event) => format!("exists: {}", progress(&event.progress)),
    }
}

/// The end of a write.
pub fn wrote(end: &Write) -> String {
    match end {
        Write::Applied => "applied".to_owned(),
        Write::Refused => "refused".to_owned(),
    }
}

/// What a read found.
pub fn found<T>(thing: &Option<T>, words: impl FnOnce(&T) -> String) -> String {
    thing.as_ref().map_or_else(|| "nothing".to_owned(), words)
}

/// An event as read.
pub fn event(event: &Event) -> String {
    progress(&event.progress)
}
