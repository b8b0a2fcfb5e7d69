//! Signing as a vendor would: for senders of test deliveries. Only what an
//! HMAC can make; nothing else can be made with what a receiver holds.

use super::Vendor;
use super::keys::{Key, Material};
use super::message::message;
use super::params::Params;
use super::place::Place;
use super::scheme::{Algorithm, Kind, Scheme, SignaturePlace, Unit};
use super::view::View;
use crate::http::{Headers, Request};
use crate::json::{self, Literal};
use crate::secret::Secret;
use crate::source::Source;
use crate::time::UnixMillis;

/// Why a delivery cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSignable {
    /// The vendor has no HMAC scheme whose signature is a header.
    #[error("the vendor has no scheme that can be signed with a shared secret")]
    Scheme,
    /// The secret does not suit the vendor.
    #[error(transparent)]
    Key(#[from] super::keys::UnusableKey),
    /// Something that is signed cannot be made up here: a parameter, a member
    /// of the body.
    #[error("cannot make the signed message: {0}")]
    Message(#[from] super::refusal::Refusal),
}

/// The headers that make `request` a delivery of the vendor, signed at `now`.
/// Headers that are signed and that the request lacks (`webhook-id`) are drawn
/// from `fresh`.
///
/// # Errors
/// See [`NotSignable`].
pub fn sign(
    vendor: &Vendor,
    request: &Request,
    secret: &Secret,
    params: &Params,
    now: UnixMillis,
    mut fresh: impl FnMut() -> String,
) -> Result<Vec<(String, String)>, NotSignable> {
    let keys = vendor.keys(std::slice::from_ref(secret))?;
    let mut fault = NotSignable::Scheme;
    for (index, scheme) in vendor.schemes.iter().enumerate() {
        let (Kind::Hmac(Algorithm::Fixed(digest)), None) = (&scheme.kind, &scheme.each) else { continue };
        let (Some(header), Some(key)) = (signature_header(vendor, scheme, params), keys.of(index).first())
        else {
            continue;
        };
        let (mut headers, elements) = unsigned(scheme, request, now, &mut fresh);
        // A scheme for deliveries of another kind would never be asked about this one.
        headers.push((header, String::new()));
        let complete = with_headers(request, &headers);
        if !vendor.verifies_by(index, &complete) {
            continue;
        }
        match tag(vendor, scheme, &complete, params, &elements, (key, *digest)) {
            Ok(signature) => {
                if let Some((_, value)) = headers.last_mut() {
                    *value = written(scheme, &elements, &signature);
                }
                return Ok(headers);
            }
            Err(other) => fault = other,
        }
    }
    Err(fault)
}

type Pairs = Vec<(String, String)>;

/// The headers and elements that are signed or must be there, and that the
/// request lacks.
fn unsigned(
    scheme: &Scheme,
    request: &Request,
    now: UnixMillis,
    fresh: &mut impl FnMut() -> String,
) -> (Pairs, Pairs) {
    let (mut headers, mut elements): (Pairs, Pairs) = (Vec::new(), Vec::new());
    let is_there = |headers: &Pairs, name: &str| {
        request.headers.all(name).next().is_some() || headers.iter().any(|(known, _)| known == name)
    };
    let stated = scheme.timestamp.as_ref().map(|timestamp| &timestamp.from);
    for place in scheme.message.places().chain(stated) {
        match place {
            Place::Source(Source::Header(name)) if !is_there(&headers, name) => {
                headers.push((
                    name.clone(),
                    if stated == Some(place) { time_text(scheme, now) } else { fresh() },
                ));
            }
            Place::Element(name) if !elements.iter().any(|(known, _)| known == name) => {
                elements.push((name.clone(), time_text(scheme, now)));
            }
            _ => {}
        }
    }
    for (place, literals) in &scheme.require {
        let Place::Source(Source::Header(name)) = place else { continue };
        if let (false, Some(Literal::Text(text) | Literal::Number(text))) =
            (is_there(&headers, name), literals.first())
        {
            headers.push((name.clone(), text.clone()));
        }
    }
    (headers, elements)
}

fn with_headers(request: &Request, more: &[(String, String)]) -> Request {
    let known = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    let added = more.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
    Request { headers: Headers::new(known.chain(added)), ..request.clone() }
}

fn signature_header(vendor: &Vendor, scheme: &Scheme, params: &Params) -> Option<String> {
    match scheme.signature.from.first()? {
        SignaturePlace::Place(Place::Source(Source::Header(name))) => Some(name.clone()),
        SignaturePlace::Place(Place::NamedHeader(param)) => {
            params.get(param, &vendor.params).map(str::to_owned)
        }
        SignaturePlace::Numbered(prefix) => Some(format!("{prefix}1")),
        SignaturePlace::Place(_) => None,
    }
}

fn time_text(scheme: &Scheme, now: UnixMillis) -> String {
    match scheme.timestamp.as_ref().map(|timestamp| timestamp.unit) {
        Some(Unit::Millis) => now.0.to_string(),
        Some(Unit::Iso | Unit::Http) => super::moment::written_iso(now),
        Some(Unit::Seconds) | None => now.0.div_euclid(1000).to_string(),
    }
}

fn tag(
    vendor: &Vendor,
    scheme: &Scheme,
    request: &Request,
    params: &Params,
    elements: &[(String, String)],
    (key, digest): (&Key, super::algorithm::Digest),
) -> Result<Vec<u8>, NotSignable> {
    let own = json::text(&request.body).ok();
    let sources = scheme.sources();
    let view = View::new(request, own, &sources).with_params(params, &vendor.params).with_elements(elements);
    let urls = vendor.urls(scheme, &view)?;
    let url = urls.first().map(String::as_str).unwrap_or_default();
    let message = message(&view, &scheme.message, url)?;
    let Material::Hmac(prepared) = &key.material else { return Err(NotSignable::Scheme) };
    let (_, key) = prepared.iter().find(|(known, _)| *known == digest).ok_or(NotSignable::Scheme)?;
    Ok(key.over(message.pieces.iter().map(AsRef::as_ref)))
}

/// The signature as the header carries it.
fn written(scheme: &Scheme, elements: &[(String, String)], signature: &[u8]) -> String {
    let form = &scheme.signature;
    let encoded =
        format!("{}{}", form.prefix.as_deref().unwrap_or_default(), form.encoding.encode(signature));
    let Some(list) = &form.list else { return encoded };
    let pick = (list.pick.clone(), encoded);
    elements
        .iter()
        .chain(std::iter::once(&pick))
        .map(|(key, value)| format!("{key}{}{value}", list.pair))
        .collect::<Vec<_>>()
        .join(&list.items.to_string())
}
