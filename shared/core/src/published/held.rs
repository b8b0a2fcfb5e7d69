//! What is known of one document, and when to ask for it. Pure: time and the
//! server's answers are given.

use super::{ABSENT_FOR, BELIEVED_FOR, READ_AGAIN_AFTER, REFRESH_INTERVAL, RETRY_UNKNOWN};
use crate::ports::NoKeyDocument;
use crate::time::UnixMillis;
use crate::vendor::Keys;
use std::sync::Arc;
use std::time::Duration;

/// What is known, or nothing yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    known: Option<Known>,
    asked: Option<Asked>,
}

#[derive(Debug)]
struct Known {
    keys: Arc<Keys>,
    read_at: UnixMillis,
}

/// The last time that anybody asked.
#[derive(Debug)]
struct Asked {
    at: UnixMillis,
    /// When to ask again.
    due: UnixMillis,
    /// Why nothing came of it.
    failure: Option<NoKeyDocument>,
}

/// What to do with a delivery that needs the document.
#[derive(Debug)]
pub(super) enum Have {
    /// Verify it with these.
    Keys(Arc<Keys>),
    /// Nothing can be said about it.
    Nothing(NoKeyDocument),
    /// Ask for the document first.
    Ask,
}

impl Held {
    /// What there is now. A clock that was set back says nothing, so it makes
    /// the document due.
    pub fn have(&self, now: UnixMillis) -> Have {
        let Some(asked) = &self.asked else { return Have::Ask };
        if asked.is_ahead_of(now) || now >= asked.due {
            return Have::Ask;
        }
        match (&self.known, &asked.failure) {
            (Some(known), _) if known.is_believed(now) => Have::Keys(Arc::clone(&known.keys)),
            (_, Some(failure)) => Have::Nothing(failure.clone()),
            _ => Have::Ask,
        }
    }

    /// Whether there is something to verify with.
    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Whether a delivery that names an unknown key may have the document read
    /// again now.
    pub fn may_refresh(&self, now: UnixMillis) -> bool {
        self.asked
            .as_ref()
            .is_none_or(|asked| asked.is_ahead_of(now) || now >= asked.at.plus(REFRESH_INTERVAL))
    }

    /// Takes in what the server answered.
    pub fn take_in(&mut self, answer: Result<Keys, NoKeyDocument>, now: UnixMillis) {
        let (failure, wait) = match answer {
            Ok(keys) => {
                self.known = Some(Known { keys: Arc::new(keys), read_at: now });
                (None, READ_AGAIN_AFTER)
            }
            Err(failure) => {
                let believed = self.known.take_if(|known| !known.is_believed(now)).is_none();
                let wait =
                    if believed && self.known.is_some() { REFRESH_INTERVAL } else { patience(&failure) };
                (Some(failure), wait)
            }
        };
        self.asked = Some(Asked { at: now, due: now.plus(wait), failure });
    }
}

impl Asked {
    /// Whether the clock was set back since. A delivery that came a moment
    /// before the one that asked is not meant.
    fn is_ahead_of(&self, now: UnixMillis) -> bool {
        now.plus(REFRESH_INTERVAL) < self.at
    }
}

impl Known {
    fn is_believed(&self, now: UnixMillis) -> bool {
        now < self.read_at.plus(BELIEVED_FOR)
    }
}

fn patience(failure: &NoKeyDocument) -> Duration {
    match failure {
        NoKeyDocument::Absent(_) | NoKeyDocument::Unusable(_) => ABSENT_FOR,
        NoKeyDocument::Unavailable(_) => RETRY_UNKNOWN,
    }
}
