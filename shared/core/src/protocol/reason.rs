//! Why an event stands where it stands: a closed slug for metrics and
//! filters, and a short cause for people.

/// A reason with its cause.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reason {
    /// The closed word, for metrics and filters.
    pub slug: Slug,
    /// One line for a human, e.g. the destination's status. Never a payload.
    pub cause: Option<String>,
}

impl Reason {
    /// A reason that needs no further words.
    pub fn bare(slug: Slug) -> Self {
        Self { slug, cause: None }
    }

    /// A reason with one line of cause.
    pub fn with(slug: Slug, cause: impl Into<String>) -> Self {
        Self { slug, cause: Some(cause.into()) }
    }
}

macro_rules! slugs {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// The closed list of reasons.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Slug {$($(#[$doc])* $name),+}

        impl Slug {
            /// Every reason, in the order of `docs/protocol.md`.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word for it in items, logs and metrics.
            pub fn as_str(self) -> &'static str {
                match self {$(Self::$name => $word),+}
            }

            /// The reason that a stored word names.
            pub fn from_stored(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|slug| slug.as_str() == word)
            }
        }
    };
}

slugs! {
    /// Ignored: no rule of the endpoint matches.
    NoRule = "no_rule",
    /// Ignored: the resource has moved past this, and the rule says `skip`.
    Late = "late",
    /// Ignored, or failed for good: a human discarded it.
    Discarded = "discarded",
    /// Ended, and its content is erased; the cause is what it ended for.
    Erased = "erased",
    /// Held: the vendor's version is not one that the endpoint knows.
    UnknownVersion = "unknown_version",
    /// Held: a part of an action or resource key is absent, null or empty.
    MissingKeyPart = "missing_key_part",
    /// Held: well signed, but not what the vendor's description says.
    Unreadable = "unreadable",
    /// Held: its time lies too far ahead to order anything by.
    FarFuture = "far_future",
    /// Held: the resource is ordered and the event does not say when it stands in that order.
    NoOrder = "no_order",
    /// Held: the event's endpoint is gone from the configuration.
    EndpointGone = "endpoint_gone",
    /// Held: the rule asks for a status that the resource's graph lacks.
    UnknownStatus = "unknown_status",
    /// Held: the vendor waits for a call that confirms it, which a human makes.
    Unconfirmed = "unconfirmed",
    /// Processed or processing: the action was asked for before, with other
    /// values in its fields.
    OtherInput = "other_input",
    /// Failed: the destination said, for certain, no.
    Rejected = "rejected",
    /// Ready again: the last call certainly did not begin the effect.
    NotStarted = "not_started",
    /// Failed: as many tries as allowed, none of which began the effect.
    AttemptsExhausted = "attempts_exhausted",
    /// Failed: too old, or swept too often, without an end.
    BoundReached = "bound_reached",
    /// Failed or held: the action's destination is gone from the configuration.
    DestinationGone = "destination_gone",
    /// Failed: a write that the store will never take.
    StoreRefused = "store_refused",
    /// Received: the vendor's API gave no answer yet; it is asked again.
    TruthUnread = "truth_unread",
    /// Received: the vendor's API does not know yet what the event is about; it
    /// is asked again.
    TruthOlder = "truth_older",
    /// Failed: the vendor's API will not say, or says what nobody can read.
    TruthRefused = "truth_refused",
    /// In doubt: a call ended without an answer that settles it.
    NoAnswer = "no_answer",
    /// In doubt: the worker was gone when its lease ran out.
    LeaseExpired = "lease_expired",
    /// In doubt: the record of a begun action is no longer there.
    ActionGone = "action_gone",
    /// What a newer version says of it, which this one does not know. The cause
    /// begins with its word.
    NewerVersion = "newer_version",
}
