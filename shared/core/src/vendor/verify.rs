//! Verification over the raw bytes as received: any live secret, any
//! candidate signature, in constant time. Pure: time is a parameter.

use super::Vendor;
use super::form;
use super::jwt;
use super::key_url::KeyUrl;
use super::keys::{Key, Keys};
use super::message::message;
use super::moment;
use super::params::Params;
use super::place::Place;
use super::proof;
use super::refusal::Refusal;
use super::scheme::{Assurance, Binding, Kind, Published, Scheme, Timestamp};
use super::signature::{self, Carried};
use super::view::{Single, View};
use crate::http::Request;
use crate::json;
use crate::source::Source;
use crate::time::UnixMillis;
use subtle::ConstantTimeEq;

/// A delivery is what the vendor sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Which of the endpoint's secrets made the signature; `None` where the
    /// vendor signs nothing, or with a key that it publishes.
    pub secret_index: Option<usize>,
    /// The scheme's name in the description.
    pub scheme: String,
    /// When it was signed, where the signature says.
    pub signed_at: Option<UnixMillis>,
    /// How much that proves.
    pub assurance: Assurance,
}

impl Vendor {
    /// Verifies a delivery. `now` is the receiver's clock.
    ///
    /// # Errors
    /// The delivery is not proven to be the vendor's: answer the vendor's
    /// reject status, log the reason, write nothing (INV-10).
    pub fn verify(
        &self,
        request: &Request,
        keys: &Keys,
        params: &Params,
        now: UnixMillis,
    ) -> Result<Verified, Refusal> {
        let own = json::text(&request.body).ok();
        let (index, scheme) = self.scheme_for(request, own)?;
        let keys = keys.of(index);
        let proof = match &scheme.each {
            None => self.prove(scheme, request, own, keys, params, now)?,
            Some(each) => {
                let items = own.and_then(|own| json::each(own, each).ok()).unwrap_or_default();
                let mut first = None;
                for item in &items {
                    let proof = self.prove(scheme, request, Some(item.json), keys, params, now)?;
                    first = first.or(Some(proof));
                }
                first.ok_or(Refusal::NoItems)?
            }
        };
        Ok(Verified {
            secret_index: proof.secret,
            scheme: scheme.name.clone(),
            signed_at: proof.signed_at,
            assurance: scheme.assurance,
        })
    }

    fn prove(
        &self,
        scheme: &Scheme,
        request: &Request,
        own: Option<&str>,
        keys: &[Key],
        params: &Params,
        now: UnixMillis,
    ) -> Result<Proof, Refusal> {
        if scheme.kind == Kind::None {
            return Ok(Proof { secret: None, signed_at: None });
        }
        let sources = scheme.sources();
        let view = View::new(request, own, &sources).with_params(params, &self.params);
        for (place, literals) in &scheme.require {
            let value = view.text(place).map(|text| json::JsonText::from_text(&text));
            match value {
                None => return Err(Refusal::Missing(place.to_string())),
                Some(value) if literals.iter().any(|literal| value.equals(literal)) => {}
                Some(_) => return Err(Refusal::OtherValue(place.to_string())),
            }
        }
        key_url(scheme, &view)?;
        let keys = valid(keys, now)?;
        let carried = signature::carried(&view, &scheme.signature)?;
        let view = view.with_elements(&carried.elements);
        let (secret, view) = match &scheme.kind {
            Kind::Jwt(algorithms) => {
                // Of several tokens none is preferred to another.
                let [token] = carried.candidates.as_slice() else {
                    return Err(Refusal::Malformed("token".to_owned()));
                };
                let token = jwt::open(token, algorithms, &keys)?;
                let view = view.with_claims(token.claims);
                jwt::check(&view, &scheme.claims, now)?;
                (token.secret, view)
            }
            _ => (self.matching_secret(scheme, &view, &carried, &keys)?, view),
        };
        // The time is looked at last: only a right signature says anything
        // about the vendor's clock.
        let signed_at = match &scheme.timestamp {
            Some(timestamp) => Some(signed_at(&view, timestamp, now)?),
            None => None,
        };
        if let Some(binding) = &scheme.binding {
            check_binding(&view, binding)?;
        }
        Ok(Proof { secret, signed_at })
    }

    /// The first secret under which one of the candidates is right.
    fn matching_secret(
        &self,
        scheme: &Scheme,
        view: &View<'_>,
        carried: &Carried,
        keys: &[&Key],
    ) -> Result<Option<usize>, Refusal> {
        let matching = match &scheme.kind {
            Kind::Token => keys.iter().find(|key| proof::is_token(key, scheme, carried)),
            Kind::Basic => keys.iter().find(|key| proof::is_basic(key, carried)),
            _ => {
                let signatures = signature::decoded(carried, &scheme.signature)?;
                let digest = proof::digest(view, &scheme.kind)?;
                let mut matching = None;
                for url in self.urls(scheme, view)? {
                    let message = message(view, &scheme.message, &url)?;
                    let right = |key: &&&Key| proof::is_signature(key, digest, &message, &signatures);
                    matching = matching.or_else(|| keys.iter().find(right));
                }
                matching
            }
        };
        matching.map(|key| key.secret).ok_or(Refusal::Mismatch)
    }

    /// The URL of the document that holds the key of this delivery, where the
    /// vendor publishes it and no secret of the endpoint stands for it. Whoever
    /// fetches it follows no redirect; `published_keys` makes keys of it.
    ///
    /// # Errors
    /// The delivery points elsewhere than to the vendor, or is none of its
    /// kinds: fetch nothing, it is refused.
    pub fn key_url(&self, request: &Request, keys: &Keys) -> Result<Option<KeyUrl>, Refusal> {
        if self.schemes.iter().all(|scheme| scheme.key.published.is_none()) {
            return Ok(None);
        }
        let own = json::text(&request.body).ok();
        let (index, scheme) = self.scheme_for(request, own)?;
        if !keys.of(index).is_empty() {
            return Ok(None);
        }
        let sources = scheme.sources();
        key_url(scheme, &View::new(request, own, &sources))
    }

    /// Whether this scheme decides about the request.
    pub(super) fn verifies_by(&self, index: usize, request: &Request) -> bool {
        let own = json::text(&request.body).ok();
        self.scheme_for(request, own).is_ok_and(|(decides, _)| decides == index)
    }

    /// The first scheme whose condition holds.
    fn scheme_for(&self, request: &Request, own: Option<&str>) -> Result<(usize, &Scheme), Refusal> {
        let conditions = self.schemes.iter().flat_map(|scheme| scheme.condition.sources());
        let view = View::new(request, own, conditions);
        self.schemes
            .iter()
            .enumerate()
            .find(|(_, scheme)| view.holds(&scheme.condition))
            .ok_or(Refusal::NoScheme)
    }

    /// The URL as the vendor may have signed it; one text that nobody reads
    /// where the message has no URL.
    pub(super) fn urls(&self, scheme: &Scheme, view: &View<'_>) -> Result<Vec<String>, Refusal> {
        if !scheme.message.names_url() {
            return Ok(vec![String::new()]);
        }
        let Some(public) = &view.params.public_url else {
            return Err(Refusal::NoParam("public_url".to_owned()));
        };
        let bare = public.split(['?', '#']).next().unwrap_or(public);
        let query = &view.request.query;
        let with_query = |url: String| if query.is_empty() { url } else { format!("{url}?{query}") };
        let mut urls = vec![with_query(bare.to_owned())];
        if scheme.url_variants {
            urls.extend(other_port(bare).map(with_query));
            let escaped = form::escaped_anew(query);
            if escaped != *query {
                let bases = std::iter::once(bare.to_owned()).chain(other_port(bare));
                urls.extend(bases.map(|base| format!("{base}?{escaped}")));
            }
        }
        Ok(urls)
    }
}

/// The URL with its default port written out, or left out where it is written.
fn other_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let port = if scheme == "http" { ":80" } else { ":443" };
    let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    match host.strip_suffix(port) {
        Some(bare) => Some(format!("{scheme}://{bare}{path}")),
        None if host.contains(':') => None,
        None => Some(format!("{scheme}://{host}{port}{path}")),
    }
}

struct Proof {
    secret: Option<usize>,
    signed_at: Option<UnixMillis>,
}

/// Where the key of the delivery is published. What the delivery says of it
/// must be pinned even where the key is known already.
fn key_url(scheme: &Scheme, view: &View<'_>) -> Result<Option<KeyUrl>, Refusal> {
    match &scheme.key.published {
        None => Ok(None),
        Some(Published::At(url)) => Ok(Some(url.clone())),
        Some(Published::Named { from, hosts, paths }) => {
            let url = view.text(from).ok_or_else(|| Refusal::Missing(from.to_string()))?;
            KeyUrl::pinned(&url, hosts, paths).map(Some).ok_or(Refusal::KeyUrl)
        }
    }
}

/// The keys that may be used now.
fn valid(keys: &[Key], now: UnixMillis) -> Result<Vec<&Key>, Refusal> {
    let valid: Vec<&Key> = keys.iter().filter(|key| key.is_valid_at(now)).collect();
    if valid.is_empty() && !keys.is_empty() { Err(Refusal::KeyNotValid) } else { Ok(valid) }
}

fn signed_at(view: &View<'_>, timestamp: &Timestamp, now: UnixMillis) -> Result<UnixMillis, Refusal> {
    let name = || timestamp.from.to_string();
    match view.bytes(&timestamp.from) {
        Single::Absent => return Err(Refusal::Missing(name())),
        Single::Repeated => return Err(Refusal::Repeated(name())),
        Single::One(_) => {}
    }
    let text = view.text(&timestamp.from).ok_or_else(|| Refusal::Malformed(name()))?;
    let signed = moment::signed(&text, timestamp.unit).ok_or_else(|| Refusal::Malformed(name()))?;
    let (age, ahead) = (now.since(signed), signed.since(now));
    match (timestamp.past, timestamp.future) {
        (Some(past), _) if age > past => Err(Refusal::TooOld { skew: age }),
        (_, Some(future)) if ahead > future => Err(Refusal::TooNew { skew: ahead }),
        _ => Ok(signed),
    }
}

/// The signature covers a digest; the digest must be the body's.
fn check_binding(view: &View<'_>, binding: &Binding) -> Result<(), Refusal> {
    let stated = match view.bytes(&binding.from) {
        Single::One(stated) => stated,
        Single::Absent => return Err(Refusal::Missing(binding.from.to_string())),
        Single::Repeated => return Err(Refusal::Repeated(binding.from.to_string())),
    };
    let stated =
        binding.encoding.decode(&stated).ok_or_else(|| Refusal::Malformed(binding.from.to_string()))?;
    let own = binding.digest.of(&view.request.body);
    if stated.ct_eq(&own).into() { Ok(()) } else { Err(Refusal::OtherBody) }
}

impl Scheme {
    /// Every source that verification reads.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let mut sources: Vec<Source> = self.places().filter_map(Place::source).cloned().collect();
        sources.extend(self.message.json_members());
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_variant_with_and_without_its_port() {
        assert_eq!(other_port("https://a.example/x").as_deref(), Some("https://a.example:443/x"));
        assert_eq!(other_port("https://a.example:443/x").as_deref(), Some("https://a.example/x"));
        assert_eq!(other_port("http://a.example").as_deref(), Some("http://a.example:80"));
        assert_eq!(other_port("https://a.example:8443/x"), None);
    }
}
