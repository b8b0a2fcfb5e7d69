//! Times of signatures and of events.

use super::{NOW, request};
use hmac::{Hmac, KeyInit, Mac};
use sekali::key::hex;
use sekali::secret::Secret;
use sekali::vendor::{Keys, Params, Vendor};
use sha2::Sha256;
use std::sync::LazyLock;
use std::time::Duration;

const SECRET: &str = "invented-secret-of-32-characters";

/// Signs its time, and states others in every notation.
static TIMES: LazyLock<(Vendor, Keys)> = LazyLock::new(|| {
    let text = r#"confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:Signature" }
message = "{header:Time}.{body}"
timestamp = { from = "header:Time", unit = "s", past = "300s" }
[[event]]
id = "const:e1"
time = [{ from = "header:Time", unit = "s" }, { from = "header:Time", unit = "iso" }, { from = "header:Time", unit = "http" }]
"#;
    let vendor = Vendor::parse("times", "times.toml", text).expect("a description without problems");
    let keys = vendor.keys(&[Secret::new(SECRET).expect("a secret")]).expect("keys");
    (vendor, keys)
});

/// A rightly signed time is taken if it is up to 16 digits near our clock, and
/// else not; an event's time is one that can be.
pub fn property(data: &[u8]) {
    let (vendor, keys) = &*TIMES;
    let time = data.trim_ascii();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length");
    mac.update(time);
    mac.update(b".{}");
    let signature = hex(&mac.finalize().into_bytes());
    let delivery = request([("Time", time), ("Signature", signature.as_bytes())], b"{}");
    let verified = vendor.verify(&delivery, keys, &Params::default(), NOW);
    let digits = !time.is_empty() && time.len() <= 16 && time.iter().all(u8::is_ascii_digit);
    let near =
        std::str::from_utf8(time).ok().and_then(|text| text.parse::<i64>().ok()).is_some_and(|seconds| {
            let off = NOW.0.abs_diff(seconds.saturating_mul(1_000));
            off <= u64::try_from(Duration::from_secs(300).as_millis()).unwrap_or(u64::MAX)
        });
    assert_eq!(verified.is_ok(), digits && near, "{:?}: {verified:?}", String::from_utf8_lossy(time));
    if let Ok(events) = vendor.events(&delivery, &[]) {
        let stated = events.first().and_then(|event| event.occurred_at);
        // No notation has a time before the year 0.
        assert!(stated.is_none_or(|time| time.0 >= -62_167_219_200_000 - 24 * 3_600_000), "{stated:?}");
    }
}
