//! What the calls would have cost on DynamoDB: a write unit per started KB of
//! the larger of old and new item, double in a transaction, one more for each
//! index entry made or taken away; a refused condition costs the same. A read
//! unit per started 4 KB.

use sekali::key::{EventHash, EventKey};
use sekali::pause::Pauses;
use sekali::payload::Payload;
use sekali::ports::{Captured, Due};
use sekali::protocol::action::Action;
use sekali::protocol::event::{Event, Progress};
use sekali::protocol::history::History;
use sekali::protocol::reason::Reason;
use sekali::protocol::resource::Resource;
use sekali::time::UnixMillis;
use std::collections::BTreeMap;

use super::index;

/// What one attribute costs besides its text: a short name, and the number or
/// the flag that many of them are.
const PER_ATTRIBUTE: usize = 12;
const BYTES_PER_WRITE_UNIT: usize = 1024;
const BYTES_PER_READ_UNIT: usize = 4096;

/// How much an item takes: its size, and where it stands in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Names and values, as DynamoDB counts them, near enough.
    pub bytes: usize,
    /// Its entry in the index.
    pub index: Option<(Due, UnixMillis)>,
}

impl Footprint {
    /// Of an event.
    pub fn of_event(event: &Event) -> Self {
        let texts = [
            Some(event.key.as_str()),
            Some(event.endpoint.as_str()),
            Some(event.vendor.as_str()),
            event.tenant.as_ref().map(|tenant| tenant.as_str()),
            Some(&event.id),
            event.event_type.as_ref().map(|event_type| event_type.as_str()),
            event.version.as_deref(),
            event.sequence.as_deref(),
            Some(event.put_nonce.as_str()),
            Some(event.correlation.as_str()),
            Some(&event.signature.scheme),
            Some(event.hash.as_str()),
            event.seen.repeated_as.as_ref().map(|hash| hash.as_str()),
        ];
        let conflicts = event.seen.conflict_hashes.iter().map(|hash| Some(hash.as_str()));
        let numbers = 6 * PER_ATTRIBUTE;
        let bytes = sized(texts.into_iter().chain(conflicts)) + numbers + of_progress(&event.progress);
        Self { bytes, index: index::entry(event) }
    }

    /// Of a payload as it came; a store may write it smaller.
    pub fn of_payload(key: &EventKey, hash: &EventHash, payload: &Payload) -> Self {
        let (body, context) = payload.to_parts();
        let bytes = sized([Some(key.as_str()), Some(hash.as_str()), Some(&context)]) + body.len();
        Self { bytes: bytes + 2 * PER_ATTRIBUTE, index: None }
    }

    /// Of an action.
    pub fn of_action(action: &Action) -> Self {
        let texts = [
            Some(action.key.as_str()),
            Some(action.name.as_str()),
            Some(action.status.as_str()),
            Some(action.owner.as_str()),
            Some(action.request.destination.as_str()),
            Some(action.begun_by.as_str()),
            action.result.as_ref().map(|result| result.0.as_str()),
        ];
        let numbers = 6 * PER_ATTRIBUTE;
        let bytes = sized(texts) + numbers + of_reason(action.reason.as_ref()) + action.request.body.len();
        Self { bytes, index: None }
    }

    /// Of a secret that was handed over.
    pub fn of_captured(captured: &Captured) -> Self {
        let texts = [Some(captured.endpoint.as_str()), Some(captured.correlation.as_str())];
        Self { bytes: sized(texts) + captured.secret.expose().len() + 2 * PER_ATTRIBUTE, index: None }
    }

    /// Of what humans decided about an event.
    pub fn of_history(history: &History) -> Self {
        let texts = history.decisions.iter().flat_map(|decided| {
            [Some(decided.who.as_str()), Some(&decided.what), decided.about.as_deref(), Some(&decided.why)]
        });
        Self { bytes: sized(texts) + PER_ATTRIBUTE, index: None }
    }

    /// Of the pauses.
    pub fn of_pauses(pauses: &Pauses) -> Self {
        let texts = pauses.endpoints.iter().flat_map(|(endpoint, pause)| {
            [Some(endpoint.as_str()), Some(pause.who.as_str()), Some(pause.why.as_str())]
        });
        Self { bytes: sized(texts) + PER_ATTRIBUTE, index: None }
    }

    /// Of a resource.
    pub fn of_resource(resource: &Resource) -> Self {
        let order = resource.order.to_string();
        let texts = [
            Some(resource.key.as_str()),
            Some(resource.status.as_str()),
            Some(&order),
            Some(resource.moved_by.as_str()),
        ];
        Self { bytes: sized(texts) + 2 * PER_ATTRIBUTE, index: None }
    }

    fn write_units(self) -> u64 {
        units(self.bytes, BYTES_PER_WRITE_UNIT)
    }
}

fn of_progress(progress: &Progress) -> usize {
    let texts = [Some(progress.status.as_str()), progress.action.as_ref().map(|key| key.as_str())];
    let let_go = progress.let_go.iter().map(|key| Some(key.as_str()));
    sized(texts.into_iter().chain(let_go)) + 9 * PER_ATTRIBUTE + of_reason(progress.reason.as_ref())
}

fn of_reason(reason: Option<&Reason>) -> usize {
    reason.map_or(0, |reason| sized([Some(reason.slug.as_str()), reason.cause.as_deref()]))
}

fn sized<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> usize {
    texts.into_iter().flatten().map(|text| text.len() + PER_ATTRIBUTE).sum()
}

fn units(bytes: usize, per_unit: usize) -> u64 {
    u64::try_from(bytes.div_ceil(per_unit).max(1)).unwrap_or(u64::MAX)
}

/// The calls of the store, as the ledger and the fault log name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StoreCall {
    /// `create_event`
    CreateEvent,
    /// `put_payload`
    PutPayload,
    /// `keep_payload`
    KeepPayload,
    /// `expire_payload`
    ExpirePayload,
    /// `payload`
    ReadPayload,
    /// `event`
    ReadEvent,
    /// `action`
    ReadAction,
    /// `resource`
    ReadResource,
    /// `write`
    Write,
    /// `count_duplicate`
    CountDuplicate,
    /// `record_conflict`
    RecordConflict,
    /// `adopt`
    Adopt,
    /// `capture`
    Capture,
    /// `due`
    Due,
    /// `pauses`
    ReadPauses,
    /// `erase_payload`
    ErasePayload,
    /// `erase_request`
    EraseRequest,
}

impl StoreCall {
    /// Every call.
    pub const ALL: [Self; 17] = [
        Self::CreateEvent,
        Self::PutPayload,
        Self::KeepPayload,
        Self::ExpirePayload,
        Self::ReadPayload,
        Self::ReadEvent,
        Self::ReadAction,
        Self::ReadResource,
        Self::Write,
        Self::CountDuplicate,
        Self::RecordConflict,
        Self::Adopt,
        Self::Capture,
        Self::Due,
        Self::ReadPauses,
        Self::ErasePayload,
        Self::EraseRequest,
    ];

    /// Whether the call can change anything.
    pub fn writes(self) -> bool {
        !matches!(
            self,
            Self::ReadPayload
                | Self::ReadEvent
                | Self::ReadAction
                | Self::ReadResource
                | Self::Due
                | Self::ReadPauses
        )
    }
}

/// What one kind of call cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Charge {
    /// How often it was made.
    pub calls: u64,
    /// Write units.
    pub write_units: u64,
    /// Read units.
    pub read_units: u64,
}

/// The sum of all charges, by call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger(BTreeMap<StoreCall, Charge>);

impl Ledger {
    /// What one kind of call cost so far.
    pub fn of(&self, call: StoreCall) -> Charge {
        self.0.get(&call).copied().unwrap_or_default()
    }

    /// What everything cost so far.
    pub fn total(&self) -> Charge {
        self.0.values().fold(Charge::default(), |sum, charge| Charge {
            calls: sum.calls + charge.calls,
            write_units: sum.write_units + charge.write_units,
            read_units: sum.read_units + charge.read_units,
        })
    }

    /// One call that wrote these items, each from the one footprint to the
    /// other. More than one item is a transaction.
    pub(super) fn wrote(&mut self, call: StoreCall, items: &[(Footprint, Footprint)]) {
        let double = if items.len() > 1 { 2 } else { 1 };
        let charge = self.0.entry(call).or_default();
        charge.calls += 1;
        for (before, after) in items {
            charge.write_units += double * before.write_units().max(after.write_units());
            if before.index != after.index {
                charge.write_units += u64::from(before.index.is_some()) + u64::from(after.index.is_some());
            }
        }
    }

    /// One call that read this much.
    pub(super) fn read(&mut self, call: StoreCall, bytes: usize) {
        let charge = self.0.entry(call).or_default();
        charge.calls += 1;
        charge.read_units += units(bytes, BYTES_PER_READ_UNIT);
    }
}
