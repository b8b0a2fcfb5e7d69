//! The event: what the vendor says happened once, and how far it has come.

use crate::ids::{CorrelationId, EndpointName, EventType, Generation, PutNonce, Tenant, VendorName};
use crate::key::{ActionKey, EventHash, EventKey};
use crate::protocol::reason::Reason;
use crate::secret::SecretPlace;
use crate::time::{ExpiresAt, UnixMillis};

/// How many conflicting contents of one event are listed; more are counted.
pub const CONFLICTS_LISTED: usize = 3;

/// How many actions an event may let go of, as other content is accepted or it
/// is forced through today's rules: what they sent is found again through it.
pub const ACTIONS_LET_GO: usize = 3;

/// Where an event stands. Every other word for it in logs and answers is
/// [`EventStatus::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventStatus {
    /// Durable; nobody has begun its action.
    Received,
    /// Its action was begun, by it or by another event that names the same.
    Processing,
    /// Its action is done, or it had none.
    Processed,
    /// Nothing to do, with the reason.
    Ignored,
    /// Given up for good until a human redrives it.
    Failed,
    /// Kept and shown, not processed, until a human releases it.
    Held,
    /// An effect was begun and nobody knows whether it happened.
    InDoubt,
}

impl EventStatus {
    /// Every status, in the order of the diagram in `docs/protocol.md`.
    pub const ALL: [Self; 7] = [
        Self::Received,
        Self::Processing,
        Self::Processed,
        Self::Ignored,
        Self::Failed,
        Self::Held,
        Self::InDoubt,
    ];

    /// The word for it everywhere: items, logs, answers, docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Processing => "processing",
            Self::Processed => "processed",
            Self::Ignored => "ignored",
            Self::Failed => "failed",
            Self::Held => "held",
            Self::InDoubt => "in_doubt",
        }
    }

    /// The status that a stored word names.
    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Nothing more happens to it by itself, and nobody needs to look.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Processed | Self::Ignored)
    }

    /// Nothing more happens to it in this generation.
    pub fn is_at_rest(self) -> bool {
        matches!(self, Self::Processed | Self::Ignored | Self::Failed | Self::Held)
    }

    /// A human has to look: such an item carries no TTL (INV-9).
    pub fn needs_human(self) -> bool {
        matches!(self, Self::Failed | Self::Held | Self::InDoubt)
    }

    /// May an event go from this status to `next` within one generation (INV-3)?
    pub fn may_become(self, next: Self) -> bool {
        use EventStatus::{Failed, Held, Ignored, InDoubt, Processed, Processing, Received};
        match self {
            Received => matches!(next, Received | Processing | Processed | Ignored | Failed | Held | InDoubt),
            Processing => matches!(next, Processing | Processed | Failed | InDoubt),
            InDoubt => matches!(next, InDoubt | Processed | Failed),
            // A human may discard what was held; sending it round is the next generation.
            Held => matches!(next, Held | Ignored),
            Processed | Ignored | Failed => next == self,
        }
    }
}

/// Which secret and scheme verified the delivery that created the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureFacts {
    /// The secret that made the signature: its place and version, not its
    /// value. `None` where the vendor signs nothing.
    pub secret: Option<SecretPlace>,
    /// The scheme's name in the vendor description.
    pub scheme: String,
    /// The signed time, where the scheme has one.
    pub signed_at: Option<UnixMillis>,
}

/// In the place of a scheme's name where nothing was signed: somebody brought
/// the event from the vendor's own list. No description can call a scheme so.
const OF_LIST: &str = "sekali.list";

impl SignatureFacts {
    /// Of an event that was brought from the vendor's own list.
    pub fn of_list() -> Self {
        Self { secret: None, scheme: OF_LIST.to_owned(), signed_at: None }
    }

    /// Whether the event was brought from the vendor's own list. Its content is
    /// the vendor's, but written otherwise than a webhook writes it: hashes of
    /// the two tell nothing.
    pub fn is_of_list(&self) -> bool {
        self.scheme == OF_LIST
    }
}

/// An event as stored. What never changes stands beside what ingest counts
/// and what the protocol moves ([`Progress`]); the three never write over
/// each other, so a counter cannot break a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its key.
    pub key: EventKey,
    /// The endpoint that received it.
    pub endpoint: EndpointName,
    /// Who sent it.
    pub vendor: VendorName,
    /// Whose it is, where the endpoint serves many.
    pub tenant: Option<Tenant>,
    /// The vendor's id as a human knows it.
    pub id: String,
    /// The vendor's type.
    pub event_type: Option<EventType>,
    /// The vendor's schema or API version.
    pub version: Option<String>,
    /// When the vendor says it happened.
    pub occurred_at: Option<UnixMillis>,
    /// The vendor's own order number, as text.
    pub sequence: Option<String>,
    /// When the first delivery arrived.
    pub received_at: UnixMillis,
    /// By this the put recognises its own retry.
    pub put_nonce: PutNonce,
    /// From the request to the effect.
    pub correlation: CorrelationId,
    /// What verified it.
    pub signature: SignatureFacts,
    /// Hash of the content that counts. Adoption and an accepted conflict
    /// replace it, together with what is read off the content ([`ContentFacts`]).
    pub hash: EventHash,
    /// How often it came.
    pub seen: Seen,
    /// How far it has come.
    pub progress: Progress,
}

/// A content by its hash, and what ingest reads off it besides its key. Where a
/// content takes the place of another, all of this goes with it: a rule is
/// chosen by type and a move is ordered by time, so facts of one content beside
/// the hash of another would cause what nobody said.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContentFacts {
    /// Hash of the content.
    pub hash: EventHash,
    /// The vendor's type.
    pub event_type: Option<EventType>,
    /// The vendor's schema or API version.
    pub version: Option<String>,
    /// When the vendor says it happened.
    pub occurred_at: Option<UnixMillis>,
    /// The vendor's own order number, as text.
    pub sequence: Option<String>,
}

/// What ingest counts about repeated deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Deliveries of the same content, the first included.
    pub deliveries: u64,
    /// When the last one arrived.
    pub last_at: UnixMillis,
    /// Deliveries with the same id and other content.
    pub conflicts: u64,
    /// Hashes of the first few conflicting contents.
    pub conflict_hashes: Vec<EventHash>,
    /// Of an event that was brought from the vendor's list: the hash under
    /// which the first delivery that repeated it left its body.
    pub repeated_as: Option<EventHash>,
}

/// How many deliveries an event has had, of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Counted {
    /// With its content.
    pub deliveries: u64,
    /// With other content.
    pub conflicts: u64,
}

impl Seen {
    /// The counts alone.
    pub fn counted(&self) -> Counted {
        Counted { deliveries: self.deliveries, conflicts: self.conflicts }
    }
}

/// What the protocol moves. A transition writes all of it at once, on
/// condition of where it came from ([`EventGuard`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Where it stands.
    pub status: EventStatus,
    /// Which round this is.
    pub generation: Generation,
    /// When this round was opened.
    pub opened_at: UnixMillis,
    /// Tries of this round at its action.
    pub attempts: u32,
    /// Times the sweeper sent this round again.
    pub sweeps: u32,
    /// The action it owns or shares, once it has won its move. From then on
    /// only the action counts, never again the resource.
    pub action: Option<ActionKey>,
    /// The generation of that action, whose end this event follows.
    pub action_generation: Option<Generation>,
    /// The actions that it began and has let go of since, at most
    /// [`ACTIONS_LET_GO`]. Nothing follows them any more, but what they sent is
    /// erased with the event.
    pub let_go: Vec<ActionKey>,
    /// Why it is ignored, held, failed or in doubt.
    pub reason: Option<Reason>,
    /// When it failed; never before the stamp of the message that failed.
    pub failed_at: Option<UnixMillis>,
    /// When DynamoDB may remove it. `None`: never (INV-9).
    pub expires: Option<ExpiresAt>,
    /// When the sweeper looks next. `None`: not in the index.
    pub due: Option<UnixMillis>,
    /// It waits at the gate of an endpoint that is paused or drains. Where its
    /// turn comes earlier, the due time does not keep it.
    pub waits: bool,
}

/// What an event write names (INV-5): status and generation always, the hash
/// while the event is unclaimed, and the due time, which every write of an
/// event that goes on as what it is moves: of two writers with one reading,
/// one writes, and no counter or TTL is put back. A write that takes the TTL
/// off names what ingest has counted, too (INV-9): a delivery that was
/// acknowledged since the reading may rest on a payload with a TTL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventGuard {
    /// The status it comes from.
    pub status: EventStatus,
    /// The generation it comes from.
    pub generation: Generation,
    /// The content it decided on, while no action is bound to it.
    pub hash: Option<EventHash>,
    /// The due time as read; `None` where there was none, and then it is not compared.
    pub due: Option<UnixMillis>,
    /// What ingest had counted as read, where the write takes the TTL off.
    pub counted: Option<Counted>,
}

impl Event {
    /// Its content, and what was read off it.
    pub fn facts(&self) -> ContentFacts {
        ContentFacts {
            hash: self.hash.clone(),
            event_type: self.event_type.clone(),
            version: self.version.clone(),
            occurred_at: self.occurred_at,
            sequence: self.sequence.clone(),
        }
    }

    /// The same event with another content.
    #[must_use]
    pub fn with(self, facts: &ContentFacts) -> Self {
        let ContentFacts { hash, event_type, version, occurred_at, sequence } = facts.clone();
        Self { hash, event_type, version, occurred_at, sequence, ..self }
    }

    /// The guard of any write decided from this reading of the event.
    pub fn guard(&self) -> EventGuard {
        EventGuard {
            status: self.progress.status,
            generation: self.progress.generation,
            hash: self.progress.action.is_none().then(|| self.hash.clone()),
            due: self.progress.due,
            counted: None,
        }
    }
}

impl EventGuard {
    /// Does the stored event still stand where the write comes from?
    pub fn admits(&self, stored: &Event) -> bool {
        self.status == stored.progress.status
            && self.generation == stored.progress.generation
            && self.hash.as_ref().is_none_or(|hash| *hash == stored.hash)
            && self.due.is_none_or(|due| stored.progress.due == Some(due))
            && self.counted.is_none_or(|counted| counted == stored.seen.counted())
    }
}
