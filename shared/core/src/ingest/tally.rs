//! What one delivery comes to, in numbers and closed words: whoever prints
//! metrics reads it, and makes up no word of their own. What a stranger wrote is
//! in here only where the configuration has the same word (INV-8: what nobody
//! has vouched for makes no new series).

use super::Arrived;
use super::answer::{Outcome, Refused, Taken};
use super::event::Drafts;
use crate::config::{Endpoint, Types};
use crate::ids::EventType;
use crate::key::EventKey;
use crate::protocol::event::EventStatus;
use crate::protocol::reason::Slug;
use crate::secret::{SecretPlace, Stage};
use crate::time::{Monotonic, whole_millis};
use std::collections::BTreeMap;
use std::time::Duration;

/// What one delivery came to.
#[derive(Debug, Clone)]
pub struct Tally<'a> {
    /// Where it was addressed; `None`: at no endpoint.
    pub endpoint: Option<&'a Endpoint>,
    /// The HTTP status of the answer.
    pub answer: u16,
    /// The type of its events, where it was verified and has some.
    pub event_type: Option<TypeOf<'a>>,
    /// What was said of its signature; `None`: nobody looked at one.
    pub signature: Option<Signature>,
    /// One of the endpoint's secrets cannot be used, others can.
    pub secret_unusable: bool,
    /// A handshake was answered.
    pub handshake: bool,
    /// Events that are new and durable, the held ones among them.
    pub new: u64,
    /// Events that were known.
    pub duplicates: u64,
    /// Known ids with other content.
    pub conflicts: u64,
    /// New events that are held, by reason.
    pub held: BTreeMap<Slug, u64>,
    /// Events, or the whole delivery, that a guard stopped.
    pub filtered: u64,
    /// Events whose message the queue refused.
    pub deferred: u64,
    /// From the request to the verdict on its signature.
    pub verified_after: Option<Duration>,
    /// From the request to the answer.
    pub answered_after: Duration,
    pub(super) began: Monotonic,
}

/// The verdict on a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// It is right; by which secret, where one made it.
    Matched(Option<SecretPlace>),
    /// It is not; why, in a closed word.
    Refused(&'static str),
    /// There was nothing to verify it with: the endpoint is offline (INV-10).
    Offline,
}

/// The type of a delivery's events, as far as the configuration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeOf<'a> {
    /// A rule of the endpoint names this one.
    Declared(&'a EventType),
    /// No rule names it.
    Other,
    /// The vendor gives none.
    None,
    /// Events of several types.
    Several,
}

/// What is counted of one event that was kept.
pub(super) struct Counted {
    pub taken: Taken,
    /// Why it is held, if it is new.
    pub hold: Option<Slug>,
    pub deferred: bool,
}

impl Counted {
    /// One line for an event, with what it takes to find it again.
    pub(super) fn log(
        &self,
        arrived: &Arrived<'_>,
        key: &EventKey,
        (secret, took): (Option<SecretPlace>, Duration),
    ) {
        let is_held = self.taken == Taken::New(EventStatus::Held);
        tracing::info!(
            endpoint.name = %arrived.endpoint.name,
            vendor.name = %arrived.endpoint.vendor.name(),
            correlation.id = %arrived.addressed.correlation,
            event.key = %key,
            event.status = self.taken.event_status().as_str(),
            event.reason = self.hold.filter(|_| is_held).map(Slug::as_str),
            delivery.result = self.taken.as_str(),
            delivery.took_ms = whole_millis(took),
            signature.secret = secret.map(|secret| secret.to_string()),
            "delivery"
        );
    }
}

impl<'a> TypeOf<'a> {
    fn of(endpoint: &'a Endpoint, event_type: Option<&EventType>) -> Self {
        let Some(event_type) = event_type else { return Self::None };
        let named = endpoint.rules.iter().find_map(|rule| match &rule.types {
            Types::These(types) => types.iter().find(|known| *known == event_type),
            Types::Every => None,
        });
        named.map_or(Self::Other, Self::Declared)
    }

    /// The word for it in metrics.
    pub fn as_str(self) -> &'a str {
        match self {
            Self::Declared(name) => name.as_str(),
            Self::Other => "other",
            Self::None => "none",
            Self::Several => "several",
        }
    }
}

impl Signature {
    /// It verified only with a secret other than the first in its newest
    /// version: the vendor has not been given the new one yet.
    pub fn is_by_an_old_secret(self) -> bool {
        const NEWEST: SecretPlace = SecretPlace { position: 0, stage: Stage::Current };
        matches!(self, Self::Matched(Some(place)) if place != NEWEST)
    }
}

impl<'a> Tally<'a> {
    /// Nothing is known yet but when it began.
    pub fn beginning(began: Monotonic) -> Self {
        Self {
            endpoint: None,
            answer: 0,
            event_type: None,
            signature: None,
            secret_unusable: false,
            handshake: false,
            new: 0,
            duplicates: 0,
            conflicts: 0,
            held: BTreeMap::new(),
            filtered: 0,
            deferred: 0,
            verified_after: None,
            answered_after: Duration::ZERO,
            began,
        }
    }

    /// A share of the vendor's deadline, in percent, where it has one.
    pub fn deadline_share(&self) -> Option<f64> {
        let deadline = self.endpoint?.vendor.reply().deadline.filter(|deadline| !deadline.is_zero())?;
        Some(self.answered_after.as_secs_f64() / deadline.as_secs_f64() * 100.0)
    }

    /// It was answered 503 for another reason than the endpoint's secrets, such
    /// as a store that did not take it. That tells of us, the secrets of a team.
    pub fn is_unavailable(&self) -> bool {
        self.answer == 503 && self.signature != Some(Signature::Offline)
    }

    pub(super) fn verdict(&mut self, at: Monotonic) {
        self.verified_after = Some(at.0.saturating_sub(self.began.0));
    }

    /// The types of the events that are to be kept.
    pub(super) fn types(&mut self, endpoint: &'a Endpoint, drafts: &Drafts) {
        self.event_type = drafts
            .types()
            .map(|event_type| TypeOf::of(endpoint, event_type))
            .reduce(|one, next| if one == next { one } else { TypeOf::Several });
    }

    /// One event was kept.
    pub(super) fn kept(&mut self, counted: &Counted) {
        self.deferred += u64::from(counted.deferred);
        match counted.taken {
            Taken::New(status) => {
                self.new += 1;
                if let (EventStatus::Held, Some(reason)) = (status, counted.hold) {
                    *self.held.entry(reason).or_default() += 1;
                }
            }
            Taken::Duplicate(_) => self.duplicates += 1,
            Taken::Conflict(_) => self.conflicts += 1,
        }
    }

    pub(super) fn left_out(&mut self, outcome: &Outcome) {
        self.filtered += u64::try_from(outcome.filtered).unwrap_or(u64::MAX);
    }

    pub(super) fn refused(&mut self, refused: &Refused) {
        self.filtered += u64::from(*refused == Refused::Guard);
    }
}
