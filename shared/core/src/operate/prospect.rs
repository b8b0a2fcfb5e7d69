//! What a redrive would do now, over the tables: reads what the protocol asks
//! for, and writes nothing.

use super::{NotSaid, Operate};
use crate::pause::Pauses;
use crate::ports::{HistoryRecord, Queue, Store};
use crate::protocol::action::Action;
use crate::protocol::decide::{Intent, Outlook, Prospect, Read, State, prospect};
use crate::protocol::event::Event;
use crate::protocol::policy::EffectPolicy;
use crate::protocol::resource::Resource;
use crate::time::Clock;

/// The event alone, its action, today's rules, and what is named there.
const READINGS: usize = 4;

/// What was read of the action that an event is bound to.
struct Bound {
    action: Option<Action>,
    policy: Option<EffectPolicy>,
}

/// What today's rules want, and what they meet.
struct Planned<'d> {
    intent: Intent<'d>,
    resource: Option<Resource>,
    action: Option<Action>,
}

impl<S: Store + HistoryRecord, Q: Queue, C: Clock> Operate<S, Q, C> {
    /// What a redrive of this event, as it was read, would do now.
    ///
    /// # Errors
    /// See [`NotSaid`].
    pub async fn prospect(&self, event: &Event, pauses: &Pauses) -> Result<Prospect, NotSaid> {
        let limits =
            pauses.bounding(&event.endpoint, self.deployment.limits(&event.endpoint), self.clock.now());
        let mut bound: Option<Bound> = None;
        let mut planned: Option<Planned<'_>> = None;
        for _ in 0..READINGS {
            let state = match (&bound, &planned) {
                (None, None) => State::Stored(event),
                (None, Some(planned)) => State::Planned {
                    event,
                    intent: &planned.intent,
                    resource: planned.resource.as_ref(),
                    action: planned.action.as_ref(),
                },
                (Some(bound), planned) => State::Bound {
                    event,
                    action: bound.action.as_ref(),
                    policy: bound.policy.as_ref(),
                    intent: planned.as_ref().map(|planned| &planned.intent),
                },
            };
            match prospect(state, self.clock.now(), &limits)? {
                Outlook::Is(prospect) => return Ok(prospect),
                Outlook::Read(Read::Action(key)) => {
                    let action = self.store.action(&key).await?;
                    let destination = action.as_ref().map(|action| &action.request.destination);
                    let policy = destination.and_then(|name| self.deployment.policy(name));
                    bound = Some(Bound { action, policy });
                }
                Outlook::Read(Read::Intent | Read::FirstPayload) => {
                    planned = Some(self.planned(event).await?);
                }
            }
        }
        Err(NotSaid::Contended)
    }

    async fn planned<'d>(&'d self, event: &Event) -> Result<Planned<'d>, NotSaid> {
        let intent = match self.store.payload(&event.key, &event.hash).await? {
            Some(payload) => self.deployment.intent(event, &payload),
            None => Intent::PayloadMissing,
        };
        let (mut resource, mut action) = (None, None);
        if let Intent::Act { moves, action: wanted } = &intent {
            if let Some(moves) = moves {
                resource = self.store.resource(&moves.resource).await?;
            }
            if let Some(wanted) = wanted {
                action = self.store.action(&wanted.key).await?;
            }
        }
        Ok(Planned { intent, resource, action })
    }
}
