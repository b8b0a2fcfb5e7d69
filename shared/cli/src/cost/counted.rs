//! What each step of an event costs in units and requests. These numbers are
//! counted, not reckoned: a test sends every one of these deliveries through
//! the real ingest and processor and compares what the store was asked for.

/// A step in the life of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A delivery of an event that nobody knew.
    New,
    /// A delivery of a known event with the same content.
    Repeated,
    /// Processing: a resource moves, and nothing else happens.
    Status,
    /// Processing: a resource moves and an action has its effect.
    Effect,
    /// Processing: an action has its effect, without a resource.
    EffectAlone,
    /// Processing: no rule asks for anything.
    NoRule,
}

/// What a step costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Write units of DynamoDB, one per started KB of an item, double in a
    /// transaction, and one for an entry of the index made or taken away.
    pub write_units: u64,
    /// Read units of DynamoDB, one per started 4 KB; every read is consistent.
    pub read_units: u64,
    /// Requests to DynamoDB.
    pub store_calls: u64,
    /// Messages sent.
    pub sent: u64,
}

/// A payload as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPayload {
    /// Its body, in bytes.
    pub body: u64,
}

impl StoredPayload {
    /// Key, hash, names and times beside the body, in bytes.
    pub const BESIDE_BODY: u64 = 220;

    /// Everything, in bytes.
    pub fn bytes(self) -> u64 {
        self.body.saturating_add(Self::BESIDE_BODY)
    }

    /// What writing it costs.
    pub fn write_units(self) -> u64 {
        self.bytes().div_ceil(1_024)
    }

    /// What reading it costs.
    pub fn read_units(self) -> u64 {
        self.bytes().div_ceil(4_096)
    }
}

impl Step {
    /// Every step.
    pub const ALL: [Self; 6] =
        [Self::New, Self::Repeated, Self::Status, Self::Effect, Self::EffectAlone, Self::NoRule];

    /// What it costs with such a payload.
    pub fn counted(self, payload: StoredPayload) -> Counted {
        let (write, read) = (payload.write_units(), payload.read_units());
        let (write_units, read_units, store_calls, sent) = match self {
            // Payload; event and its entry in the index.
            Self::New => (write + 2, 0, 2, 1),
            // Payload; the refused event; the count.
            Self::Repeated => (write + 2, 0, 3, 0),
            // Event and payload are read in every case; then the resource.
            // Resource and event in one transaction; out of the index.
            Self::Status => (4 + 1, read + 2, 4, 0),
            // The claim of three; the action's end; the event's, out of the index.
            Self::Effect => (6 + 1 + 2, read + 3, 7, 0),
            Self::EffectAlone => (4 + 1 + 2, read + 2, 6, 0),
            // The event's end, out of the index.
            Self::NoRule => (2, read + 1, 3, 0),
        };
        Counted { write_units, read_units, store_calls, sent }
    }

    /// What stays stored after it besides the payload, in bytes.
    pub fn stored(self) -> u64 {
        const EVENT: u64 = 620;
        const RESOURCE: u64 = 200;
        const ACTION: u64 = 780;
        match self {
            Self::New => EVENT,
            Self::Repeated | Self::NoRule => 0,
            Self::Status => RESOURCE,
            Self::Effect => RESOURCE + ACTION,
            Self::EffectAlone => ACTION,
        }
    }
}
