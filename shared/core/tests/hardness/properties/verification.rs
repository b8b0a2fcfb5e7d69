//! Whole deliveries of arbitrary bytes.

use super::{NOW, SIGNING, params, request};
use sekali::http::Request;
use sekali::vendor::{Assurance, Verified};

const TYPES: [&str; 5] = [
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/cloudevents-batch+json",
    "",
];
const METHODS: [&str; 4] = ["POST", "GET", "OPTIONS", "HEAD"];

/// The first bytes choose vendor, method and media type; then body, headers
/// and query, parted by zero bytes. Nothing verifies; and what would come
/// after verification ends, whatever it says.
pub fn property(data: &[u8]) {
    let [vendor, form, rest @ ..] = data else { return };
    let known = &SIGNING[usize::from(*vendor) % SIGNING.len()];
    let mut parts = rest.splitn(3, |byte| *byte == 0);
    let body = parts.next().unwrap_or_default();
    let lines = parts.next().unwrap_or_default().split(|byte| *byte == b'\n');
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((String::from_utf8_lossy(&line[..colon]).into_owned(), line[colon + 1..].to_vec()))
    });
    let content_type = TYPES[usize::from(form % 5)];
    let declared = [("content-type".to_owned(), content_type.as_bytes().to_vec())];
    let delivery = Request {
        method: METHODS[usize::from(form / 5 % 4)].to_owned(),
        query: String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned(),
        ..request(headers.chain(declared), body)
    };
    let params = params();
    let verified = known.vendor.verify(&delivery, &known.keys, &params, NOW);
    assert!(verified.is_err(), "{}: {verified:?}", known.vendor.name());
    // As if it had: the vendor itself may send anything.
    let verified =
        Verified { secret_index: Some(0), scheme: String::new(), signed_at: None, assurance: Assurance::Low };
    let _ = known.vendor.handshake(&delivery, None, &params, Some(&known.keys));
    let _ = known.vendor.handshake(&delivery, Some(&verified), &params, Some(&known.keys));
    if let Ok(events) = known.vendor.events(&delivery, &[]) {
        for event in events {
            let (body, context) = event.payload.to_parts();
            let again = sekali::payload::Payload::from_parts(body.to_vec(), &context);
            assert_eq!(again.as_ref(), Ok(&event.payload), "{}", known.vendor.name());
        }
    }
}
