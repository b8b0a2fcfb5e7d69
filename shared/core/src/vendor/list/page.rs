//! What one answer of a list says. An answer that is not a page of it is
//! never taken for an empty one: that would say that nothing is missing.

use super::{EventList, Next};
use crate::http::{Headers, Request};
use crate::ids::EventType;
use crate::json::{self, JsonText};
use crate::source::{Pointer, Source};
use crate::time::UnixMillis;
use crate::url_template::OutboundUrl;
use crate::vendor::extract::{event_type, parts};
use crate::vendor::moment;
use crate::vendor::place::{Place, Value};
use crate::vendor::view::View;

/// One page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its entries, in the vendor's order.
    pub entries: Vec<Entry>,
    /// Where it goes on.
    pub next: NextPage,
}

/// Where a list goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextPage {
    /// Here.
    At(OutboundUrl),
    /// Nowhere: this page is the last.
    None,
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its own JSON.
    json: String,
    /// What identifies the event, where the list says it beside the content;
    /// one entry for each part.
    pub id: Option<Vec<Option<String>>>,
    /// What happened, where the list says it beside the content.
    pub event_type: Option<EventType>,
    /// When it happened or was sent.
    pub at: Option<UnixMillis>,
}

/// Why an answer is no page, or an entry of it no event; the texts show
/// nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPage {
    /// No JSON.
    #[error("it is not JSON")]
    NotJson,
    /// No list where the description says that one is.
    #[error("it has no list at `{0}`")]
    NoList(String),
    /// It does not say whether there is more.
    #[error("it does not say at `{0}` whether there is more")]
    NoMore(String),
    /// It says that there is more, and not where.
    #[error("it says that there is more, and not where")]
    NoNext,
    /// The next page would be asked of somebody else. The secret goes nowhere
    /// but to the list's own host.
    #[error("its next page is not at the list's own host")]
    OtherHost,
    /// An entry does not name what its content is read by.
    #[error("an entry has no value for `{0}`")]
    Unnamed(String),
    /// An entry has no content where the description says that it is.
    #[error("there is no content at `{0}`")]
    NoContent(String),
}

impl EventList {
    /// Reads one answer. `first` is the URL of the first page and `link` the
    /// answer's `Link` header.
    ///
    /// # Errors
    /// It is no page: nobody knows what is missing.
    pub fn page(&self, first: &OutboundUrl, body: &[u8], link: Option<&str>) -> Result<Page, BadPage> {
        let text = json::text(body).map_err(|_| BadPage::NotJson)?;
        self.is_list(text)?;
        let items = json::each(text, &self.items).map_err(|_| BadPage::NotJson)?;
        let entries: Vec<Entry> = items.iter().map(|item| self.entry(item.json)).collect();
        let next = self.next(first, text, entries.last(), link)?;
        Ok(Page { entries, next })
    }

    fn is_list(&self, text: &str) -> Result<(), BadPage> {
        let list = match &self.holder {
            None => JsonText::from_json(text).map_err(|_| BadPage::NotJson)?,
            Some(pointer) => one(text, pointer)?.ok_or_else(|| BadPage::NoList(pointer.to_string()))?,
        };
        if list.kind() == json::Kind::List {
            return Ok(());
        }
        Err(BadPage::NoList(self.holder.as_ref().map(ToString::to_string).unwrap_or_default()))
    }

    fn entry(&self, own: &str) -> Entry {
        let times = self.time.iter().filter_map(|form| form.from.source());
        let values = self.id.iter().chain(&self.event_type).flat_map(Value::places).filter_map(Place::source);
        let sources: Vec<Source> = times.chain(values).cloned().collect();
        let nothing = Request::carrying(Vec::new());
        let view = View::new(&nothing, Some(own), &sources);
        let at =
            self.time.iter().find_map(|form| moment::stated(&view.text(&form.from)?, form.unit, form.zone));
        Entry {
            id: parts(&view, &self.id),
            event_type: event_type(&view, &self.event_type),
            at,
            json: own.to_owned(),
        }
    }

    fn next(
        &self,
        first: &OutboundUrl,
        text: &str,
        last: Option<&Entry>,
        link: Option<&str>,
    ) -> Result<NextPage, BadPage> {
        let more = match &self.more {
            None => None,
            Some(pointer) => match one(text, pointer)?.as_ref().map(JsonText::as_json) {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => return Err(BadPage::NoMore(pointer.to_string())),
            },
        };
        if more == Some(false) {
            return Ok(NextPage::None);
        }
        let at = match &self.next {
            Next::Link => link.and_then(next_of).map(str::to_owned),
            Next::Url(pointer) => one(text, pointer)?.and_then(|url| url.key_part().map(String::from)),
            Next::After { query, from } => {
                let value = last.and_then(|last| last.value(from));
                return match (value, last) {
                    (Some(value), _) => Ok(NextPage::At(first.with_query(query, &value))),
                    // Without `more`, an empty page is the end.
                    (None, None) if more.is_none() => Ok(NextPage::None),
                    (None, _) => Err(BadPage::NoNext),
                };
            }
        };
        match at {
            Some(url) => match OutboundUrl::pinned(&url) {
                Ok(url) if url.same_origin(first) => Ok(NextPage::At(url)),
                _ => Err(BadPage::OtherHost),
            },
            None if more == Some(true) => Err(BadPage::NoNext),
            None => Ok(NextPage::None),
        }
    }

    /// What an entry, or what was read for it, says was sent: as if it had
    /// come, but unsigned, and its JSON written as the list writes it.
    ///
    /// # Errors
    /// It has no content where the description says that it is.
    pub fn sent(&self, told: &[u8]) -> Result<Request, BadPage> {
        let text = json::text(told).map_err(|_| BadPage::NotJson)?;
        let body = match &self.body {
            None => text.as_bytes().to_vec(),
            Some(pointer) => {
                let missing = || BadPage::NoContent(pointer.to_string());
                let content = one(text, pointer)?.ok_or_else(missing)?;
                match content.kind() {
                    json::Kind::Object | json::Kind::List => content.as_json().as_bytes().to_vec(),
                    // Some write what they sent as a text.
                    json::Kind::Text => content.key_part().ok_or_else(missing)?.into_owned().into_bytes(),
                    _ => return Err(missing()),
                }
            }
        };
        let mut request = Request::carrying(body);
        let said = match &self.request_headers {
            Some(pointer) => headers(one(text, pointer)?.as_ref()),
            None => Vec::new(),
        };
        // The content is JSON here, however it went over the wire.
        let json = ("content-type".to_owned(), "application/json".to_owned());
        request.headers = Headers::new(said.into_iter().chain([json]));
        Ok(request)
    }
}

impl Entry {
    /// The entry as the vendor writes it.
    pub fn json(&self) -> &str {
        &self.json
    }

    pub(super) fn value(&self, pointer: &Pointer) -> Option<String> {
        one(&self.json, pointer).ok()??.key_part().map(String::from)
    }
}

impl Request {
    /// A POST that carries this and says nothing else.
    fn carrying(body: Vec<u8>) -> Self {
        let (method, path, query) = ("POST".to_owned(), String::new(), String::new());
        Self { method, path, query, headers: Headers::default(), body }
    }
}

fn one(text: &str, pointer: &Pointer) -> Result<Option<JsonText>, BadPage> {
    let found = json::read(text, &[pointer]).map_err(|_| BadPage::NotJson)?.pop().flatten();
    Ok(found.and_then(|found| JsonText::from_json(found.json).ok()))
}

/// The header fields of an object of texts, but for those that spoke of how
/// the content went over the wire.
fn headers(said: Option<&JsonText>) -> Vec<(String, String)> {
    let Some(said) = said else { return Vec::new() };
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(said.as_json()).unwrap_or_default();
    let of_the_wire = |name: &str| {
        ["content-type", "content-encoding", "content-length", "transfer-encoding"]
            .iter()
            .any(|wire| name.eq_ignore_ascii_case(wire))
    };
    let texts = object.into_iter().filter(|(name, _)| !of_the_wire(name)).filter_map(|(name, value)| {
        let serde_json::Value::String(text) = value else { return None };
        Some((name, text))
    });
    texts.collect()
}

/// The URL of `rel="next"` in a `Link` header.
fn next_of(link: &str) -> Option<&str> {
    // A URL may hold commas, so entries are parted by their brackets.
    link.split('<').skip(1).find_map(|entry| {
        let (url, params) = entry.split_once('>')?;
        let is_next = params.split([';', ',']).any(|param| {
            let (name, value) = param.split_once('=').unwrap_or_default();
            let value = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel")
                && value.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("next"))
        });
        is_next.then_some(url.trim())
    })
}
