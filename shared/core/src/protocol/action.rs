//! The action: a business effect asked for by a rule, and who may cause it.

use crate::ids::{ActionName, DestinationName, Generation, OwnerNonce, Token};
use crate::key::{ActionKey, EventKey, ResourceKey, hex};
use crate::protocol::reason::Reason;
use crate::rule::InputDigest;
use crate::time::UnixMillis;
use sha2::{Digest, Sha256};

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionStatus {
    /// A worker holds it; its effect may be happening.
    Begun,
    /// Certainly not begun; whoever claims may begin it again.
    Ready,
    /// The effect happened, once.
    Done,
    /// The effect will certainly not happen.
    Rejected,
    /// The effect was begun and nobody knows whether it happened.
    InDoubt,
}

impl ActionStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Begun, Self::Ready, Self::Done, Self::Rejected, Self::InDoubt];

    /// The word for it everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Ready => "ready",
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::InDoubt => "in_doubt",
        }
    }

    /// The status that a stored word names.
    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// May an action go from this status to `next` within one generation (INV-3)?
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Begun => true,
            Self::Ready => matches!(next, Self::Ready | Self::Begun | Self::Rejected),
            Self::InDoubt => matches!(next, Self::InDoubt | Self::Done | Self::Rejected),
            Self::Done | Self::Rejected => next == self,
        }
    }
}

/// What is sent to the destination: fixed when the generation is first begun;
/// every repeat and takeover sends the same bytes under the same key (INV-2).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrozenRequest {
    /// Where it goes.
    pub destination: DestinationName,
    /// The exact body.
    pub body: Vec<u8>,
    /// The resource whose event asked first: a queue that keeps an order
    /// keeps it within this.
    pub resource: Option<ResourceKey>,
}

/// The key under which a destination can recognise a repeated call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// A printable digest of action key and generation, without business
    /// data: the same for every call of that generation, whoever makes it (INV-2).
    pub fn of(action: &ActionKey, generation: Generation) -> Self {
        let digest = Sha256::digest(format!("{}#{generation}", action.as_str()).as_bytes());
        Self(format!("sekali-{}", &hex(&digest)[..40]))
    }

    /// The text of the header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a destination answered to a done call; short, for people and callers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EffectResult(pub String);

/// An action as stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Action {
    /// Its key.
    pub key: ActionKey,
    /// Its name in the configuration.
    pub name: ActionName,
    /// Where it stands.
    pub status: ActionStatus,
    /// Which round this is; begins anew only after `rejected`, or when a
    /// human explicitly says so.
    pub generation: Generation,
    /// The fence: grows with each claim, over all generations.
    pub token: Token,
    /// Who holds, or last held, it.
    pub owner: OwnerNonce,
    /// Until when the owner may act.
    pub lease_until: UnixMillis,
    /// When this generation was first begun; `honours_key_for` counts from here.
    pub first_begun_at: UnixMillis,
    /// What is sent.
    pub request: FrozenRequest,
    /// What this generation was asked for with; an event that names the action
    /// with another input is shown as such.
    pub input: InputDigest,
    /// The event that began this generation.
    pub begun_by: EventKey,
    /// A call of this generation ended unknown or was taken over: from now on
    /// only an answer that the destination declares decisive is certain.
    pub doubted: bool,
    /// The recorded effect of this generation, once done (INV-4).
    pub result: Option<EffectResult>,
    /// Why it was rejected, is ready again, or is in doubt.
    pub reason: Option<Reason>,
    /// When it became done, rejected or in doubt.
    pub settled_at: Option<UnixMillis>,
    /// The last generation that was done before a human began another: whoever
    /// followed that one has come to its end (INV-4).
    pub last_done: Option<Generation>,
}

/// What an action write names (INV-5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ActionGuard {
    /// Nobody has begun it.
    Absent,
    /// The item as read: status, generation and token. For a claim.
    AsRead {
        /// Status as read.
        status: ActionStatus,
        /// Generation as read.
        generation: Generation,
        /// Token as read.
        token: Token,
    },
    /// Still held by this owner under this token: begun, or marked in doubt
    /// meanwhile (marking keeps the token, so the owner's late evidence still
    /// settles it).
    Held {
        /// The owner.
        owner: OwnerNonce,
        /// Its token.
        token: Token,
    },
}

impl Action {
    /// The guard of a claim decided from this reading.
    pub fn as_read(&self) -> ActionGuard {
        ActionGuard::AsRead { status: self.status, generation: self.generation, token: self.token }
    }

    /// The guard of the owner's later writes.
    pub fn held(&self) -> ActionGuard {
        ActionGuard::Held { owner: self.owner.clone(), token: self.token }
    }

    /// The key that every call of this generation carries.
    pub fn idempotency_key(&self) -> IdempotencyKey {
        IdempotencyKey::of(&self.key, self.generation)
    }
}

impl ActionGuard {
    /// Does the stored action still stand where the write comes from?
    pub fn admits(&self, stored: Option<&Action>) -> bool {
        match (self, stored) {
            (Self::Absent, None) => true,
            (Self::AsRead { status, generation, token }, Some(stored)) => {
                *status == stored.status && *generation == stored.generation && *token == stored.token
            }
            (Self::Held { owner, token }, Some(stored)) => {
                matches!(stored.status, ActionStatus::Begun | ActionStatus::InDoubt)
                    && *owner == stored.owner
                    && *token == stored.token
            }
            (Self::Absent, Some(_)) | (Self::AsRead { .. } | Self::Held { .. }, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Tenant;

    #[test]
    fn every_call_of_a_generation_carries_the_same_key_and_the_next_generation_another() {
        let key = ActionKey::from_fields(&ActionName::from("pack"), None::<&Tenant>, &["order_1"]);
        let first = IdempotencyKey::of(&key, Generation::FIRST);
        assert_eq!(first, IdempotencyKey::of(&key, Generation::FIRST));
        assert_ne!(first, IdempotencyKey::of(&key, Generation::FIRST.next()));
        assert!(!first.as_str().contains("order_1"));
    }
}
