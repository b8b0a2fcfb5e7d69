//! What a recorded handshake is answered.

use super::same;
use crate::http::Request;
use crate::time::UnixMillis;
use crate::vendor::{HandshakeAnswer, HandshakeRefusal, Keys, Params, Vendor};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub(super) struct Expectation {
    status: u16,
    /// Where what is documented leaves two answers open.
    or_status: Option<u16>,
    content_type: Option<String>,
    body: Option<String>,
    body_json: Option<Value>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    absent_headers: Vec<String>,
    #[serde(default)]
    effect: String,
}

/// The words with which a vector says that a URL must be fetched to confirm.
const CONFIRMS: &str = "worker GETs ";

impl Expectation {
    /// Takes the request the way that deliveries go, and compares the answer.
    pub(super) fn check(
        &self,
        vendor: &Vendor,
        request: &Request,
        keys: Option<&Keys>,
        params: &Params,
        now: UnixMillis,
    ) -> Result<(), String> {
        let answer = answer(vendor, request, keys, params, now);
        let (status, answer) = match answer {
            Ok(answer) => (answer.status, answer),
            Err((status, allowed)) => {
                let headers = allowed.map(|methods| ("Allow".to_owned(), methods)).into_iter().collect();
                (status, HandshakeAnswer { status, headers, ..HandshakeAnswer::default() })
            }
        };
        if self.or_status != Some(status) {
            same("status", &self.status, &status)?;
        }
        if self.content_type.is_some() {
            let media = |text: &String| text.split(';').next().map(|media| media.trim().to_owned());
            let wanted = self.content_type.as_ref().and_then(media);
            same("content type", &wanted, &answer.content_type.as_ref().and_then(media))?;
        }
        if let Some(body) = &self.body {
            same("body", body, &answer.body)?;
        }
        if let Some(wanted) = &self.body_json {
            let got: Option<Value> = serde_json::from_str(&answer.body).ok();
            same("body", &Some(wanted.clone()), &got)?;
        }
        let header = |name: &str| {
            answer
                .headers
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
        };
        for (name, value) in &self.headers {
            same(name, &Some(value.clone()), &header(name))?;
        }
        for name in &self.absent_headers {
            same(name, &None, &header(name))?;
        }
        let confirms =
            self.effect.strip_prefix(CONFIRMS).map(|url| url.split(' ').next().unwrap_or(url).to_owned());
        match (&confirms, &answer.confirm) {
            (None, None) => Ok(()),
            (Some(wanted), Some(got)) if got.as_str().starts_with(wanted.as_str()) => Ok(()),
            (wanted, got) => Err(format!("confirm: wanted {wanted:?}, got {got:?}")),
        }
    }
}

/// The answer; `Err` is a status without one, and the methods of a 405.
fn answer(
    vendor: &Vendor,
    request: &Request,
    keys: Option<&Keys>,
    params: &Params,
    now: UnixMillis,
) -> Result<HandshakeAnswer, (u16, Option<String>)> {
    let methods = vendor.methods();
    if !methods.contains(&request.method.as_str()) {
        return Err((405, Some(methods.join(", "))));
    }
    let refused = |refusal: HandshakeRefusal| (refusal.status(), None);
    if let Some(answer) = vendor.handshake(request, None, params, keys) {
        return answer.map_err(refused);
    }
    let Some(keys) = keys else { return Err((503, None)) };
    let verified =
        vendor.verify(request, keys, params, now).map_err(|_| (vendor.reply().reject_status, None))?;
    match vendor.handshake(request, Some(&verified), params, Some(keys)) {
        Some(answer) => answer.map_err(refused),
        None => match vendor.events(request, &[]) {
            Ok(_) => Err((202, None)),
            Err(_) => Err((400, None)),
        },
    }
}
