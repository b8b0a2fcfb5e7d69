//! Invented items for the cases. Keys are drawn anew for each case, so that
//! cases can share tables with each other and with earlier runs.

use sekali::ids::{EventType, Generation, PutNonce, ResourceKind, Tenant, Token, Version};
use sekali::key::{ActionKey, DedupScope, EventHash, EventKey, ResourceKey};
use sekali::payload::Payload;
use sekali::protocol::action::{Action, ActionStatus, EffectResult, FrozenRequest};
use sekali::protocol::event::{ContentFacts, Event, EventGuard, EventStatus, Progress, Seen, SignatureFacts};
use sekali::protocol::reason::{Reason, Slug};
use sekali::protocol::resource::Resource;
use sekali::protocol::transition::{EventWrite, Transition};
use sekali::rule::{InputDigest, OrderValue};
use sekali::secret::{SecretPlace, Stage};
use sekali::time::{ExpiresAt, UnixMillis};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The present of every case. It lies ahead of the real one: no store that
/// removes expired items by the real clock removes these.
pub const NOW: UnixMillis = UnixMillis(1_930_000_000_123);

/// A dedup window.
pub const WINDOW: Duration = Duration::from_secs(30 * 86_400);

/// The items of one case.
#[derive(Debug, Clone)]
pub struct Sample {
    scope: DedupScope,
}

impl Sample {
    /// With keys that nobody used before.
    #[expect(clippy::new_without_default, reason = "two of them are never the same")]
    pub fn new() -> Self {
        let drawn = RandomState::new().hash_one("contract");
        Self { scope: DedupScope(format!("contract-{drawn:016x}")) }
    }

    /// The key of an event.
    pub fn event_key(&self, id: &str) -> EventKey {
        EventKey::new(&self.scope, None, &[Some(id)])
    }

    /// The key of an action.
    pub fn action_key(&self, id: &str) -> ActionKey {
        ActionKey::from_fields(&"pack".into(), Some(&self.tenant()), &[id])
    }

    /// The key of a resource.
    pub fn resource_key(&self, id: &str) -> ResourceKey {
        ResourceKey::new(&ResourceKind::from("payment"), Some(&self.tenant()), id)
    }

    fn tenant(&self) -> Tenant {
        Tenant::new(&*self.scope.0)
    }

    /// A fresh event with nothing that is optional.
    pub fn event(&self, id: &str) -> Event {
        Event {
            key: self.event_key(id),
            endpoint: "stripe".into(),
            vendor: "stripe".into(),
            tenant: None,
            id: id.to_owned(),
            event_type: None,
            version: None,
            occurred_at: None,
            sequence: None,
            received_at: NOW,
            put_nonce: PutNonce::from("put-1"),
            correlation: "correlation-1".into(),
            signature: SignatureFacts { secret: None, scheme: "v1".to_owned(), signed_at: None },
            hash: content("first"),
            seen: Seen {
                deliveries: 1,
                last_at: NOW,
                conflicts: 0,
                conflict_hashes: Vec::new(),
                repeated_as: None,
            },
            progress: progress(EventStatus::Received),
        }
    }

    /// An event with everything that an event can have.
    pub fn full_event(&self, id: &str) -> Event {
        Event {
            tenant: Some(Tenant::from("acct_7")),
            event_type: Some("checkout.session.completed".into()),
            version: Some("2026-10-01".to_owned()),
            occurred_at: Some(NOW.minus(Duration::from_millis(2_345))),
            sequence: Some("9007199254740993.50".to_owned()),
            signature: SignatureFacts {
                secret: Some(SecretPlace { position: 1, stage: Stage::Previous }),
                scheme: "v1".to_owned(),
                signed_at: Some(NOW),
            },
            seen: Seen {
                deliveries: 7,
                last_at: NOW.plus(Duration::from_secs(9)),
                conflicts: 2,
                conflict_hashes: vec![content("second"), content("third")],
                repeated_as: Some(content("as a webhook")),
            },
            progress: full_progress(self.action_key("order_1")),
            ..self.event(id)
        }
    }

    /// An action as it is first begun.
    pub fn action(&self, id: &str) -> Action {
        Action {
            key: self.action_key(id),
            name: "pack".into(),
            status: ActionStatus::Begun,
            generation: Generation::FIRST,
            token: Token::FIRST,
            owner: "owner-1".into(),
            lease_until: NOW.plus(Duration::from_secs(30)),
            first_begun_at: NOW,
            request: FrozenRequest {
                destination: "packing".into(),
                body: br#"{"order":"1"}"#.to_vec(),
                resource: None,
            },
            input: InputDigest::from_stored("digest-1"),
            begun_by: self.event_key("evt_1"),
            doubted: false,
            result: None,
            reason: None,
            settled_at: None,
            last_done: None,
        }
    }

    /// An action with everything that an action can have.
    pub fn full_action(&self, id: &str) -> Action {
        Action {
            status: ActionStatus::Done,
            generation: Generation::from_stored(3),
            token: Token::from_stored(12),
            request: FrozenRequest {
                destination: "packing".into(),
                body: (0..=255).cycle().take(2_000).collect(),
                resource: Some(self.resource_key("pi_1")),
            },
            doubted: true,
            result: Some(EffectResult("task_9 \u{1f4e6}".repeat(200))),
            reason: Some(Reason::with(Slug::NoAnswer, "timed out after 10 s")),
            settled_at: Some(NOW.plus(Duration::from_secs(4))),
            last_done: Some(Generation::from_stored(2)),
            ..self.action(id)
        }
    }

    /// A resource that was just seen for the first time.
    pub fn resource(&self, id: &str) -> Resource {
        Resource {
            key: self.resource_key(id),
            status: "pending".into(),
            order: OrderValue::Time(NOW),
            version: Version::FIRST,
            moved_by: self.event_key("evt_1"),
            moved_at: NOW,
        }
    }
}

/// The progress of an event that just came to this status, due now.
pub fn progress(status: EventStatus) -> Progress {
    let finished = status.is_finished();
    Progress {
        status,
        generation: Generation::FIRST,
        opened_at: NOW,
        attempts: 0,
        sweeps: 0,
        action: None,
        action_generation: None,
        let_go: Vec::new(),
        reason: None,
        failed_at: None,
        expires: (!status.needs_human()).then(|| NOW.expires_after(WINDOW)),
        due: (!finished).then_some(NOW),
        waits: false,
    }
}

/// A progress with everything that a progress can have.
pub fn full_progress(action: ActionKey) -> Progress {
    Progress {
        status: EventStatus::Failed,
        generation: Generation::from_stored(2),
        opened_at: NOW.plus(Duration::from_millis(1)),
        attempts: 5,
        sweeps: 6,
        let_go: vec![ActionKey::from_fields(&"pack".into(), None, &["let go"])],
        action: Some(action),
        action_generation: Some(Generation::from_stored(4)),
        reason: Some(Reason::with(Slug::Rejected, "the destination answered 422")),
        failed_at: Some(NOW.plus(Duration::from_millis(2))),
        expires: Some(NOW.expires_after(WINDOW)),
        due: Some(NOW.plus(Duration::from_millis(3))),
        waits: true,
    }
}

/// The hash of an invented content.
pub fn content(text: &str) -> EventHash {
    EventHash::of([text.as_bytes()])
}

/// An invented content and what is read off it, which differs from others'.
pub fn facts(text: &str) -> ContentFacts {
    let said = |what: &str| (text != "first").then(|| format!("{text} {what}"));
    ContentFacts {
        hash: content(text),
        event_type: said("type").map(EventType::new),
        version: said("version").filter(|_| text.len().is_multiple_of(2)),
        occurred_at: said("time")
            .map(|_| NOW.minus(Duration::from_millis(1 + text.bytes().map(u64::from).sum::<u64>()))),
        sequence: said("sequence").filter(|_| !text.len().is_multiple_of(2)),
    }
}

/// A payload with this body and nothing around it.
pub fn payload(body: &[u8]) -> Payload {
    Payload::new(body.to_vec(), [])
}

/// A payload of JSON that deflates well.
pub fn shrinking(size: usize) -> Payload {
    let line = br#"{"object":"line_item","description":"Invented parcel","amount_total":4900},"#;
    payload(&line.iter().copied().cycle().take(size).collect::<Vec<_>>())
}

/// A payload that does not deflate: bytes as in an archive.
pub fn noise(size: usize) -> Payload {
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    payload(&(0..size).map(|_| draw()).collect::<Vec<_>>())
}

/// Seconds after the present.
pub fn expires(seconds: u64) -> ExpiresAt {
    NOW.expires_after(Duration::from_secs(seconds))
}

/// A write of the event alone.
pub fn event_write(key: &EventKey, from: EventGuard, to: Progress) -> Transition {
    Transition::event(EventWrite { key: key.clone(), from, to, content: None })
}
