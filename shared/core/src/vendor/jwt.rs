//! Signed tokens: the algorithm comes from a closed list and must suit the
//! key, claims are checked, and the body is bound by a digest among them.

use super::algorithm::Encoding;
use super::keys::{Key, Material};
use super::place::{Place, Term};
use super::refusal::Refusal;
use super::scheme::{JWT_ALGORITHMS, JwtAlgorithm};
use super::view::View;
use crate::json::JsonText;
use crate::time::UnixMillis;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// How far a token's own bounds (`exp`, `nbf`) may be off, for two clocks that differ.
const LEEWAY: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<serde::de::IgnoredAny>,
}

/// A token whose signature is right.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) secret: Option<usize>,
    pub(crate) claims: BTreeMap<String, JsonText>,
}

/// Checks the signature of a compact token under any of the keys.
pub(crate) fn open(token: &[u8], algorithms: &[JwtAlgorithm], keys: &[&Key]) -> Result<Token, Refusal> {
    let malformed = || Refusal::Malformed("token".to_owned());
    let text = std::str::from_utf8(token).map_err(|_| malformed())?;
    let parts: Vec<&str> = text.split('.').collect();
    let [header, payload, signature] = parts.as_slice() else { return Err(malformed()) };
    let decode = |part: &str| Encoding::Base64Url.decode(part.as_bytes()).ok_or_else(malformed);
    let signed = &text[..header.len() + 1 + payload.len()];
    let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| malformed())?;
    // Extensions that must be understood are not.
    if header.crit.is_some() {
        return Err(malformed());
    }
    let algorithm = JWT_ALGORITHMS
        .iter()
        .find(|(name, algorithm)| *name == header.alg && algorithms.contains(algorithm))
        .map(|(_, algorithm)| *algorithm)
        .ok_or(Refusal::Algorithm)?;
    let signature = decode(signature)?;
    let mut known = false;
    for key in keys {
        let right = match &key.material {
            Material::Token(secret) if algorithm == JwtAlgorithm::Hs256 => {
                known = true;
                bool::from(secret.over([signed.as_bytes()]).ct_eq(&signature))
            }
            Material::Public(set) => set
                .iter()
                .filter(|key| key.id.is_none() || header.kid.is_none() || key.id == header.kid)
                .any(|key| {
                    known = true;
                    key.verifies_token(algorithm, signed.as_bytes(), &signature)
                }),
            _ => false,
        };
        if right {
            return Ok(Token {
                secret: key.secret,
                claims: claims(&decode(payload)?).ok_or_else(malformed)?,
            });
        }
    }
    Err(if known { Refusal::Mismatch } else { Refusal::UnknownKey })
}

fn claims(payload: &[u8]) -> Option<BTreeMap<String, JsonText>> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(payload).ok()?;
    members.into_iter().map(|(name, value)| Some((name, JsonText::from_json(value.get()).ok()?))).collect()
}

/// The token's own bounds of time, and the claims that the description demands.
pub(crate) fn check(view: &View<'_>, wanted: &[(String, Term)], now: UnixMillis) -> Result<(), Refusal> {
    if let Some(expires) = seconds(view, "exp")? {
        let skew = now.since(expires);
        if skew > LEEWAY {
            return Err(Refusal::TooOld { skew });
        }
    }
    if let Some(begins) = seconds(view, "nbf")? {
        let skew = begins.since(now);
        if skew > LEEWAY {
            return Err(Refusal::TooNew { skew });
        }
    }
    for (name, term) in wanted {
        let claim = Place::Claim(name.clone());
        let demanded = match (view.term(term), term) {
            (Some(text), _) => text,
            (None, Term::Place(Place::Param(param))) => return Err(Refusal::NoParam(param.clone())),
            (None, _) => return Err(Refusal::Missing(claim.to_string())),
        };
        match view.text(&claim) {
            None => return Err(Refusal::Missing(claim.to_string())),
            Some(found) if found == demanded.as_str() => {}
            Some(_) => return Err(Refusal::OtherValue(claim.to_string())),
        }
    }
    Ok(())
}

fn seconds(view: &View<'_>, name: &str) -> Result<Option<UnixMillis>, Refusal> {
    let Some(claim) = view.claims.get(name) else { return Ok(None) };
    let text = claim.plain().ok_or_else(|| Refusal::Malformed(format!("claim:{name}")))?;
    let time = super::moment::stated(&text, super::scheme::Unit::Seconds, 0);
    time.map(Some).ok_or_else(|| Refusal::Malformed(format!("claim:{name}")))
}
