//! A destination that answers 410 is gone: it is called no more, where people
//! see it, until it is switched on again or configured elsewhere.

use http::StatusCode;
use sekali::ids::{CorrelationId, DestinationName};
use sekali::key::hex;
use sekali::ports::{Call, StoreError, SwitchedOff, Switches};
use sekali::time::UnixMillis;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long what was read of a switch is believed: so much later every process
/// has heard of it.
pub const BELIEVED_FOR: Duration = Duration::from_secs(60);

/// The switches as one process sees them.
pub(super) struct Switchboard<S> {
    switches: S,
    read: Mutex<HashMap<DestinationName, (UnixMillis, Option<SwitchedOff>)>>,
}

/// The place of a destination, as a switch names it.
pub fn place(url: &str) -> String {
    hex(ring::digest::digest(&ring::digest::SHA256, url.as_bytes()).as_ref())
}

impl<S: Switches> Switchboard<S> {
    pub(super) fn new(switches: S) -> Self {
        Self { switches, read: Mutex::default() }
    }

    /// Why the destination is not to be called. A switch that cannot be read
    /// stops nobody: whoever is gone says so again.
    pub(super) async fn off(&self, call: &Call<'_>, place: &str) -> Option<String> {
        let now = call.at;
        let believed =
            |read: &(UnixMillis, Option<SwitchedOff>)| now < read.0.plus(BELIEVED_FOR) && now >= read.0;
        let known = self.lock().get(call.destination).filter(|read| believed(read)).cloned();
        let off = match known {
            Some((_, off)) => off,
            None => match self.switches.switched_off(call.destination, place).await {
                Ok(off) => {
                    self.lock().insert(call.destination.clone(), (now, off.clone()));
                    off
                }
                Err(error) => {
                    tracing::warn!(destination.name = %call.destination, %error, "a switch was not read");
                    None
                }
            },
        };
        off.map(|off| format!("the destination is switched off, since {}", off.cause))
    }

    /// Takes note of an answer: 410 switches the destination off.
    pub(super) async fn answered(&self, call: &Call<'_>, place: &str, status: StatusCode) {
        if status != StatusCode::GONE {
            return;
        }
        let off = SwitchedOff {
            destination: call.destination.clone(),
            place: place.to_owned(),
            at: call.at,
            cause: "it answered 410".to_owned(),
            correlation: CorrelationId::new(call.correlation),
        };
        tracing::error!(
            destination.name = %call.destination, correlation.id = call.correlation,
            "a destination answered 410 and is switched off"
        );
        self.lock().insert(call.destination.clone(), (call.at, Some(off.clone())));
        if let Err(error) = self.switches.switch_off(&off).await {
            report(call.destination, &error);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<DestinationName, (UnixMillis, Option<SwitchedOff>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next call is answered 410, too, and tries again.
fn report(destination: &DestinationName, error: &StoreError) {
    tracing::warn!(destination.name = %destination, %error, "that a destination is off was not written");
}
