//! What the doctor is given.

use crate::http::Request;
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::scheme::Unit;
use crate::vendor::{Params, Vendor, builtin, moment};

/// A captured delivery and everything that it may be verified with.
#[derive(Debug)]
pub struct Case<'a> {
    /// The vendor as whose delivery it was taken.
    pub vendor: &'a Vendor,
    /// The delivery as it arrived.
    pub request: &'a Request,
    /// What the endpoint adds; its public URL is the one that was verified
    /// with.
    pub params: &'a Params,
    /// Other URLs under which the endpoint may be known to the vendor.
    pub urls: &'a [String],
    /// Every secret that is at hand, those included that the endpoint does not
    /// use.
    pub secrets: &'a [KnownSecret],
    /// The receiver's clock when it arrived. `None`: nobody knows, and its age
    /// is not judged.
    pub received_at: Option<UnixMillis>,
    /// Vendors as whose delivery it may be taken instead.
    pub others: &'a [Vendor],
}

/// A secret under a name that may be shown.
#[derive(Debug, Clone)]
pub struct KnownSecret {
    /// Where it is kept, or what people call it.
    pub name: String,
    /// What it is; never shown.
    pub secret: Secret,
    /// Whether the endpoint verifies with it now.
    pub used: bool,
}

impl Case<'_> {
    /// The secrets that the endpoint verifies with.
    pub(super) fn used(&self) -> impl Iterator<Item = &KnownSecret> {
        self.secrets.iter().filter(|known| known.used)
    }
}

/// A time as people and captures write it: seconds or milliseconds since the
/// Unix epoch, or ISO 8601.
pub fn time(text: &str) -> Option<UnixMillis> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    // Seconds have eleven digits from the year 5138 on.
    match digits {
        true if text.len() <= 11 => moment::stated(text, Unit::Seconds, 0),
        true => moment::stated(text, Unit::Millis, 0),
        false => moment::stated(text, Unit::Iso, 0),
    }
}

/// The descriptions that come with Sekali: who else may have sent it.
pub fn every_vendor() -> Vec<Vendor> {
    builtin::names()
        .filter_map(|name| Vendor::parse(name, &format!("vendors/{name}.toml"), builtin::text(name)?).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_people_write_it() {
        for text in ["1750000000", "1750000000000", "2025-06-15T15:06:40Z", "2025-06-15T17:06:40+02:00"] {
            assert_eq!(time(text), Some(UnixMillis(1_750_000_000_000)), "{text}");
        }
        assert_eq!(time("yesterday"), None);
        assert_eq!(time(""), None);
    }
}
