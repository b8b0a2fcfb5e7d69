//! From a piece of the input to an event: its id as the vendor's description
//! says, and the headers that all its attempts share.

use super::input::{Piece, Position};
use super::sign::Signer;
use http::{HeaderName, HeaderValue};
use sekali::json::{self, JsonText};
use sekali::key::EventHash;
use sekali::source::Pointer;
use sekali::vendor::Identity;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An event, however often the input has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Where the input has it first.
    pub at: Position,
    /// Its id, for people.
    pub id: String,
    /// What makes it the same event.
    pub key: SeriesKey,
    /// What makes its content the same, as the vendor's description says.
    pub hash: EventHash,
    /// Headers that every attempt carries, the id's among them.
    pub headers: Vec<(String, String)>,
    /// The bytes that every attempt carries.
    pub body: Vec<u8>,
}

/// One delivery series goes out for each key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SeriesKey(EventHash);

impl SeriesKey {
    /// A digest in lower-case hex.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Why a piece of the input is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAnEvent {
    /// The content type says JSON.
    #[error("it is not JSON, as its content type says")]
    NotJson,
    /// Not of the form `deliveries`.
    #[error("it is not {{\"id\": .., \"headers\": {{..}}, \"body\": ..}} with at least a body")]
    NotADelivery,
    /// No header can carry it.
    #[error("its header {0} is none that can be sent")]
    NotAHeader(String),
    /// The vendor keeps the type in a header that nothing gives.
    #[error(
        "{vendor} says an event's type in the header {header}, which nothing gives: --header '{header}: ..'"
    )]
    NoType {
        /// Who.
        vendor: String,
        /// Where.
        header: String,
    },
    /// `--id` points nowhere.
    #[error("it has no text or number at {0}, where --id says its id is")]
    NoId(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    id: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// The body and what the input says of it besides.
struct Parts {
    id: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Reads a piece; `written` ones carry their headers and id beside the body.
///
/// # Errors
/// See [`NotAnEvent`]; the others go on.
pub(super) fn event(signer: &Signer, piece: Piece, written: bool) -> Result<Event, NotAnEvent> {
    let at = piece.at;
    let Parts { id, headers, body } = match written {
        true => parts(&piece.bytes).ok_or(NotAnEvent::NotADelivery)?,
        false => Parts { id: None, headers: Vec::new(), body: piece.bytes },
    };
    let mut headers = signer.common(headers);
    if says_json(&headers) && json::text(&body).and_then(|text| json::read(text, &[])).is_err() {
        return Err(NotAnEvent::NotJson);
    }
    let id = match (id, &signer.id) {
        (Some(id), _) => id,
        (None, Some(pointer)) => pointed(&body, pointer)?,
        (None, None) => format!("msg_{}", &EventHash::of([body.as_slice()]).as_str()[..32]),
    };
    let mut request = signer.request(&headers, body);
    if let Some(header) = signer.vendor.id_header(&request) {
        headers.push((header.to_owned(), id.clone()));
        request = signer.request(&headers, request.body);
    }
    if let Some((name, _)) = headers.iter().find(|(name, value)| !is_header(name, value)) {
        return Err(NotAnEvent::NotAHeader(name.chars().filter(|c| !c.is_control()).collect()));
    }
    if let Some(header) = signer.vendor.type_header(&request) {
        return Err(NotAnEvent::NoType {
            vendor: signer.vendor.name().to_string(),
            header: header.to_owned(),
        });
    }
    let content = EventHash::of([request.body.as_slice()]);
    let (named, hash) = match signer.vendor.events(&request, &[]) {
        Ok(facts) => {
            let hash = EventHash::of(facts.iter().map(|facts| facts.hash.as_str().as_bytes()));
            (facts.iter().map(|facts| named(&facts.identity, &facts.hash)).collect(), hash)
        }
        // The description finds no id: what the input says is all there is.
        Err(_) => (vec![Some(vec![Some(id.clone())])], content),
    };
    let key = series_key(&named, at);
    Ok(Event { at, id: shown(&named, &id), key, hash, headers, body: request.body })
}

fn parts(bytes: &[u8]) -> Option<Parts> {
    let Written { id, headers, body } = serde_json::from_slice(bytes).ok()?;
    let body = match body.get().starts_with('"') {
        true => serde_json::from_str::<String>(body.get()).ok()?.into_bytes(),
        false => body.get().as_bytes().to_vec(),
    };
    Some(Parts { id, headers: headers.into_iter().collect(), body })
}

fn says_json(headers: &[(String, String)]) -> bool {
    let declared = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let media = declared.and_then(|(_, value)| value.split(';').next()).unwrap_or_default().trim();
    media.ends_with("/json") || media.ends_with("+json")
}

fn is_header(name: &str, value: &str) -> bool {
    HeaderName::try_from(name).is_ok() && HeaderValue::try_from(value).is_ok()
}

fn pointed(body: &[u8], pointer: &Pointer) -> Result<String, NotAnEvent> {
    let found = || {
        let found = json::read(json::text(body).ok()?, &[pointer]).ok()?.pop()??;
        let value = JsonText::from_json(found.json).ok()?;
        value.key_part().map(|part| part.into_owned())
    };
    found().ok_or_else(|| NotAnEvent::NoId(pointer.as_str().to_owned()))
}

type Named = Option<Vec<Option<String>>>;

/// What names an event; `None` for a ping, which nothing does. Where two
/// events may share an id, the content tells them apart.
fn named(identity: &Identity, hash: &EventHash) -> Named {
    match identity {
        Identity::Id(parts) => Some(parts.clone()),
        Identity::Weak(parts) => {
            Some(parts.iter().cloned().chain([Some(hash.as_str().to_owned())]).collect())
        }
        Identity::None => None,
    }
}

/// A delivery with a ping in it is never the same as another.
fn series_key(named: &[Named], at: Position) -> SeriesKey {
    let text = match named.iter().any(Option::is_none) {
        true => at.to_string(),
        false => serde_json::json!(named).to_string(),
    };
    SeriesKey(EventHash::of([text.as_bytes()]))
}

/// Most characters of an id that are shown.
const MOST_SHOWN: usize = 80;

fn shown(named: &[Named], else_this: &str) -> String {
    let parts = named.first().and_then(Option::as_ref);
    let first = match parts {
        Some(parts) => parts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/"),
        None => else_this.to_owned(),
    };
    let plain = first.chars().take(MOST_SHOWN).map(|c| if c.is_control() { '?' } else { c });
    let first: String = plain.collect();
    if named.len() > 1 { format!("{first} and {} more", named.len() - 1) } else { first }
}

#[cfg(test)]
mod tests {
    use super::super::sign::tests::signer;
    use super::*;

    fn read(vendor: &str, text: &str) -> Event {
        let piece = Piece { at: Position::Line(1), bytes: text.into() };
        event(&signer(vendor), piece, false).unwrap()
    }

    fn header<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
        let found = event.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn the_id_is_where_the_vendors_description_says() {
        let stripe = read("stripe", r#"{"id":"evt_1","type":"a"}"#);
        assert_eq!(stripe.id, "evt_1");
        let calendly = r#"{"event":"a","payload":{"uri":"b"},"created_at":"c"}"#;
        assert_eq!(read("calendly", calendly).id, "a/b/c");
        let batch = r#"[{"eventId":1,"subscriptionType":"a"},{"eventId":2,"subscriptionType":"a"}]"#;
        assert!(read("hubspot", batch).id.ends_with(" and 1 more"));
    }

    #[test]
    fn a_vendor_with_its_id_in_a_header_gets_the_same_one_for_the_same_content() {
        let (first, again) = (read("github", "{\"a\":1}"), read("github", "{\"a\":1}"));
        let other = read("github", "{\"a\":2}");
        assert_eq!(header(&first, "x-github-delivery"), Some(first.id.as_str()));
        assert_eq!((&first.key, &first.id), (&again.key, &again.id));
        assert_ne!(first.key, other.key);
    }

    #[test]
    fn the_same_id_with_a_field_that_changes_by_itself_is_the_same_content() {
        let body = |pending, amount| {
            format!(r#"{{"id":"evt_1","type":"a","pending_webhooks":{pending},"amount":{amount}}}"#)
        };
        let first = read("stripe", &body(1, 5));
        let (retry, changed) = (read("stripe", &body(2, 5)), read("stripe", &body(1, 6)));
        assert_eq!((&first.key, &first.hash), (&retry.key, &retry.hash));
        assert_eq!(first.key, changed.key);
        assert_ne!(first.hash, changed.hash);
    }

    #[test]
    fn parts_of_an_id_never_run_into_one_another() {
        let of = |event, uri| {
            let body = format!(r#"{{"event":"{event}","payload":{{"uri":"{uri}"}},"created_at":"c"}}"#);
            read("calendly", &body).key
        };
        assert_ne!(of("ab", "c"), of("a", "bc"));
    }

    #[test]
    fn an_id_can_be_pointed_at_or_given() {
        let signer = super::super::sign::Signer {
            id: Some(Pointer::parse("/n").unwrap()),
            ..signer("standard-webhooks")
        };
        let read = |text: &str, written| {
            let piece = Piece { at: Position::Line(1), bytes: text.into() };
            event(&signer, piece, written)
        };
        let pointed = read(r#"{"n":7}"#, false).unwrap();
        assert_eq!((pointed.id.as_str(), header(&pointed, "webhook-id")), ("7", Some("7")));
        assert_eq!(read("{}", false), Err(NotAnEvent::NoId("/n".to_owned())));
        let given = read(r#"{"id":"m_1","headers":{"X-Kind":"a"},"body":{"n": 1.0}}"#, true).unwrap();
        assert_eq!((given.id.as_str(), header(&given, "x-kind")), ("m_1", Some("a")));
        assert_eq!(given.body, br#"{"n": 1.0}"#);
        let text = read(r#"{"headers":{"content-type":"text/plain"},"id":"a","body":"hi\n"}"#, true).unwrap();
        assert_eq!((text.body.as_slice(), text.headers.len()), (&b"hi\n"[..], 2));
    }

    #[test]
    fn what_is_no_event_is_said() {
        let read = |text: &str, written| {
            let piece = Piece { at: Position::Line(1), bytes: text.into() };
            event(&signer("stripe"), piece, written).unwrap_err()
        };
        assert_eq!(read("{", false), NotAnEvent::NotJson);
        assert_eq!(read("{}", true), NotAnEvent::NotADelivery);
        let injected = read(r#"{"body":{},"headers":{"X-A":"a\r\nX-B: b"}}"#, true);
        assert_eq!(injected, NotAnEvent::NotAHeader("X-A".to_owned()));
        assert_eq!(read(r#"{"body":{},"headrs":{}}"#, true), NotAnEvent::NotADelivery);
    }
}
