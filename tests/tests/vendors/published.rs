//! Vendors that publish their keys: no secret is configured, the document is
//! fetched from where the description allows.

use super::every::settings;
use super::*;
use sekali::vectors::{Recorded, recorded as read};
use std::time::Duration;

/// A genuine delivery with the document that its key is in.
fn recorded(vendor: &str) -> Recorded {
    [include_str!("../../vectors/deliveries.json"), include_str!("../../vectors/signatures.json")]
        .into_iter()
        .flat_map(|text| read(text).unwrap())
        .find(|recorded| recorded.vendor == vendor && recorded.expected.as_deref() == Some("valid"))
        .unwrap()
}

/// The invented certificates of the recorded deliveries are valid from here on.
const CERTIFIED: UnixMillis = UnixMillis(1_800_000_000_000);

const VENDORS: [(&str, &str, Option<UnixMillis>); 3] = [
    ("fal", "https://rest.fal.ai/.well-known/jwks.json", None),
    (
        "paypal",
        "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-aecacc47",
        Some(CERTIFIED),
    ),
    ("aws-sns", "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-01.pem", Some(CERTIFIED)),
];

fn bench(recorded: &Recorded, now: UnixMillis) -> Bench {
    Bench::at(now, &settings(recorded, 0), &[])
}

#[tokio::test]
async fn a_delivery_is_verified_with_the_document_that_the_vendor_publishes() {
    for (vendor, url, at) in VENDORS {
        let recorded = recorded(vendor);
        let bench = bench(&recorded, at.unwrap_or(recorded.now));
        bench.secrets.publish(url, recorded.secrets[0].clone());
        for status in [202, 200] {
            let answer = bench.deliver(&recorded.request).await;
            assert_eq!(answer.status, status, "{vendor}: {answer:?}");
        }
        assert_eq!(bench.secrets.fetches(), 1, "{vendor}");
        let events = bench.events();
        assert_eq!((events.len(), events[0].signature.secret), (1, None), "{vendor}");
    }
}

// INV-10
#[tokio::test]
async fn a_forged_delivery_is_refused_whatever_it_says_of_its_key() {
    for (vendor, url, at) in VENDORS {
        let recorded = recorded(vendor);
        let bench = bench(&recorded, at.unwrap_or(recorded.now));
        bench.secrets.publish(url, recorded.secrets[0].clone());
        let mut forged = recorded.request.clone();
        let digit = forged.body.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
        forged.body[digit] ^= 1;
        assert_eq!(bench.deliver(&forged).await.status, 401, "{vendor}");
        let text = String::from_utf8_lossy(&recorded.request.body).replace(url, "https://evil.example/x.pem");
        let elsewhere = Request { body: text.into_bytes(), ..recorded.request.clone() };
        let headers = elsewhere.headers.iter().map(|(name, value)| match name {
            "paypal-cert-url" => (name.to_owned(), b"https://evil.example/x.pem".to_vec()),
            _ => (name.to_owned(), value.to_vec()),
        });
        let elsewhere = Request { headers: Headers::new(headers), ..elsewhere.clone() };
        let fetches = bench.secrets.fetches();
        if vendor != "fal" {
            assert_eq!(bench.deliver(&elsewhere).await.status, 401, "{vendor}");
        }
        assert_eq!(bench.secrets.fetches(), fetches, "{vendor}: nobody is asked on a stranger's word");
        assert!(bench.is_untouched(), "{vendor}");
    }
}

#[tokio::test]
async fn a_certificate_is_not_believed_before_its_time() {
    for (vendor, url, at) in VENDORS {
        if at.is_none() {
            continue;
        }
        let recorded = recorded(vendor);
        let bench = bench(&recorded, recorded.now);
        bench.secrets.publish(url, recorded.secrets[0].clone());
        assert_eq!(bench.deliver(&recorded.request).await.status, 401, "{vendor}");
        assert!(bench.is_untouched(), "{vendor}");
    }
}

#[tokio::test]
async fn a_missing_document_of_a_described_place_is_our_fault_and_the_retry_repairs_it() {
    let recorded = recorded("fal");
    let bench = bench(&recorded, recorded.now);
    let answer = bench.deliver(&recorded.request).await;
    assert_eq!(answer.status, 503);
    assert!(answer.headers.iter().any(|(name, _)| name == "retry-after"), "{answer:?}");
    assert!(bench.is_untouched());
    bench.secrets.publish(VENDORS[0].1, recorded.secrets[0].clone());
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(bench.deliver(&recorded.request).await.status, 202);
}
