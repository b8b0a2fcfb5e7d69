//! What every description that comes with Sekali must keep.

use super::*;

/// A body and headers that satisfy what some schemes demand beside the signature.
fn plausible() -> Request {
    let headers = [
        ("Content-Type", "application/json"),
        ("BOX-SIGNATURE-VERSION", "1"),
        ("BOX-SIGNATURE-ALGORITHM", "HmacSHA256"),
        ("X-Callback-Event", "payment_status"),
        ("Client-Id", "C1"),
        ("x-contentful-signed-headers", "x-contentful-signed-headers,x-contentful-timestamp"),
        ("x-contentful-timestamp", "1772000000000"),
    ];
    request(&headers, br#"{"id":"e1","webhookTimestamp":1772000000000}"#)
}

/// A secret in the vendor's form.
fn usable(vendor: &Vendor) -> Option<Secret> {
    [
        "invented-secret-of-32-characters",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "00112233445566778899aabbccddeeff",
    ]
    .into_iter()
    .map(secret)
    .find(|secret| vendor.keys(std::slice::from_ref(secret)).is_ok())
}

#[test]
fn what_a_description_signs_it_verifies_and_one_changed_byte_it_does_not() {
    let mut signable = 0;
    for name in builtin::names() {
        let vendor = builtin_vendor(name);
        let Some(secret) = usable(&vendor) else { continue };
        let request = plausible();
        let Ok(headers) = sign::sign(&vendor, &request, &secret, &params(), NOW, || "fresh-1".into()) else {
            continue;
        };
        signable += 1;
        let known = request.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
        let added = headers.into_iter().map(|(name, value)| (name, value.into_bytes()));
        let mut delivery = Request { headers: Headers::new(known.chain(added)), ..request };
        let keys = vendor.keys(&[secret]).unwrap();
        let verified = vendor.verify(&delivery, &keys, &params(), NOW);
        assert!(verified.is_ok(), "{name}: {verified:?}");
        delivery.body.push(b' ');
        let changed = vendor.verify(&delivery, &keys, &params(), NOW);
        assert_eq!(changed.is_err(), verified.unwrap().assurance == Assurance::High, "{name}: {changed:?}");
    }
    assert!(signable >= 45, "only {signable} vendors can be signed for");
}

// INV-10: no description has a way around the secret.
#[test]
fn a_request_that_carries_nothing_is_refused_by_every_vendor_that_signs() {
    for name in builtin::names() {
        let vendor = builtin_vendor(name);
        let Some(secret) = usable(&vendor) else { continue };
        let keys = vendor.keys(&[secret]).unwrap();
        let bare = vendor.verify(&request(&[], b"{}"), &keys, &params(), NOW);
        assert_eq!(bare.is_ok(), vendor.assurance() == Assurance::None, "{name}: {bare:?}");
    }
}

#[test]
fn a_vendor_that_signs_nothing_is_never_confirmed() {
    for name in builtin::names() {
        let vendor = builtin_vendor(name);
        assert!(vendor.assurance() > Assurance::None || !vendor.confirmed(), "{name}");
    }
}

#[test]
fn what_a_request_says_is_never_answered_as_a_page() {
    let with = |media: &str, body: &str| {
        let text = format!(
            "confirmed = true\n[[scheme]]\nkind = \"none\"\n[[event]]\nid = \"/id\"\n[[handshake]]\nmethod = \"GET\"\n\
             signed = false\nreply = {{ body = \"{body}\", content_type = \"{media}\" }}\n"
        );
        Vendor::parse("acme", "vendors/acme.toml", &text)
    };
    for page in
        ["text/html", "image/svg+xml", "application/xhtml+xml", "text/html; charset=utf-8", "text/xml"]
    {
        let problems = with(page, "{query:challenge}").unwrap_err();
        assert!(problems[0].message.contains("never as a page"), "{problems:?}");
        assert!(with(page, "always the same").is_ok(), "{page}");
    }
    for text in ["text/plain", "text/plain; charset=utf-8", "application/json"] {
        assert!(with(text, "{query:challenge}").is_ok(), "{text}");
    }
}
