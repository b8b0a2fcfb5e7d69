//! The vendor's own list of its events: where it is asked for, how it goes on
//! over pages, and what an entry says. Everything is data; nothing here asks
//! anybody.

mod page;
#[cfg(test)]
mod tests;

pub use page::{BadPage, Entry, NextPage, Page};

use super::moment::written_iso;
use super::place::Value;
use super::scheme::Unit;
use super::shape::{Param, TimeForm};
use crate::json::EachPath;
use crate::source::Pointer;
use crate::time::UnixMillis;
use crate::url_template::{NotFilled, OutboundUrl, UrlTemplate};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// Stands for the list's own URL where the path of one entry is read: only
/// what follows it counts.
pub(super) const BELOW: &str = "https://list";

/// How the vendor lists its events.
#[derive(Debug, Clone)]
pub struct EventList {
    pub(super) url: UrlTemplate<String>,
    /// Who asks, and what kind of secret shows it, in words.
    pub(super) auth: ListAuth,
    pub(super) secret: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) params: Vec<Param>,
    /// Where the entries of a page are, and the list that holds them: `None`
    /// is the answer itself.
    pub(super) items: EachPath,
    pub(super) holder: Option<Pointer>,
    pub(super) next: Next,
    /// A truth that says whether there is another page.
    pub(super) more: Option<Pointer>,
    pub(super) since: Option<Bound>,
    pub(super) until: Option<Bound>,
    /// How far back the vendor lists.
    pub(super) reach: Option<Duration>,
    pub(super) time: Vec<TimeForm>,
    /// Of a list of deliveries, whose entries are not what was delivered.
    pub(super) id: Vec<Value>,
    pub(super) event_type: Vec<Value>,
    pub(super) detail: Option<UrlTemplate<Pointer>>,
    pub(super) body: Option<Pointer>,
    pub(super) request_headers: Option<Pointer>,
}

/// How the list is shown who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListAuth {
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// `Authorization: Basic` with the secret `user:password`.
    Basic,
    /// The secret alone, in a header field of this name.
    Header(String),
}

/// Where the next page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// The `Link` header, `rel="next"`.
    Link,
    /// A URL in the answer.
    Url(Pointer),
    /// The first URL, with the last entry's value as this parameter.
    After { query: String, from: Pointer },
}

/// A parameter that bounds the time of what is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) query: String,
    pub(super) unit: Unit,
}

/// The span of time that is asked about; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Nothing older.
    pub from: UnixMillis,
    /// Nothing younger.
    pub until: UnixMillis,
}

impl EventList {
    /// How it is shown who asks.
    pub fn auth(&self) -> &ListAuth {
        &self.auth
    }

    /// What secret it wants, in words.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The header fields that every question has.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The parameters of its URL.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Its URL, where the endpoint names no other.
    pub fn url(&self) -> &UrlTemplate<String> {
        &self.url
    }

    /// How far back the vendor lists; `None`: nobody says.
    pub fn reach(&self) -> Option<Duration> {
        self.reach
    }

    /// Whether what was sent is said in an answer of its own, for each entry.
    pub fn has_detail(&self) -> bool {
        self.detail.is_some()
    }

    /// Whether it can be asked for what is younger than a time.
    pub fn knows_since(&self) -> bool {
        self.since.is_some()
    }

    /// Whether it says with which headers an event was sent.
    pub fn brings_headers(&self) -> bool {
        self.request_headers.is_some()
    }

    /// The URL of the first page.
    ///
    /// # Errors
    /// A parameter is missing or makes another path of it.
    pub fn first(
        &self,
        url: &UrlTemplate<String>,
        params: &BTreeMap<String, String>,
        window: Window,
    ) -> Result<OutboundUrl, NotFilled> {
        let value = |name: &String| {
            let default = || self.params.iter().find(|param| param.name == *name)?.default.as_ref();
            params.get(name).or_else(default).map(|text| Cow::Borrowed(text.as_str()))
        };
        let mut first = url.fill(value)?;
        for (bound, time) in [(&self.since, window.from), (&self.until, window.until)] {
            if let Some(bound) = bound {
                first = first.with_query(&bound.query, &written(time, bound.unit));
            }
        }
        Ok(first)
    }

    /// The URL of what an entry does not say itself, below the list's own;
    /// `None` where the entry says everything.
    ///
    /// # Errors
    /// The entry does not name itself, or names another path.
    pub fn detail(&self, first: &OutboundUrl, entry: &Entry) -> Result<Option<OutboundUrl>, BadPage> {
        let Some(detail) = &self.detail else { return Ok(None) };
        let below = detail
            .fill(|pointer| entry.value(pointer).map(Cow::Owned))
            .map_err(|_| BadPage::Unnamed(detail_text(detail)))?;
        let suffix = below.as_str().strip_prefix(BELOW).unwrap_or_default();
        let list = first.as_str().split('?').next().unwrap_or_default();
        // Below the list's own URL, so on its host.
        let url = OutboundUrl::pinned(&format!("{list}{suffix}"));
        url.map(Some).map_err(|_| BadPage::Unnamed(detail_text(detail)))
    }
}

/// A time as a parameter of a query.
fn written(time: UnixMillis, unit: Unit) -> String {
    match unit {
        Unit::Seconds => time.0.div_euclid(1_000).to_string(),
        Unit::Millis => time.0.to_string(),
        Unit::Iso | Unit::Http => written_iso(time),
    }
}

fn detail_text(detail: &UrlTemplate<Pointer>) -> String {
    detail.to_string().trim_start_matches(BELOW).to_owned()
}
