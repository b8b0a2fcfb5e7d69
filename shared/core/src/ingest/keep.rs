//! One event of a delivery becomes durable, or meets the one that is there.

use super::Ingest;
use super::answer::Taken;
use crate::ids::PutNonce;
use crate::key::EventHash;
use crate::payload::Payload;
use crate::ports::{Create, Entropy, KeyDocuments, Queue, Secrets, Store, StoreError, Write};
use crate::protocol::decide::{Decision, Delivery, End, Input, Presence, Read, State, Undecidable, decide};
use crate::protocol::event::{Event, EventStatus};
use crate::protocol::policy::Limits;
use crate::sweep::message;
use crate::time::Clock;
use futures_util::join;
use thiserror::Error;

/// Readings of an event that others move meanwhile, before the vendor is asked
/// to come again.
const ROUNDS: usize = 8;

/// Why an event could not be made durable. The answer is 503; what was written
/// is repaired by the vendor's retry or by the sweeper.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotKept {
    /// The store did not answer as it should.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The protocol has no answer: a bug.
    #[error(transparent)]
    Undecidable(#[from] Undecidable),
    /// Nothing durable is what the event points to, and what came may not take
    /// its place: it is recorded as a conflict, and nothing is promised.
    #[error("{0}")]
    NotAdopted(&'static str),
    /// The event was fought over.
    #[error("the event changed {ROUNDS} times while it was looked at")]
    Contended,
}

/// What became of an event, and whether its message must be sent.
pub(super) struct Kept {
    pub taken: Taken,
    pub enqueue: Option<Event>,
    /// The first of that id, where this delivery repeats it or speaks against it.
    pub met: Option<Event>,
}

impl<S: Store, Q: Queue, C: Clock, E: Entropy, K: Secrets + KeyDocuments> Ingest<S, Q, C, E, K> {
    /// Puts payload and event side by side; the ack waits for both (INV-1).
    pub(super) async fn keep(
        &self,
        event: Event,
        payload: &Payload,
        limits: &Limits,
    ) -> Result<Kept, NotKept> {
        let expires = event.received_at.expires_after(limits.window);
        let put = self.store.put_payload(&event.key, &event.hash, payload, expires);
        let created = if event.progress.expires.is_none() {
            // Born for a human: its payload's TTL goes before the event's is
            // left out (INV-9).
            put.await?;
            match self.store.event(&event.key).await? {
                // Only what is created is kept: nobody would find the payload of
                // what is not, to give it a TTL again.
                Some(stored) => Create::Exists(Box::new(stored)),
                None => {
                    self.store.keep_payload(&event.key, &event.hash, event.progress.generation).await?;
                    self.store.create_event(&event).await?
                }
            }
        } else {
            let (put, created) = join!(put, self.store.create_event(&event));
            put?;
            created?
        };
        match created {
            Create::Created => Ok(as_new(event)),
            Create::Exists(stored) => self.meet(*stored, event, payload, limits).await,
        }
    }

    /// The put was refused: the stored item decides. Its payload, under our
    /// hash, is durable by now.
    async fn meet(
        &self,
        mut stored: Event,
        ours: Event,
        payload: &Payload,
        limits: &Limits,
    ) -> Result<Kept, NotKept> {
        let mut delivery = Delivery {
            put_nonce: ours.put_nonce.clone(),
            hash: ours.hash.clone(),
            held: ours.progress.status == EventStatus::Held,
            first_payload: Presence::NotRead,
        };
        if self.repeats_listed(&stored, &ours).await? {
            delivery.hash = stored.hash.clone();
        }
        for _ in 0..ROUNDS {
            let now = self.clock.now();
            match decide(State::Stored(&stored), Input::Delivery(&delivery), now, limits)? {
                Decision::Read(Read::FirstPayload) => {
                    let there = self.store.payload(&stored.key, &stored.hash).await?.is_some();
                    delivery.first_payload = if there { Presence::There } else { Presence::Missing };
                }
                Decision::End(End::AsNew) => return Ok(as_new(stored)),
                Decision::End(End::Duplicate { unfinished, enqueue }) => {
                    self.outlast(&stored, &ours, payload).await?;
                    let other = (ours.hash != stored.hash).then_some(&ours.hash);
                    return self.duplicate(stored, other, unfinished, enqueue).await;
                }
                Decision::End(End::Adopt) => {
                    // A human will need it: no TTL where the event has none.
                    if stored.progress.expires.is_none() {
                        self.store.keep_payload(&ours.key, &ours.hash, stored.progress.generation).await?;
                    }
                    match self.store.adopt(&stored, &ours.facts(), now).await {
                        Ok(Write::Applied) => return Ok(adopted(stored, now, limits)),
                        Ok(Write::Refused) | Err(StoreError::Contended | StoreError::Unknown(_)) => {}
                        Err(error) => return Err(error.into()),
                    }
                    delivery.first_payload = Presence::NotRead;
                    stored = self.store.event(&ours.key).await?.ok_or(NotKept::Contended)?;
                }
                Decision::End(End::Refuse(why)) => {
                    self.store.record_conflict(&stored.key, &ours.hash, now).await?;
                    return Err(NotKept::NotAdopted(why));
                }
                Decision::End(End::Conflict) => {
                    self.store.record_conflict(&stored.key, &ours.hash, now).await?;
                    return self.conflict(stored).await;
                }
                Decision::End(_)
                | Decision::Read(_)
                | Decision::Write { .. }
                | Decision::Call
                | Decision::Probe => {
                    return Err(Undecidable { state: "stored", input: "delivery" }.into());
                }
            }
        }
        Err(NotKept::Contended)
    }

    /// Whether the event was brought from the vendor's own list, which writes
    /// the same content otherwise: then its id alone says that this delivery
    /// repeats it. Its payload must be there to be believed (INV-1); where it
    /// never became durable, this delivery's content takes its place.
    async fn repeats_listed(&self, stored: &Event, ours: &Event) -> Result<bool, StoreError> {
        // Once a delivery's content was adopted, hashes say something again.
        let is_the_lists = stored.signature.is_of_list() && stored.seen.conflicts == 0;
        if !is_the_lists || stored.hash == ours.hash {
            return Ok(false);
        }
        let there = self.store.payload(&stored.key, &stored.hash).await?.is_some();
        if there {
            tracing::info!(event.key = %stored.key, correlation.id = %ours.correlation, "a delivery repeats an event that was brought from the vendor's list");
        }
        Ok(there || stored.progress.status.is_finished())
    }

    /// A delivery that was overtaken by a later one put its payload with the
    /// earlier TTL: it must not go before the event (INV-9).
    async fn outlast(&self, stored: &Event, ours: &Event, payload: &Payload) -> Result<(), StoreError> {
        match (stored.progress.expires, ours.progress.expires) {
            // Under another hash lies another content (`repeats_listed`).
            (Some(theirs), Some(earlier)) if earlier < theirs && stored.hash == ours.hash => {
                self.store.put_payload(&stored.key, &stored.hash, payload, theirs).await
            }
            _ => Ok(()),
        }
    }

    /// The first content goes on, and the vendor hears 2xx: as with a duplicate
    /// the event is looked at again *after* this delivery was counted, and a
    /// TTL that it lost meanwhile is taken off its payload, too (INV-9).
    async fn conflict(&self, seen: Event) -> Result<Kept, NotKept> {
        if !seen.progress.status.is_finished()
            && let Some(stored) = self.store.event(&seen.key).await?
            && stored.progress.expires.is_none()
        {
            self.store.keep_payload(&stored.key, &stored.hash, stored.progress.generation).await?;
        }
        Ok(Kept { taken: Taken::Conflict(seen.progress.status), enqueue: None, met: Some(seen) })
    }

    /// Counts the duplicate. The count returns the event as it stands *after*
    /// our payload became durable, so a TTL that the event lost meanwhile is
    /// taken off the payload too, before the 2xx (INV-1, INV-9).
    async fn duplicate(
        &self,
        stored: Event,
        other: Option<&EventHash>,
        unfinished: bool,
        enqueue: bool,
    ) -> Result<Kept, NotKept> {
        let stored = match self.store.count_duplicate(&stored.key, other, self.clock.now()).await {
            Ok(Some(counted)) => counted,
            // Removed by its TTL this moment: it was finished long ago.
            Ok(None) => stored,
            // Of a finished event only the count is lost.
            Err(error) if !unfinished && other.is_none() => {
                tracing::warn!(event.key = %stored.key, %error, "a duplicate was not counted");
                stored
            }
            Err(error) => return Err(error.into()),
        };
        if stored.progress.expires.is_none() {
            self.store.keep_payload(&stored.key, &stored.hash, stored.progress.generation).await?;
        }
        let enqueue = enqueue && stored.progress.status == EventStatus::Received;
        let taken = Taken::Duplicate(stored.progress.status);
        Ok(Kept { taken, enqueue: enqueue.then(|| stored.clone()), met: Some(stored) })
    }

    /// Sends the event's message. A queue that refuses leaves the event to the
    /// sweeper: it is durable and due (INV-1). Says whether it was sent.
    pub(super) async fn enqueue(&self, event: &Event, trace: Option<&str>) -> bool {
        let mut message = message(event, event.correlation.clone(), self.clock.now());
        message.trace = trace.map(str::to_owned);
        let sent = self.queue.send(&message).await;
        if let Err(error) = &sent {
            tracing::warn!(event.key = %event.key, correlation.id = %event.correlation, %error, "enqueue deferred to the sweeper");
        }
        sent.is_ok()
    }
}

fn as_new(event: Event) -> Kept {
    let status = event.progress.status;
    let enqueue = (status == EventStatus::Received).then_some(event);
    Kept { taken: Taken::New(status), enqueue, met: None }
}

fn adopted(stored: Event, now: crate::time::UnixMillis, limits: &Limits) -> Kept {
    let status = stored.progress.status;
    let waited = now.since(stored.progress.opened_at) >= limits.grace;
    let enqueue = (status == EventStatus::Received && waited).then_some(stored);
    // This delivery's content is the event's now: it is not spoken against.
    Kept { taken: Taken::Conflict(status), enqueue, met: None }
}

/// A nonce as an event id, for deliveries that carry no identity at all.
pub(super) fn own_id(nonce: &PutNonce) -> String {
    format!("sekali-{nonce}")
}
