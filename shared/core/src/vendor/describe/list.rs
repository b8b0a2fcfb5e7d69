//! `[list]`: the vendor's own list of its events.

use super::super::list::{BELOW, Bound, EventList, ListAuth, Next};
use super::super::place::{Place, Value};
use super::super::scheme::Unit;
use super::super::shape::{EventShape, IdentityForm};
use super::event::{times, values};
use super::{params, section, span, string};
use crate::document::{Document, Table};
use crate::json::EachPath;
use crate::outbound_header;
use crate::source::{Pointer, Source};
use crate::url_template::UrlTemplate;
use toml::de::DeValue;

pub(super) const LIST: &[&str] = &[
    "url",
    "auth",
    "secret",
    "headers",
    "params",
    "items",
    "next",
    "more",
    "since",
    "until",
    "reach",
    "time",
    "id",
    "type",
    "detail",
    "body",
    "request_headers",
];
pub(super) const AUTH: &[&str] = &["header"];
pub(super) const NEXT: &[&str] = &["url", "query", "from"];
pub(super) const BOUND: &[&str] = &["query", "unit"];

/// What to do about a header field that would show who asks.
const WHO_ASKS: &str = "`auth` says who asks";

const UNITS: &[(&str, Unit)] = &[("s", Unit::Seconds), ("ms", Unit::Millis), ("iso", Unit::Iso)];

pub(super) fn list(
    document: &mut Document<'_>,
    root: Table<'_>,
    events: &[EventShape],
) -> Option<Box<EventList>> {
    let table = section(document, root, "list")?;
    document.only(table, "a list", LIST);
    for key in ["url", "auth", "secret", "items", "next", "time"] {
        if table.get(key).is_none() {
            let remedy = needed(key).to_owned();
            document.absent(table.at, format!("`list.{key}` is missing"), Some(remedy));
        }
    }
    let params = params(document, table);
    let known = |name: &str| match params.iter().any(|param| param.name == name) {
        true => Ok(name.to_owned()),
        false => Err(format!("no such parameter is declared: [list.params.{name}]")),
    };
    let url = table.get("url").and_then(|entry| document.read(entry, |text| UrlTemplate::parse(text, known)));
    let (holder, items) = items(document, table).unzip();
    let list = EventList {
        auth: auth(document, table).unwrap_or(ListAuth::Bearer),
        secret: string(document, table, "secret").unwrap_or_default(),
        headers: table
            .get("headers")
            .and_then(|entry| outbound_header::fixed(document, entry, WHO_ASKS))
            .unwrap_or_default(),
        next: next(document, table).unwrap_or(Next::Link),
        more: pointer(document, table, "more"),
        since: bound(document, table, "since"),
        until: bound(document, table, "until"),
        reach: span(document, table, "reach"),
        time: times(document, table),
        id: values(document, table, "id"),
        event_type: values(document, table, "type"),
        detail: detail(document, table),
        body: pointer(document, table, "body"),
        request_headers: pointer(document, table, "request_headers"),
        holder: holder.flatten(),
        // Without either there is a problem already, and no description.
        url: url?,
        items: items?,
        params,
    };
    check(document, table, &list, events);
    Some(Box::new(list))
}

/// What a key that must be there says.
fn needed(key: &str) -> &'static str {
    match key {
        "url" => "url = \"https://api.example.com/v1/events\"",
        "auth" => "auth = \"bearer\", \"basic\" or { header = \"X-Api-Key\" }",
        "secret" => "what kind of secret may read the list, in words",
        "items" => "items = \"/data/*\", or \"/*\" where the answer is the list itself",
        "next" => "next = \"link\", { url = \"/pointer\" } or { query = \"after\", from = \"/id\" }",
        _ => "time = { from = \"/created\", unit = \"s\" }",
    }
}

/// The list within the answer, and the entries of it.
fn items(document: &mut Document<'_>, table: Table<'_>) -> Option<(Option<Pointer>, EachPath)> {
    let entry = table.get("items")?;
    let text = document.text(entry)?;
    let path = document.accept(text, EachPath::parse(text.text))?;
    let holder = match text.text.strip_suffix("/*").filter(|_| path.stars() == 1) {
        Some("") => None,
        Some(holder) => Some(document.accept(text, Pointer::parse(holder))?),
        None => {
            let message = "`items` are those of one list: it ends in `/*` and has no other `*`";
            document.problem(text.at, message, None);
            return None;
        }
    };
    Some((holder, path))
}

fn auth(document: &mut Document<'_>, table: Table<'_>) -> Option<ListAuth> {
    let entry = table.get("auth")?;
    if !matches!(entry.value, DeValue::Table(_)) {
        let basic = document.word(entry, &[("bearer", false), ("basic", true)])?;
        return Some(if basic { ListAuth::Basic } else { ListAuth::Bearer });
    }
    let table = document.table(entry)?;
    document.only(table, "`auth`", AUTH);
    let Some(header) = table.get("header") else {
        document.absent(
            table.at,
            "`auth.header` is missing",
            Some("the header that holds the secret".into()),
        );
        return None;
    };
    let name = document.text(header)?;
    outbound_header::name(document, (name.text, name.at), WHO_ASKS).map(ListAuth::Header)
}

fn next(document: &mut Document<'_>, table: Table<'_>) -> Option<Next> {
    let entry = table.get("next")?;
    if !matches!(entry.value, DeValue::Table(_)) {
        document.word(entry, &[("link", ())])?;
        return Some(Next::Link);
    }
    let table = document.table(entry)?;
    document.only(table, "`next`", NEXT);
    let (query, from) = (string(document, table, "query"), pointer(document, table, "from"));
    match (pointer(document, table, "url"), query, from) {
        (Some(url), None, None) => Some(Next::Url(url)),
        (None, Some(query), Some(from)) => Some(Next::After { query, from }),
        _ => {
            let message =
                "`next` is where the answer has a URL, or a parameter and what it is of the last entry";
            document.problem(entry.value_at, message, Some(needed("next").to_owned()));
            None
        }
    }
}

fn bound(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Bound> {
    let bound = section(document, table, key)?;
    document.only(bound, &format!("`{key}`"), BOUND);
    let query = string(document, bound, "query");
    let unit = bound.get("unit").and_then(|entry| document.word(entry, UNITS));
    for key in BOUND {
        if bound.get(key).is_none() {
            document.absent(bound.at, format!("`{key}` is missing"), None);
        }
    }
    Some(Bound { query: query?, unit: unit? })
}

/// The path below the list's own URL.
fn detail(document: &mut Document<'_>, table: Table<'_>) -> Option<UrlTemplate<Pointer>> {
    let entry = table.get("detail")?;
    let text = document.text(entry)?;
    if !text.text.starts_with('/') {
        let message = "`detail` is a path below the list's URL";
        document.problem(text.at, message, Some("detail = \"/{/id}\"".to_owned()));
        return None;
    }
    let part = |text: &str| Pointer::parse(text).map_err(|error| error.to_string());
    let below = format!("{BELOW}{}", text.text);
    document.accept(text, UrlTemplate::with_parts(&below, part))
}

fn pointer(document: &mut Document<'_>, table: Table<'_>, key: &str) -> Option<Pointer> {
    table.get(key).and_then(|entry| document.read(entry, Pointer::parse))
}

/// What the parts of a list mean only together, and together with the events.
fn check(document: &mut Document<'_>, table: Table<'_>, list: &EventList, events: &[EventShape]) {
    let at = |key: &str| table.get(key).map_or(table.at, |entry| entry.key_at);
    for key in ["id", "type"] {
        match (list.detail.is_some(), table.get(key)) {
            (true, None) => {
                let message = format!("`list.{key}` is missing: an entry is not what was sent");
                document.absent(table.at, message, None);
            }
            (false, Some(entry)) => {
                let message = format!("`{key}` is what `[[event]]` says of the content of an entry");
                document.problem(entry.key_at, message, Some("it belongs to a list with `detail`".into()));
            }
            _ => {}
        }
    }
    let of_entry = |place: &Place| matches!(place, Place::Source(Source::Body(_)));
    let places = list.id.iter().chain(&list.event_type).flat_map(Value::places);
    for place in places.chain(list.time.iter().map(|form| &form.from)).filter(|place| !of_entry(place)) {
        document.problem(table.at, format!("`{place}` is not part of an entry"), None);
    }
    let one_by_id = |shape: &EventShape| {
        shape.identity == IdentityForm::Strong && !shape.or_digest && shape.each.is_none()
    };
    if !events.iter().all(one_by_id) {
        let message =
            "a list is compared by ids: every `[[event]]` is the whole delivery and has a strong one";
        document.problem(at("items"), message, None);
    }
    let by_header = |value: &Value| {
        value.places().any(|place| matches!(place, Place::Source(Source::Header(_) | Source::Query(_))))
    };
    let ids = events.iter().flat_map(|shape| &shape.id);
    if list.request_headers.is_none() && ids.into_iter().any(by_header) {
        let message = "the id of an event stands in a header, and the list does not say them";
        document.problem(table.at, message, Some("request_headers = \"/request/headers\"".to_owned()));
    }
    if list.detail.is_some() && events.iter().any(|shape| shape.id.len() != list.id.len()) {
        let message = "`id` has other parts than that of `[[event]]`: nothing would be found";
        document.problem(at("id"), message, None);
    }
}
