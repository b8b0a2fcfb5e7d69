//! Reading the truth: the question that an endpoint asks its vendor's API
//! about an event that is only a signal.

use super::destination::positive_span;
use super::rule::Fetched;
use super::rule::source;
use super::secret_ref::SecretRef;
use crate::document::{Document, Entry, Table};
use crate::outbound_header;
use crate::problem::Place;
use crate::secret::Secret;
use crate::source::{Pointer, Source};
use crate::url_template::UrlTemplate;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::Duration;

/// How long the API may take where the endpoint does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer than this nobody waits for a read: the message comes back.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);

/// What is asked, and what of the answer says how new it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// Where; its parts are places of the delivery.
    pub url: UrlTemplate<Source>,
    /// As whom.
    pub auth: Option<Auth>,
    /// Header fields that are the same for everything, e.g. a version.
    pub headers: Vec<(String, String)>,
    /// How long the whole answer may take.
    pub timeout: Duration,
    /// Where the answer says since when it is so.
    pub time: Option<Pointer>,
    /// Where the answer has a number that grows with each change.
    pub version: Option<Pointer>,
    /// Where it is declared.
    pub place: Place,
}

/// What shows the API who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer SECRET`.
    Bearer(SecretRef),
    /// `Authorization: Basic` with the secret `user:password`.
    Basic(SecretRef),
    /// The secret alone, in a header field of this name.
    ApiKey(String, SecretRef),
}

impl Auth {
    /// Where its secret is kept.
    pub fn secret(&self) -> &SecretRef {
        match self {
            Self::Bearer(secret) | Self::Basic(secret) | Self::ApiKey(_, secret) => secret,
        }
    }

    /// The header field that shows who asks. White space around a secret is how
    /// it was pasted, and no header could carry it. `None`: it is blank.
    pub(crate) fn field(&self, secret: &Secret) -> (String, Option<Secret>) {
        let secret = secret.expose().trim_ascii();
        let (name, value) = match self {
            Self::Bearer(_) => ("authorization", [b"Bearer ", secret].concat()),
            Self::Basic(_) => ("authorization", format!("Basic {}", STANDARD.encode(secret)).into_bytes()),
            Self::ApiKey(name, _) => (name.as_str(), secret.to_vec()),
        };
        (name.to_owned(), Secret::new(value).ok())
    }
}

pub(super) const KEYS: &[&str] =
    &["url", "bearer", "basic", "api_key", "headers", "timeout", "time", "version"];
const AUTHS: [&str; 3] = ["bearer", "basic", "api_key"];

/// What to do about a header field that would show who asks.
const WHO_ASKS: &str = "bearer, basic or api_key say who asks";

/// Reads `[endpoint.NAME.fetch]`.
pub(super) fn read(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Fetch> {
    let table = document.table(entry)?;
    document.only(table, "a fetch", KEYS);
    let url = match table.get("url") {
        Some(entry) => document.read(entry, |text| UrlTemplate::with_parts(text, part)),
        None => {
            let remedy = "url = \"https://api.example.com/v1/jobs/{/data/id}\"";
            document.absent(table.at, "`fetch` does not say what is asked", Some(remedy.to_owned()));
            None
        }
    };
    let auth = auth(document, table);
    let headers = table
        .get("headers")
        .map_or(Some(Vec::new()), |entry| outbound_header::fixed(document, entry, WHO_ASKS));
    let timeout = table.get("timeout").map_or(Some(DEFAULT_TIMEOUT), |entry| timeout(document, entry));
    let time = table.get("time").map(|entry| pointer(document, entry));
    let version = table.get("version").map(|entry| pointer(document, entry));
    Some(Fetch {
        url: url?,
        auth: auth?,
        headers: headers?,
        timeout: timeout?,
        time: time.map_or(Some(None), |time| time.map(Some))?,
        version: version.map_or(Some(None), |version| version.map(Some))?,
        place: document.place(table.at),
    })
}

/// What stands in the braces of the URL: a place of the delivery.
fn part(text: &str) -> Result<Source, String> {
    match Source::parse(text) {
        Ok(Source::Fetch(_)) => Err("the answer is not there before it is asked for".to_owned()),
        Ok(source) => Ok(source),
        Err(error) => Err(error.to_string()),
    }
}

fn auth(document: &mut Document<'_>, table: Table<'_>) -> Option<Option<Auth>> {
    let mut given = table.entries().filter(|entry| AUTHS.contains(&entry.key));
    let Some(entry) = given.next() else { return Some(None) };
    for more in given {
        let message = format!("`{}` says already who asks; `{}` is one more", entry.key, more.key);
        document.problem(more.key_at, message, None);
    }
    let secret = |document: &mut Document<'_>, entry| document.read(entry, SecretRef::parse);
    let auth = match entry.key {
        "bearer" => Auth::Bearer(secret(document, entry)?),
        "basic" => Auth::Basic(secret(document, entry)?),
        _ => {
            let keys: Vec<Entry<'_>> = document.table(entry)?.entries().collect();
            let [key] = keys[..] else {
                let remedy = "api_key = { X-Api-Key = \"secretsmanager:..\" }";
                let message = "`api_key` names one header field and its secret";
                document.problem(entry.value_at, message, Some(remedy.to_owned()));
                return None;
            };
            let name = outbound_header::name(document, (key.key, key.key_at), WHO_ASKS)?;
            Auth::ApiKey(name, secret(document, key)?)
        }
    };
    Some(Some(auth))
}

fn timeout(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Duration> {
    let span = positive_span(document, entry)?;
    if span > LONGEST_TIMEOUT {
        let message = format!("`timeout` of a fetch is at most {}", super::value::show_span(LONGEST_TIMEOUT));
        document.problem(entry.value_at, message, None);
        return None;
    }
    Some(span)
}

fn pointer(document: &mut Document<'_>, entry: Entry<'_>) -> Option<Pointer> {
    let text = document.text(entry)?;
    match source(document, Fetched::Known, text)? {
        Source::Fetch(pointer) => Some(pointer),
        _ => {
            let message = format!("`{}` of a fetch is a place in the answer", entry.key);
            document.problem(text.at, message, Some("\"fetch:/pointer\"".to_owned()));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_is_shown_as_the_api_wants_it() {
        let secret = Secret::new("user:invented\n").unwrap();
        let place = || SecretRef::parse("env:API").unwrap();
        let shown = |auth: Auth| {
            let (name, value) = auth.field(&secret);
            (name, String::from_utf8(value.unwrap().expose().to_vec()).unwrap())
        };
        let (name, value) = shown(Auth::Bearer(place()));
        assert_eq!((name.as_str(), value.as_str()), ("authorization", "Bearer user:invented"));
        let (_, value) = shown(Auth::Basic(place()));
        assert_eq!(value, "Basic dXNlcjppbnZlbnRlZA==");
        let (name, value) = shown(Auth::ApiKey("x-api-key".to_owned(), place()));
        assert_eq!((name.as_str(), value.as_str()), ("x-api-key", "user:invented"));
    }
}
