//! Did every event arrive? A vendor's own list of its events, compared with
//! what was received; and what never arrived, taken in on somebody's word.
//!
//! Nothing here is part of the protocol: a comparison only reads, and an event
//! that is brought is created as a delivery would have created it, on record
//! with who brought it. Whoever comes second, the vendor's webhook or the one
//! who brings, finds it there.

mod bring;
mod pages;
mod standing;

pub use bring::{Bring, Brought, NotBrought, OnWhoseWord};
pub use pages::{LONGEST_WAIT, MOST_PAGES, NotListed, Pages};
pub use standing::{CLOCK_MARGIN, Recognised, Standing, Unproven, standing};

use crate::config::{Endpoint, ListAccess, SecretName, TenantFrom};
use crate::deployment::Deployment;
use crate::ids::{EventType, Tenant};
use crate::ingest::listed::{self, NotAnEvent, Told};
use crate::key::EventKey;
use crate::ports::{Entropy, Outbound, Store, StoreError};
use crate::time::UnixMillis;
use crate::vendor::list::{Entry, EventList, Page, Window};
use futures_util::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use thiserror::Error;

/// Events that are looked up side by side.
const SIDE_BY_SIDE: usize = 16;

/// Whose list is compared, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// Its vendor's list.
    pub list: &'a EventList,
    /// How it is asked.
    pub access: &'a ListAccess,
    /// Whose events, where the endpoint's URL says it.
    pub tenant: Option<&'a Tenant>,
}

/// Why an endpoint's events cannot be compared; each with what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotComparable {
    /// The vendor's description knows no list.
    #[error(
        "the description of {0} knows no list of its events: describe it with [list] in a vendors/{0}.toml of your own (docs/vendors.md)"
    )]
    NoList(String),
    /// The endpoint does not say how it is asked.
    #[error(
        "endpoint `{0}` does not say how its vendor's list is asked: [endpoint.{0}.list] secret = \"..\" and since"
    )]
    NoAccess(String),
    /// Whose events is said by the URL alone, and nobody says it here.
    #[error("endpoint `{0}` serves many: say whose events with --tenant")]
    WhoseEvents(String),
    /// A tenant is said, and the endpoint has none in its URL.
    #[error("endpoint `{0}` has no tenant in its URL: leave --tenant out")]
    NoTenant(String),
    /// Whose event it is stands in the content, and the list says the content
    /// of each event in an answer of its own.
    #[error("whose an event of endpoint `{0}` is stands in its content, which the list of {1} does not show")]
    TenantInContent(String, String),
}

impl<'a> Subject<'a> {
    /// The endpoint's list, if it can be compared.
    ///
    /// # Errors
    /// It cannot, and what to do.
    pub fn of(endpoint: &'a Endpoint, tenant: Option<&'a Tenant>) -> Result<Self, NotComparable> {
        let name = || endpoint.name.to_string();
        let vendor = endpoint.vendor.name().to_string();
        let list = endpoint.vendor.list().ok_or_else(|| NotComparable::NoList(vendor.clone()))?;
        let access = endpoint.list.as_ref().ok_or_else(|| NotComparable::NoAccess(name()))?;
        match (&endpoint.tenant, tenant) {
            (Some(TenantFrom::Path), None) => return Err(NotComparable::WhoseEvents(name())),
            (Some(TenantFrom::Path), Some(_)) => {}
            (_, Some(_)) => return Err(NotComparable::NoTenant(name())),
            (Some(_), None) if list.has_detail() => {
                return Err(NotComparable::TenantInContent(name(), vendor));
            }
            (_, None) => {}
        }
        Ok(Self { endpoint, list, access, tenant })
    }

    /// How much later than it first came an event may have been sent. A list of
    /// events says when each happened, which is never later; one of deliveries
    /// says when this one was sent, and repeats come for as long as the vendor
    /// and its people make them.
    fn sent_late(&self) -> Duration {
        let retry = self.endpoint.vendor.retry();
        match (self.list.has_detail(), retry.horizon, retry.resend) {
            (false, _, _) => Duration::ZERO,
            (true, Some(horizon), Some(resend)) => horizon.max(resend),
            // Nobody knows for how long: then an absent record proves nothing.
            (true, _, _) => Duration::MAX,
        }
    }

    /// The secret with which the list is asked. `None`: each tenant has one,
    /// and none is said.
    pub fn secret(&self) -> Option<SecretName> {
        self.access.auth.secret().of(self.tenant)
    }
}

/// One event of the list that was looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its key; `None` where it cannot be read.
    pub key: Option<EventKey>,
    /// The vendor's id; empty where it cannot be read.
    pub id: String,
    /// Its type.
    pub event_type: Option<EventType>,
    /// When it happened, or was sent.
    pub at: Option<UnixMillis>,
    /// What is known of it here.
    pub standing: Standing,
    /// The list's own entry.
    pub entry: Entry,
}

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that somebody may want to look at, in the vendor's order.
    pub events: Vec<Listed>,
    /// How many stand how, by the word for it, the others included.
    pub counts: BTreeMap<&'static str, usize>,
    /// How many pages were read.
    pub pages: usize,
    /// The list goes on, and was not read to its end.
    pub more: bool,
}

/// Why nothing is known for certain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotCompared {
    /// The list was not read.
    #[error(transparent)]
    List(#[from] NotListed),
    /// The tables did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Compares over its ports.
#[derive(Debug)]
pub struct Compare<'a, S, E> {
    /// The tables.
    pub store: &'a S,
    /// Randomness: an entry is read as a delivery is, which draws a nonce.
    pub entropy: &'a E,
    /// Windows.
    pub deployment: &'a Deployment,
    /// What the time is.
    pub now: UnixMillis,
}

impl<S: Store, E: Entropy> Compare<'_, S, E> {
    /// Reads the list over a span of time and looks every event up, until
    /// `most` of them want to be looked at.
    ///
    /// # Errors
    /// The list or the tables do not answer: what is missing is not known.
    pub async fn all<A: Outbound, W: AsyncFn(Duration)>(
        &self,
        subject: Subject<'_>,
        pages: &mut Pages<'_, A, W>,
        window: Window,
        most: usize,
    ) -> Result<Found, NotCompared> {
        let mut found = Found::default();
        let mut seen = HashSet::new();
        while let Some(page) = pages.next().await? {
            found.pages += 1;
            for listed in self.page(subject, page, window, &mut seen).await? {
                *found.counts.entry(listed.standing.as_str()).or_default() += 1;
                if !listed.standing.is_plain() {
                    found.events.push(listed);
                }
            }
            if found.events.len() >= most {
                found.more = !pages.is_over() || found.events.len() > most;
                found.events.truncate(most);
                return Ok(found);
            }
        }
        found.more = pages.is_cut_short();
        Ok(found)
    }

    async fn page(
        &self,
        subject: Subject<'_>,
        page: Page,
        window: Window,
        seen: &mut HashSet<EventKey>,
    ) -> Result<Vec<Listed>, StoreError> {
        // A list tells whole seconds.
        let from = UnixMillis(window.from.0.div_euclid(1_000) * 1_000);
        let is_asked = |entry: &Entry| entry.at.is_none_or(|at| from <= at && at <= window.until);
        let listed = page.entries.into_iter().filter(is_asked).map(|entry| self.read(subject, entry));
        // A list of deliveries has an event as often as it was sent.
        let distinct: Vec<Listed> =
            listed.filter(|listed| listed.key.as_ref().is_none_or(|key| seen.insert(key.clone()))).collect();
        let recognised = Recognised {
            now: self.now,
            window: self.deployment.limits(&subject.endpoint.name).window,
            since: subject.access.since,
            sent_late: subject.sent_late(),
        };
        stream::iter(distinct)
            .map(|mut listed| async {
                if let (Some(key), Standing::NeverArrived) = (&listed.key, &listed.standing) {
                    let stored = self.store.event(key).await?;
                    let event_type = listed.event_type.as_ref();
                    listed.standing =
                        standing(subject.endpoint, stored.as_ref(), (event_type, listed.at), recognised);
                }
                Ok(listed)
            })
            .buffered(SIDE_BY_SIDE)
            .try_collect()
            .await
    }

    /// What an entry says of its event, before it is looked up.
    fn read(&self, subject: Subject<'_>, entry: Entry) -> Listed {
        let mut listed = Listed {
            key: None,
            id: String::new(),
            event_type: entry.event_type.clone(),
            at: entry.at,
            standing: Standing::NeverArrived,
            entry,
        };
        if subject.list.has_detail() {
            match &listed.entry.id {
                Some(parts) => {
                    let parts: Vec<Option<&str>> = parts.iter().map(Option::as_deref).collect();
                    listed.id = parts.iter().map(|part| part.unwrap_or("-")).collect::<Vec<_>>().join(" ");
                    listed.key = Some(EventKey::new(&subject.endpoint.dedup_scope, subject.tenant, &parts));
                }
                None => listed.standing = Standing::Unreadable("the entry has no id".to_owned()),
            }
            return listed;
        }
        let correlation = self.entropy.correlation();
        let told = Told { tenant: subject.tenant, correlation: &correlation, now: self.now };
        let limits = self.deployment.limits(&subject.endpoint.name);
        let request = match subject.list.sent(listed.entry.json().as_bytes()) {
            Ok(request) => request,
            Err(error) => {
                listed.standing = Standing::Unreadable(error.to_string());
                return listed;
            }
        };
        match listed::event(subject.endpoint, &request, told, &limits, self.entropy) {
            Ok((event, _)) => {
                listed.key = Some(event.key);
                listed.id = event.id;
                listed.event_type = event.event_type;
            }
            Err(NotAnEvent::Filtered) => listed.standing = Standing::Filtered,
            Err(error) => listed.standing = Standing::Unreadable(error.to_string()),
        }
        listed
    }
}
