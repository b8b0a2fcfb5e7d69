//! Requests that are no events and have an answer of their own: endpoint
//! verification, challenges, test buttons.

use super::Vendor;
use super::key_url::leads_to;
use super::keys::{Keys, Material};
use super::params::Params;
use super::place::{MaybePlace, Place};
use super::shape::{Content, Handshake, JsonAnswer};
use super::template::{Part, Template};
use super::verify::Verified;
use super::view::{Single, View};
use crate::http::{Headers, Request};
use crate::json::{self, JsonText};
use crate::source::Source;
use crate::url_template::OutboundUrl;
use subtle::ConstantTimeEq;

/// A challenge is no longer. Whatever a stranger sends is given back no further
/// than this: an answer that a gateway cannot carry is none.
const LONGEST_ECHO: usize = 8 * 1024;

/// A value that is given back under our signature to somebody who has shown
/// none is no longer.
const LONGEST_TOKEN: usize = 512;

/// What is answered to a handshake. It writes nothing, except where it hands
/// over a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandshakeAnswer {
    /// The handshake's name in the description, for logs and metrics.
    pub name: String,
    /// Status.
    pub status: u16,
    /// Media type, where there is a body or the vendor wants one.
    pub content_type: Option<String>,
    /// Body.
    pub body: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The status to answer instead where what is handed over is not taken.
    pub refuse: u16,
    /// A secret that the vendor hands over: to be kept by one conditional put
    /// while the endpoint has none, shown to the operator, never logged.
    pub capture: Option<String>,
    /// A URL that must be fetched to confirm, by something else than the receiver.
    pub confirm: Option<OutboundUrl>,
}

/// Why a handshake is not answered as the sender hopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeRefusal {
    /// Something that it must carry is absent or ambiguous: 400.
    #[error("the handshake is incomplete")]
    Incomplete,
    /// It does not name what the endpoint was configured with: this status.
    #[error("the handshake names another value than the endpoint's")]
    OtherValue(u16),
    /// The answer needs the endpoint's key and there is none: 503.
    #[error("the answer needs a key and there is none")]
    NoKey,
}

impl HandshakeRefusal {
    /// The status that says it.
    pub fn status(self) -> u16 {
        match self {
            Self::Incomplete => 400,
            Self::OtherValue(status) => status,
            Self::NoKey => 503,
        }
    }
}

impl Vendor {
    /// Whether some request of this method is answered before its signature
    /// is looked at, or needs none.
    pub fn answers_unsigned(&self, method: &str) -> bool {
        self.handshakes.iter().any(|handshake| !handshake.signed && handshake.method == method)
    }

    /// The answer to a handshake, or `None` where the request is none. With
    /// `verified` absent only those are answered that need no signature; they
    /// are asked for before verification, the others after it.
    pub fn handshake(
        &self,
        request: &Request,
        verified: Option<&Verified>,
        params: &Params,
        keys: Option<&Keys>,
    ) -> Option<Result<HandshakeAnswer, HandshakeRefusal>> {
        // Most vendors have none, and nobody has vouched for the body yet.
        if !self.handshakes.iter().any(|handshake| handshake.method == request.method) {
            return None;
        }
        let own = json::text(&request.body).ok().filter(|text| json::read(text, &[]).is_ok());
        let sources: Vec<Source> = self.handshakes.iter().flat_map(Handshake::sources).collect();
        let view = View::new(request, own, &sources).with_params(params, &self.params);
        let secret = verified.and_then(|verified| verified.secret_index).unwrap_or(0);
        let offered = self.handshakes.iter().filter(|handshake| handshake.method == request.method);
        let mut open = offered.clone().filter(|handshake| handshake.signed == verified.is_some());
        if let Some(handshake) = open.find(|handshake| view.holds(&handshake.condition)) {
            // Anybody can hand over a secret: once there is one, a human decides.
            if handshake.capture.is_some() && keys.is_some() {
                return Some(Err(HandshakeRefusal::OtherValue(handshake.refuse)));
            }
            if handshake.needs_key() && keys.is_none() {
                return Some(Err(HandshakeRefusal::NoKey));
            }
            let tag = |part: &Part| {
                let value = hashed(part, &view)?;
                let vouched_for = handshake.signed || is_token(&value);
                vouched_for.then(|| self.tag(part, &value, keys?, secret)).flatten()
            };
            return Some(handshake.answer(&view, &tag));
        }
        // A method that serves handshakes alone means one, however malformed;
        // but not before the signed ones were looked at, too.
        let only_handshakes = !self.methods.contains(&request.method);
        let all_looked_at = verified.is_some() || !offered.clone().any(|handshake| handshake.signed);
        (only_handshakes && all_looked_at).then_some(Err(HandshakeRefusal::Incomplete))
    }

    /// Whether some of its deliveries ask to be confirmed by a call.
    pub fn confirms(&self) -> bool {
        self.handshakes.iter().any(|handshake| handshake.confirm.is_some())
    }

    /// What has to be called to confirm what a stored body asks for; `None`
    /// where it asks for nothing. Its sender was verified before it was stored.
    ///
    /// # Errors
    /// It names what the endpoint, as it is configured today, does not have:
    /// call nothing, a human decides.
    pub fn confirmation(
        &self,
        body: &[u8],
        params: &Params,
    ) -> Option<Result<OutboundUrl, HandshakeRefusal>> {
        let own = json::text(body).ok().filter(|text| self.confirms() && json::read(text, &[]).is_ok())?;
        let request = Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: String::new(),
            headers: Headers::default(),
            body: Vec::new(),
        };
        let asking: Vec<&Handshake> =
            self.handshakes.iter().filter(|handshake| handshake.confirm.is_some()).collect();
        let sources: Vec<Source> = asking.iter().flat_map(|handshake| handshake.sources()).collect();
        let view = View::new(&request, Some(own), &sources).with_params(params, &self.params);
        let handshake = asking.into_iter().find(|handshake| view.holds(&handshake.condition))?;
        match handshake.answer(&view, &|_| None) {
            Ok(answer) => answer.confirm.map(Ok),
            Err(refusal) => Some(Err(refusal)),
        }
    }

    /// The HMAC of a value under the secret that the vendor used.
    fn tag(&self, part: &Part, value: &[u8], keys: &Keys, secret: usize) -> Option<String> {
        let Part::Hmac(digest, encoding, _) = part else { return None };
        let mut live = (0..self.schemes.len()).flat_map(|scheme| keys.of(scheme));
        let key = live.find_map(|key| match &key.material {
            Material::Hmac(prepared) if key.secret == Some(secret) => {
                prepared.iter().find(|(known, _)| known == digest).map(|(_, key)| key)
            }
            _ => None,
        })?;
        Some(encoding.encode(&key.over([value])))
    }
}

/// The value of which an answer shows the HMAC.
fn hashed<'v>(part: &Part, view: &'v View<'_>) -> Option<std::borrow::Cow<'v, [u8]>> {
    let Part::Hmac(_, _, place) = part else { return None };
    view.bytes(place).one()
}

/// Whether a value can be a challenge and nothing else. Under the same key the
/// vendor signs its deliveries: whoever could have any text signed by a
/// challenge would have a delivery signed, and send it (INV-10). A text of
/// these letters is no JSON that holds an event, and no form.
fn is_token(value: &[u8]) -> bool {
    let unpadded = value.strip_suffix(b"==").or_else(|| value.strip_suffix(b"=")).unwrap_or(value);
    let of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-.~:".contains(byte);
    value.len() <= LONGEST_TOKEN && unpadded.iter().all(of_token)
}

type Tag<'t> = dyn Fn(&Part) -> Option<String> + 't;

impl Handshake {
    /// The templates of its answer.
    fn templates(&self) -> impl Iterator<Item = &Template> {
        let headers = self.answer.headers.iter().map(|(_, template)| template);
        let body: Vec<&Template> = match &self.answer.body {
            Content::Empty => Vec::new(),
            Content::Text(template) => vec![template],
            Content::Json(members) => members
                .iter()
                .filter_map(|(_, member)| match member {
                    JsonAnswer::Template(template) => Some(template),
                    JsonAnswer::Literal(_) => None,
                })
                .collect(),
        };
        headers.chain(body)
    }

    fn needs_key(&self) -> bool {
        self.templates().flat_map(|template| &template.parts).any(|part| matches!(part, Part::Hmac(..)))
    }

    fn sources(&self) -> impl Iterator<Item = Source> {
        let placed: Vec<Source> =
            self.templates().flat_map(Template::places).filter_map(Place::source).cloned().collect();
        self.condition
            .sources()
            .chain(&self.required)
            .chain(self.check.iter().map(|(source, _)| source))
            .chain(self.capture.iter().chain(&self.confirm))
            .cloned()
            .collect::<Vec<_>>()
            .into_iter()
            .chain(placed)
    }

    fn answer(&self, view: &View<'_>, tag: &Tag<'_>) -> Result<HandshakeAnswer, HandshakeRefusal> {
        let text =
            |source: &Source| view.text(&Place::Source(source.clone())).filter(|text| !text.is_empty());
        for source in self.sources() {
            if view.bytes(&Place::Source(source)) == Single::Repeated {
                return Err(HandshakeRefusal::Incomplete);
            }
        }
        for (source, param) in &self.check {
            // A value that the endpoint does not have is one that nobody can name.
            let known = view.param(param).unwrap_or_default().split_ascii_whitespace();
            let named = text(source).unwrap_or_default();
            let right = known
                .fold(false, |found, known| found | bool::from(known.as_bytes().ct_eq(named.as_bytes())));
            if !right {
                return Err(HandshakeRefusal::OtherValue(self.refuse));
            }
        }
        if !self.required.iter().all(|source| text(source).is_some()) {
            return Err(HandshakeRefusal::Incomplete);
        }
        let (body, content_type) = self.body(view, tag).ok_or(HandshakeRefusal::Incomplete)?;
        let mut headers = Vec::new();
        for (name, template) in &self.answer.headers {
            // An optional part that is absent leaves the header out.
            match rendered(template, view, tag).ok_or(HandshakeRefusal::Incomplete)? {
                value if value.is_empty() => {}
                value => headers.push((name.clone(), value)),
            }
        }
        if content_type.as_deref().is_some_and(|media| media.starts_with("text/plain")) {
            // What a stranger wrote is never to be taken for a page.
            headers.push(("X-Content-Type-Options".to_owned(), "nosniff".to_owned()));
        }
        let confirm = self.confirm.as_ref().map(|source| self.pinned(text(source))).transpose()?;
        Ok(HandshakeAnswer {
            name: self.name.clone(),
            status: self.answer.status,
            content_type,
            body,
            headers,
            refuse: self.refuse,
            capture: self.capture.as_ref().and_then(text).map(std::borrow::Cow::into_owned),
            confirm,
        })
    }

    /// What the vendor signed is its word, and still it sends us nowhere else
    /// than to the vendor.
    fn pinned(&self, url: Option<std::borrow::Cow<'_, str>>) -> Result<OutboundUrl, HandshakeRefusal> {
        let url = url.ok_or(HandshakeRefusal::Incomplete)?;
        let pinned = OutboundUrl::pinned(&url).ok().filter(|_| leads_to(&url, &self.hosts));
        pinned.ok_or(HandshakeRefusal::OtherValue(self.refuse))
    }

    fn body(&self, view: &View<'_>, tag: &Tag<'_>) -> Option<(String, Option<String>)> {
        let declared = self.answer.content_type.clone();
        let or = |media: &str| Some(declared.clone().unwrap_or_else(|| media.to_owned()));
        match &self.answer.body {
            Content::Empty => Some((String::new(), declared)),
            Content::Text(template) => Some((rendered(template, view, tag)?, or("text/plain"))),
            Content::Json(members) => {
                let members: Option<Vec<String>> = members
                    .iter()
                    .map(|(name, member)| {
                        let value = match member {
                            JsonAnswer::Literal(literal) => literal.clone(),
                            JsonAnswer::Template(template) => {
                                JsonText::from_text(&rendered(template, view, tag)?).as_json().to_owned()
                            }
                        };
                        Some(format!("{}:{value}", JsonText::from_text(name).as_json()))
                    })
                    .collect();
                Some((format!("{{{}}}", members?.join(",")), or("application/json")))
            }
        }
    }
}

/// `None` where a part that is not optional is absent.
fn rendered(template: &Template, view: &View<'_>, tag: &Tag<'_>) -> Option<String> {
    template
        .parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) => Some(text.clone()),
            Part::Place(MaybePlace { place, optional }) => match view.text(place) {
                Some(text) if text.len() > LONGEST_ECHO => None,
                Some(text) => Some(text.into_owned()),
                None => optional.then(String::new),
            },
            part => tag(part),
        })
        .collect()
}
