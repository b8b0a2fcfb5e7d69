//! Arbitrary header fields before every vendor that signs.

use super::{NOW, SIGNING, params, request};

/// Lines of `name: value`, as received. None of them makes a body genuine, and
/// reading events of it ends.
pub fn property(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((String::from_utf8_lossy(&line[..colon]).into_owned(), line[colon + 1..].to_vec()))
    });
    let delivery = request(lines, b"{\"id\":\"e1\"}");
    for known in SIGNING.iter() {
        let verified = known.vendor.verify(&delivery, &known.keys, &params(), NOW);
        assert!(verified.is_err(), "{}: {verified:?}", known.vendor.name());
        let _ = known.vendor.events(&delivery, &[]);
    }
}
