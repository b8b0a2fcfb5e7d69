//! What a look reads: the event, the action that it is bound to, and what the
//! rules make of its payload.

use super::{Look, Unsettled};
use crate::ports::{Destination, Entropy, Outbound, PauseRecord, Secrets, Store};
use crate::process::intent::Put;
use crate::process::known::Known;
use crate::protocol::decide::{Intent, Read};
use crate::time::Clock;

impl<S: Store + PauseRecord, D: Destination, A: Outbound + Secrets, C: Clock, E: Entropy>
    Look<'_, S, D, A, C, E>
{
    pub(super) async fn read_event(&mut self) -> Result<(), Unsettled> {
        let event = self.processor.store.event(&self.record.message.event).await?;
        self.known = Known { event, ..Known::default() };
        Ok(())
    }

    pub(super) async fn read(&mut self, read: Read) -> Result<(), Unsettled> {
        match read {
            Read::Action(key) => {
                let action = self.processor.store.action(&key).await?;
                let destination = action.as_ref().map(|action| &action.request.destination);
                self.known.policy = destination.and_then(|name| self.processor.deployment.policy(name));
                self.known.bound = Some(action);
            }
            Read::Intent => self.read_intent().await?,
            // Asked of deliveries only.
            Read::FirstPayload => {}
        }
        Ok(())
    }

    async fn read_intent(&mut self) -> Result<(), Unsettled> {
        let store = &self.processor.store;
        let Some(event) = &self.known.event else { return Ok(()) };
        let Some(payload) = store.payload(&event.key, &event.hash).await? else {
            self.known.intent = Some(Intent::PayloadMissing);
            return Ok(());
        };
        let Put { intent, before, question } = self.put(event, &payload).await?;
        if event.progress.action.is_none()
            && let Intent::Act { moves, action } = &intent
        {
            let resource = async {
                match (moves, before) {
                    // As it was before the vendor's API was asked: the claim
                    // names that version.
                    (Some(wanted), Some((read, stored))) if read == wanted.resource => Ok(stored),
                    (Some(wanted), _) => store.resource(&wanted.resource).await,
                    (None, _) => Ok(None),
                }
            };
            let wanted = async {
                match action {
                    Some(wanted) => store.action(&wanted.key).await,
                    None => Ok(None),
                }
            };
            let (resource, action) = futures_util::join!(resource, wanted);
            self.known.resource = resource?;
            self.known.wanted = action?;
        }
        self.question = question;
        self.known.intent = Some(intent);
        Ok(())
    }
}
