//! What one look has read so far, as the state that `decide` judges.

use crate::ids::ActionName;
use crate::protocol::action::Action;
use crate::protocol::decide::{Intent, State};
use crate::protocol::event::Event;
use crate::protocol::policy::EffectPolicy;
use crate::protocol::resource::Resource;
use crate::protocol::transition::{ActionWrite, Transition};
use std::time::Duration;

/// What was read so far.
#[derive(Default)]
pub(super) struct Known<'c> {
    pub event: Option<Event>,
    /// The action that the event is bound to, once read.
    pub bound: Option<Option<Action>>,
    /// What the rules want, once read, and the items that they name.
    pub intent: Option<Intent<'c>>,
    pub resource: Option<Resource>,
    pub wanted: Option<Action>,
    pub policy: Option<EffectPolicy>,
}

impl Known<'_> {
    pub fn state(&self) -> State<'_> {
        match (&self.event, &self.bound, &self.intent) {
            (None, _, _) => State::Missing,
            (Some(event), Some(action), intent) => State::Bound {
                event,
                action: action.as_ref(),
                policy: self.policy.as_ref(),
                intent: intent.as_ref(),
            },
            (Some(event), None, Some(intent)) if event.progress.action.is_none() => State::Planned {
                event,
                intent,
                resource: self.resource.as_ref(),
                action: self.wanted.as_ref(),
            },
            (Some(event), None, _) => State::Stored(event),
        }
    }

    /// How long the call may take that this look can come to.
    pub fn timeout(&self) -> Option<Duration> {
        match (&self.policy, &self.intent) {
            (Some(policy), _) => Some(policy.timeout),
            (None, Some(Intent::Act { action: Some(wanted), .. })) => Some(wanted.policy.timeout),
            _ => None,
        }
    }

    /// The action whose effect a write of ours prevents from happening again.
    pub fn prevented(&self, transition: &Transition) -> Option<&ActionName> {
        transition.joins(self.event.as_ref()?)?;
        match &self.intent {
            Some(Intent::Act { action: Some(wanted), .. }) => Some(&wanted.name),
            _ => None,
        }
    }

    /// What is known after a write of ours was applied.
    pub fn apply(&mut self, transition: Transition) {
        if let (Some(event), Some(write)) = (&mut self.event, transition.event) {
            event.progress = write.to;
        }
        if let Some(ActionWrite::Put { to, .. }) = transition.action {
            // An action that is begun again may have been frozen for another
            // destination; without its promise an unknown end is in doubt.
            if let Some(Intent::Act { action: Some(wanted), .. }) = &self.intent
                && wanted.request.destination == to.request.destination
            {
                self.policy.get_or_insert_with(|| wanted.policy.clone());
            }
            self.bound = Some(Some(*to));
        }
    }
}
