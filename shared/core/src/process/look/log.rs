//! What a look says of itself to whoever reads the log.

use super::Look;
use crate::happened::{CallEnd, Happened};
use crate::key::ResourceKey;
use crate::ports::{Found, Outcome};
use crate::protocol::action::Action;
use crate::protocol::transition::Transition;
use crate::time::whole_millis;
use std::time::Duration;

impl<S, D, A, C, E> Look<'_, S, D, A, C, E> {
    pub(super) fn log_prevented(&self, transition: &Transition) {
        if let Some(action) = self.known.prevented(transition) {
            self.happenings.add(Happened::Prevented(action.clone()));
            let message = &self.record.message;
            tracing::info!(event.key = %message.event, correlation.id = %message.correlation, action.name = %action, "effect prevented");
        }
    }

    pub(super) fn log_found(&self, found: &Found) {
        let (word, cause) = match found {
            Found::Done(_) => ("done", ""),
            Found::NotDone(cause) => ("not_done", cause.as_str()),
            Found::Unknown(cause) => ("unknown", cause.as_str()),
        };
        let message = &self.record.message;
        tracing::info!(event.key = %message.event, correlation.id = %message.correlation, probe.found = word, probe.cause = cause, "probe");
    }

    pub(super) fn log_outcome(&self, outcome: &Outcome, action: &Action, took: Option<Duration>) {
        let word = CallEnd::from(outcome).as_str();
        let cause = match outcome {
            Outcome::Done(_) => "",
            Outcome::Rejected { cause, .. }
            | Outcome::NotStarted { cause, .. }
            | Outcome::Unknown { cause, .. } => cause,
        };
        let message = &self.record.message;
        let request = &action.request;
        tracing::info!(
            event.key = %message.event,
            correlation.id = %message.correlation,
            action.name = %action.name,
            destination.name = %request.destination,
            resource.key = request.resource.as_ref().map(ResourceKey::as_str),
            effect.outcome = word,
            effect.cause = cause,
            effect.took_ms = took.map(whole_millis),
            "effect"
        );
    }
}
