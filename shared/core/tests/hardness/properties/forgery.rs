//! Genuine deliveries with something changed.

use super::{NOW, params};
use sekali::secret::Secret;
use sekali::vectors::{Recorded, recorded};
use sekali::vendor::{Assurance, Keys, Vendor};
use std::sync::LazyLock;

struct Genuine {
    vendor: Vendor,
    keys: Keys,
    recorded: Recorded,
}

/// Every recorded delivery whose signature is over the whole body.
static GENUINE: LazyLock<Vec<Genuine>> = LazyLock::new(|| {
    // What SNS signs are the values in its envelope, however that is written;
    // of a form, the values in whatever order.
    const NOT_BYTES: [&str; 2] = ["aws-sns", "twilio"];
    [
        include_str!("../../../../../tests/vectors/signatures.json"),
        include_str!("../../../../../tests/vectors/derived.json"),
        include_str!("../../../../../tests/vectors/deliveries.json"),
    ]
    .into_iter()
    .flat_map(|text| recorded(text).expect("a list of vectors"))
    .filter(|recorded| recorded.expected.as_deref() == Some("valid"))
    .filter(|recorded| !NOT_BYTES.contains(&recorded.vendor.as_str()))
    .filter_map(|recorded| {
        let vendor = super::described(&recorded.vendor);
        let secrets = recorded.secrets.iter().map(|text| Secret::new(text.as_str()));
        let secrets: Vec<Secret> = secrets.collect::<Result<_, _>>().expect("secrets");
        let keys = vendor.keys(&secrets).expect("keys");
        let verified = vendor.verify(&recorded.request, &keys, &recorded.params, recorded.now);
        let bound = verified.expect("a genuine delivery").assurance == Assurance::High;
        bound.then_some(Genuine { vendor, keys, recorded })
    })
    .collect()
});

/// The first two bytes choose a delivery; then each three bytes change its
/// body: where, how, and with what. A changed body is never genuine.
pub fn property(data: &[u8]) {
    assert!(GENUINE.len() >= 100, "only {} deliveries to forge", GENUINE.len());
    let [first, second, changes @ ..] = data else { return };
    let number = usize::from(u16::from_be_bytes([*first, *second]));
    let Genuine { vendor, keys, recorded } = &GENUINE[number % GENUINE.len()];
    let mut forged = recorded.request.clone();
    for change in changes.chunks_exact(3) {
        let at = usize::from(change[0]) * (forged.body.len() + 1) / 256;
        match change[1] % 4 {
            0 if at < forged.body.len() => forged.body[at] ^= change[2],
            1 if at < forged.body.len() => drop(forged.body.remove(at)),
            2 => forged.body.truncate(at),
            _ => forged.body.insert(at, change[2]),
        }
    }
    let genuine = forged.body == recorded.request.body;
    let verified = vendor.verify(&forged, keys, &recorded.params, recorded.now);
    assert_eq!(verified.is_ok(), genuine, "{}: {verified:?}", recorded.id);
    // With another clock it is too old, unless the vendor sets no bound.
    let _ = vendor.verify(&forged, keys, &params(), NOW);
}
