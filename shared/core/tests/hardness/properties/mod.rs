//! Properties of arbitrary bytes: each takes them and fails where it is broken.

pub mod description;
pub mod forgery;
pub mod form;
pub mod header;
pub mod json;
pub mod list;
pub mod timestamp;
pub mod verification;

use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::time::UnixMillis;
use sekali::vendor::{Assurance, Keys, Params, Vendor, builtin};
use std::sync::LazyLock;

/// The receiver's clock.
pub const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

/// A vendor and the keys of an endpoint of it.
pub struct Known {
    pub vendor: Vendor,
    pub keys: Keys,
}

/// Every vendor that proves something by a secret, with one that nobody knows.
pub static SIGNING: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let secrets = [
        "invented-secret-of-32-characters",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "00112233445566778899aabbccddeeff",
        "invented:password-of-an-endpoint",
    ]
    .map(|text| Secret::new(text).expect("a secret"));
    builtin::names()
        .map(described)
        .filter(|vendor| vendor.assurance() > Assurance::None)
        .filter_map(|vendor| {
            let keys = secrets.iter().find_map(|secret| vendor.keys(std::slice::from_ref(secret)).ok())?;
            Some(Known { vendor, keys })
        })
        .collect()
});

pub fn described(name: &str) -> Vendor {
    let text = builtin::text(name).expect("a description that comes with the crate");
    Vendor::parse(name, name, text).expect("a description without problems")
}

pub fn params() -> Params {
    Params::with_url("https://hooks.example.com/webhooks/acme")
}

pub fn request<N: Into<String>, V: AsRef<[u8]>>(
    headers: impl IntoIterator<Item = (N, V)>,
    body: &[u8],
) -> Request {
    Request {
        method: "POST".to_owned(),
        path: "/webhooks/acme".to_owned(),
        query: String::new(),
        headers: Headers::new(headers),
        body: body.to_vec(),
    }
}
