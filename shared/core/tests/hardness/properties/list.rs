//! Signature headers that are lists: `t=1,v1=ab` and `v1,ab v2,cd`.

use super::{NOW, described, params, request};
use sekali::http::{Headers, Request};
use sekali::secret::Secret;
use sekali::vendor::sign::sign;
use sekali::vendor::{Keys, Vendor};
use std::sync::LazyLock;

struct Listing {
    vendor: Vendor,
    keys: Keys,
    header: &'static str,
    items: char,
    /// What names an element that counts.
    named: &'static [&'static str],
    genuine: Request,
}

static LISTINGS: LazyLock<Vec<Listing>> = LazyLock::new(|| {
    [
        ("stripe", "stripe-signature", ',', &["t=", "v1="][..]),
        ("paddle", "paddle-signature", ';', &["ts=", "h1="]),
        ("standard-webhooks", "webhook-signature", ' ', &["v1,"]),
    ]
    .into_iter()
    .map(|(name, header, items, named)| {
        let vendor = described(name);
        let secret = Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let keys = vendor.keys(std::slice::from_ref(&secret)).expect("keys");
        let bare = request([("content-type", "application/json")], b"{\"id\":\"e1\"}");
        let fresh = || "m1".to_owned();
        let headers = sign(&vendor, &bare, &secret, &params(), NOW, fresh).expect("a signature");
        let genuine = request(headers, &bare.body);
        Listing { vendor, keys, header, items, named, genuine }
    })
    .collect()
});

/// Elements that nobody knows, put beside the signature, change nothing; alone
/// they prove nothing.
pub fn property(data: &[u8]) {
    for listing in LISTINGS.iter() {
        let Listing { vendor, keys, header, items, named, genuine } = listing;
        let verify = |request: &Request| vendor.verify(request, keys, &params(), NOW);
        let with = |value: Vec<u8>| {
            let headers = genuine.headers.iter().map(|(name, old)| match name {
                name if name == *header => (name.to_owned(), value.clone()),
                name => (name.to_owned(), old.to_vec()),
            });
            Request { headers: Headers::new(headers), ..genuine.clone() }
        };
        let text = String::from_utf8_lossy(data).into_owned();
        assert!(verify(&with(text.clone().into_bytes())).is_err(), "{header}: {text:?}");
        let unknown = text
            .split(*items)
            .map(str::trim)
            .all(|item| named.iter().all(|known| !item.starts_with(known)) && !item.contains(['\n', '\r']));
        if unknown {
            let signature = genuine.headers.text(header).expect("the signature");
            let beside = format!("{text}{items}{signature}{items}{text}");
            let verified = verify(&with(beside.clone().into_bytes()));
            assert!(verified.is_ok(), "{header}: {beside:?}: {verified:?}");
        }
    }
}
