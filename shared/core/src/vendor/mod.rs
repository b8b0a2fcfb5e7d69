//! Vendors, described by data: how a delivery is verified, what identifies
//! its events, how the vendor repeats and what it wants to hear. No vendor has
//! code of its own; `docs/vendors.md` is the reference of the language.

pub(crate) mod algorithm;
pub mod builtin;
mod content;
mod describe;
mod extract;
mod facts;
pub(crate) mod form;
mod handshake;
mod jwt;
mod key_url;
mod keys;
pub mod list;
mod message;
pub(crate) mod moment;
mod params;
pub(crate) mod place;
mod possible;
mod proof;
mod public_key;
mod refusal;
pub(crate) mod scheme;
mod sender;
mod shape;
pub mod sign;
mod signature;
mod stored;
mod summary;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod verify;
mod view;

pub use describe::KEYS;
pub use facts::{Facts, Identity, Unreadable};
pub use handshake::{HandshakeAnswer, HandshakeRefusal};
pub use key_url::{KeyUrl, StatedBy};
pub use keys::{KeyFault, Keys, UnusableKey};
pub use params::Params;
pub use refusal::Refusal;
pub use scheme::Assurance;
pub use shape::{Order, Param, Reply, Retry};
pub use summary::{SecretNeed, Summary};
pub use verify::Verified;

use crate::ids::VendorName;
use crate::json::Literal;
use crate::problem::Problem;
use crate::source::{Pointer, Source};
use place::Place;

/// One vendor, as its description says.
#[derive(Debug, Clone)]
pub struct Vendor {
    name: VendorName,
    confirmed: bool,
    pub(crate) schemes: Vec<scheme::Scheme>,
    body: shape::BodyForm,
    empty_batch: bool,
    events: Vec<shape::EventShape>,
    handshakes: Vec<shape::Handshake>,
    methods: Vec<String>,
    reply: Reply,
    retry: Retry,
    params: Vec<Param>,
    livemode: Vec<(Source, Vec<Literal>)>,
    list: Option<Box<list::EventList>>,
}

impl Vendor {
    /// Reads a description. `file` is how the reader of a problem would name it.
    ///
    /// # Errors
    /// Every problem of the text, each with its place.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, Vec<Problem>> {
        describe::parse(name, file, text)
    }

    /// The vendor's name.
    pub fn name(&self) -> &VendorName {
        &self.name
    }

    /// Whether an SDK or a published example proves the scheme. An endpoint
    /// of an unconfirmed vendor must say `allow_unconfirmed`.
    pub fn confirmed(&self) -> bool {
        self.confirmed
    }

    /// The methods that are answered, handshakes included, upper case, sorted.
    pub fn methods(&self) -> Vec<&str> {
        let handshakes = self.handshakes.iter().map(|handshake| &handshake.method);
        let mut methods: Vec<&str> = self.methods.iter().chain(handshakes).map(String::as_str).collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// The media types of its deliveries, lower case; `*` is any.
    pub fn content_types(&self) -> &[String] {
        &self.body.content_types
    }

    /// How it repeats deliveries.
    pub fn retry(&self) -> &Retry {
        &self.retry
    }

    /// What it wants to hear, and by when.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The least that a verified delivery proves.
    pub fn assurance(&self) -> Assurance {
        self.schemes.iter().map(|scheme| scheme.assurance).min().unwrap_or(Assurance::None)
    }

    /// The fields that change from delivery to delivery of one event.
    pub fn volatile(&self) -> impl Iterator<Item = &Pointer> {
        self.events.iter().flat_map(|shape| &shape.volatile)
    }

    /// By what the vendor orders every one of its events: what a resource of
    /// its endpoints may be ordered by.
    pub fn order(&self) -> Order {
        let orders: Vec<Order> = self.events.iter().map(|shape| shape.order).collect();
        match orders.split_first() {
            Some((first, rest)) if rest.iter().all(|order| order == first) => *first,
            _ => Order::None,
        }
    }

    /// Whether some of its events state the time at which they happened.
    pub fn states_time(&self) -> bool {
        self.events.iter().any(|shape| !shape.time.is_empty())
    }

    /// Whether some of its events carry a number that orders them.
    pub fn states_sequence(&self) -> bool {
        self.events.iter().any(|shape| shape.sequence.is_some())
    }

    /// Whether some of its events say whose they are.
    pub fn states_tenant(&self) -> bool {
        self.events.iter().any(|shape| shape.tenant.is_some())
    }

    /// What shows that an event is of the vendor's live mode and not of its
    /// test mode: places, and what stands there. Empty where the description
    /// does not say.
    pub fn livemode(&self) -> &[(Source, Vec<Literal>)] {
        &self.livemode
    }

    /// Its own list of its events, where it has one.
    pub fn list(&self) -> Option<&list::EventList> {
        self.list.as_deref()
    }

    /// The parameters that an endpoint must or may be configured with.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Whether the endpoint's public URL is part of what is signed.
    pub fn needs_public_url(&self) -> bool {
        self.schemes.iter().any(|scheme| scheme.message.names_url())
    }

    /// The headers that the description names, as it writes them.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &str> {
        self.places().filter_map(|place| match place {
            Place::Source(Source::Header(name)) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Every place that the description reads.
    fn places(&self) -> impl Iterator<Item = &Place> {
        let schemes = self.schemes.iter().flat_map(scheme::Scheme::places);
        let events = self.events.iter().flat_map(|shape| shape.values().flat_map(place::Value::places));
        schemes.chain(events)
    }
}
