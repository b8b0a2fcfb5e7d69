//! What every vendor's description must keep, and what verification and
//! extraction promise, on requests made for the occasion.

mod descriptions;
mod extraction;
mod growth;
mod keys;
mod parsing;
mod reference;
mod verification;

use super::*;
use crate::http::{Headers, Request};
use crate::json::JsonText;
use crate::secret::Secret;
use crate::source::Source;
use crate::time::UnixMillis;

const NOW: UnixMillis = UnixMillis(1_772_000_000_000);

fn builtin_vendor(name: &str) -> Vendor {
    Vendor::parse(name, name, builtin::text(name).unwrap()).unwrap()
}

fn described(text: &str) -> Vendor {
    Vendor::parse("acme", "acme.toml", text).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

fn request(headers: &[(&str, &str)], body: &[u8]) -> Request {
    Request {
        method: "POST".into(),
        path: "/webhooks/acme".into(),
        query: String::new(),
        headers: Headers::new(headers.iter().map(|(name, value)| (*name, value.as_bytes()))),
        body: body.to_vec(),
    }
}

/// The same request with further headers, as the vendor would sign it.
fn signed(vendor: &Vendor, request: &Request, secret: &Secret, now: UnixMillis) -> Request {
    let headers = sign::sign(vendor, request, secret, &params(), now, || "msg_fresh".into()).unwrap();
    let known = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    let added = headers.into_iter().map(|(name, value)| (name, value.into_bytes()));
    Request { headers: Headers::new(known.chain(added)), ..request.clone() }
}

fn params() -> Params {
    Params::with_url("https://hooks.example.com/webhooks/acme")
}
