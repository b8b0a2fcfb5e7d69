//! The item of an event.

use super::attribute::{Attributes, Item, KEY, Reading, number, text, texts, whole};
use super::reason;
use aws_sdk_dynamodb::types::AttributeValue;
use sekali::ids::{Generation, Tenant};
use sekali::key::{ActionKey, EventHash, EventKey};
use sekali::ports::{Due, IndexShard, StoreError, index_shard};
use sekali::protocol::event::{ContentFacts, Event, EventStatus, Progress, Seen, SignatureFacts};
use sekali::secret::{SecretPlace, Stage};
use sekali::time::{ExpiresAt, UnixMillis};

/// DynamoDB removes an item some time after this, in seconds (INV-9).
pub(crate) const EXPIRES: &str = "expires_at";
/// When it is due: the range key of the index.
pub(crate) const DUE: &str = "due";
/// Part and shard of the index in which it stands: the hash key of the index.
pub(crate) const OPEN: &str = "open";
/// There, where it waits at the gate of a paused endpoint.
const WAITS: &str = "waits";
pub(crate) const STATUS: &str = "status";
pub(crate) const GENERATION: &str = "generation";
pub(crate) const HASH: &str = "hash";
pub(crate) const ACTION: &str = "action";
/// Actions that it began and let go of; absent where there are none.
const LET_GO: &str = "let_go";
pub(crate) const ENDPOINT: &str = "endpoint";
pub(crate) const TENANT: &str = "tenant";
pub(crate) const ID: &str = "id";
pub(crate) const TYPE: &str = "type";
pub(crate) const RECEIVED: &str = "received_at";
pub(crate) const CORRELATION: &str = "correlation";
pub(crate) const REASON: &str = "reason";
pub(crate) const DELIVERIES: &str = "deliveries";
pub(crate) const LAST_SEEN: &str = "last_seen";
pub(crate) const CONFLICTS: &str = "conflicts";
pub(crate) const REPEATED_AS: &str = "repeated_as";
pub(crate) const CONFLICT_HASHES: &str = "conflict_hashes";

/// The item of an event that is created.
pub(crate) fn encode(event: &Event) -> Item {
    whole(event.key.as_str(), attributes(event))
}

/// Everything of it besides key and schema.
pub(crate) fn attributes(event: &Event) -> Attributes {
    let mut attributes: Attributes = vec![
        (ENDPOINT, Some(text(event.endpoint.as_str()))),
        ("vendor", Some(text(event.vendor.as_str()))),
        (TENANT, event.tenant.as_ref().map(|tenant| text(tenant.as_str()))),
        (ID, Some(text(&event.id))),
        (RECEIVED, Some(millis(event.received_at))),
        ("put_nonce", Some(text(event.put_nonce.as_str()))),
        (CORRELATION, Some(text(event.correlation.as_str()))),
        ("sig_secret", event.signature.secret.map(|secret| number(secret.position))),
        ("sig_stage", event.signature.secret.map(|secret| text(secret.stage.as_str()))),
        ("sig_scheme", Some(text(&event.signature.scheme))),
        ("sig_at", event.signature.signed_at.map(millis)),
        (DELIVERIES, Some(number(event.seen.deliveries))),
        (LAST_SEEN, Some(millis(event.seen.last_at))),
        (CONFLICTS, Some(number(event.seen.conflicts))),
        (REPEATED_AS, event.seen.repeated_as.as_ref().map(|hash| text(hash.as_str()))),
    ];
    if !event.seen.conflict_hashes.is_empty() {
        let hashes = texts(event.seen.conflict_hashes.iter().map(EventHash::as_str));
        attributes.push((CONFLICT_HASHES, Some(hashes)));
    }
    attributes.extend(facts(&event.facts()));
    attributes.extend(progress(&event.key, &event.progress));
    attributes
}

/// A content's hash and what is read off it: written together, or not at all.
pub(crate) fn facts(facts: &ContentFacts) -> Attributes {
    vec![
        (HASH, Some(text(facts.hash.as_str()))),
        (TYPE, facts.event_type.as_ref().map(|event_type| text(event_type.as_str()))),
        ("version", facts.version.as_ref().map(text)),
        ("occurred_at", facts.occurred_at.map(millis)),
        ("sequence", facts.sequence.as_ref().map(text)),
    ]
}

/// Everything that a transition writes of an event. The index attributes are
/// derived, so that they never say other than status and due time; a write
/// that leaves both unchanged sets the same values and costs no index write.
pub(crate) fn progress(key: &EventKey, progress: &Progress) -> Attributes {
    let let_go: Vec<&str> = progress.let_go.iter().map(ActionKey::as_str).collect();
    vec![
        (STATUS, Some(text(progress.status.as_str()))),
        (GENERATION, Some(number(progress.generation))),
        ("opened_at", Some(millis(progress.opened_at))),
        ("attempts", Some(number(progress.attempts))),
        ("sweeps", Some(number(progress.sweeps))),
        (ACTION, progress.action.as_ref().map(|action| text(action.as_str()))),
        ("action_generation", progress.action_generation.map(number)),
        (LET_GO, (!let_go.is_empty()).then(|| texts(let_go))),
        (REASON, reason::slug(progress.reason.as_ref())),
        ("cause", reason::cause(progress.reason.as_ref())),
        ("failed_at", progress.failed_at.map(millis)),
        (EXPIRES, progress.expires.map(|expires| number(expires.0))),
        (DUE, progress.due.map(millis)),
        (OPEN, progress.due.and_then(|_| open(key, progress.status))),
        (WAITS, progress.waits.then(|| number(1))),
    ]
}

fn open(key: &EventKey, status: EventStatus) -> Option<AttributeValue> {
    let class = Due::of(status)?;
    Some(text(index_key(IndexShard { class, shard: index_shard(key) })))
}

/// The hash key of one shard of the index.
pub(crate) fn index_key(shard: IndexShard) -> String {
    format!("{}#{}", shard.class.as_str(), shard.shard)
}

fn millis(time: UnixMillis) -> AttributeValue {
    number(time.0)
}

/// The event of a stored item.
pub(crate) fn decode(item: &Item) -> Result<Event, StoreError> {
    let read = Reading(item);
    let time = |name| Ok::<_, StoreError>(read.maybe_number(name)?.map(UnixMillis));
    Ok(Event {
        key: EventKey::from_stored(read.text(KEY)?),
        endpoint: read.text(ENDPOINT)?.into(),
        vendor: read.text("vendor")?.into(),
        tenant: read.maybe_text(TENANT)?.map(Tenant::from),
        id: read.text(ID)?.to_owned(),
        event_type: read.maybe_text(TYPE)?.map(Into::into),
        version: read.maybe_text("version")?.map(str::to_owned),
        occurred_at: time("occurred_at")?,
        sequence: read.maybe_text("sequence")?.map(str::to_owned),
        received_at: UnixMillis(read.number(RECEIVED)?),
        put_nonce: read.text("put_nonce")?.into(),
        correlation: read.text(CORRELATION)?.into(),
        signature: SignatureFacts {
            secret: secret(read)?,
            scheme: read.text("sig_scheme")?.to_owned(),
            signed_at: time("sig_at")?,
        },
        hash: EventHash::from_stored(read.text(HASH)?),
        seen: Seen {
            deliveries: read.number(DELIVERIES)?,
            last_at: UnixMillis(read.number(LAST_SEEN)?),
            conflicts: read.number(CONFLICTS)?,
            conflict_hashes: read.texts(CONFLICT_HASHES)?.into_iter().map(EventHash::from_stored).collect(),
            repeated_as: read.maybe_text(REPEATED_AS)?.map(EventHash::from_stored),
        },
        progress: decode_progress(read)?,
    })
}

/// The secret that made the signature.
fn secret(read: Reading<'_>) -> Result<Option<SecretPlace>, StoreError> {
    let Some(position) = read.maybe_number("sig_secret")? else { return Ok(None) };
    Ok(Some(SecretPlace { position, stage: read.word("sig_stage", Stage::from_stored)? }))
}

fn decode_progress(read: Reading<'_>) -> Result<Progress, StoreError> {
    Ok(Progress {
        status: read.word(STATUS, EventStatus::from_stored)?,
        generation: Generation::from_stored(read.number(GENERATION)?),
        opened_at: UnixMillis(read.number("opened_at")?),
        attempts: read.number("attempts")?,
        sweeps: read.number("sweeps")?,
        action: read.maybe_text(ACTION)?.map(ActionKey::from_stored),
        action_generation: read.maybe_number("action_generation")?.map(Generation::from_stored),
        let_go: read.texts(LET_GO)?.into_iter().map(ActionKey::from_stored).collect(),
        reason: reason::decode(read)?,
        failed_at: read.maybe_number("failed_at")?.map(UnixMillis),
        expires: read.maybe_number(EXPIRES)?.map(ExpiresAt),
        due: read.maybe_number(DUE)?.map(UnixMillis),
        waits: read.maybe_number::<u8>(WAITS)?.is_some(),
    })
}
