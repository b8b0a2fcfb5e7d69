//! What the doctor is given.

use crate::http::Request;
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Params, Vendor, builtin};

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

/// The descriptions that come with Sekali: who else may have sent it.
pub fn every_vendor() -> Vec<Vendor> {
    builtin::names()
        .filter_map(|name| Vendor::parse(name, &format!("vendors/{name}.toml"), builtin::text(name)?).ok())
        .collect()
}
