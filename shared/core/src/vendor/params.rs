//! What an endpoint adds to its vendor's description.

use super::shape::Param;
use std::collections::BTreeMap;

/// The parameters of one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params {
    /// The URL that the vendor calls, as the vendor knows it, without query.
    /// Never taken from the request: behind a stage or a proxy it differs, and
    /// `X-Forwarded-*` is whatever the sender writes.
    pub public_url: Option<String>,
    /// By name, e.g. PayPal's `webhook_id`.
    pub named: BTreeMap<String, String>,
}

impl Params {
    /// Parameters with nothing but a public URL.
    pub fn with_url(url: impl Into<String>) -> Self {
        Self { public_url: Some(url.into()), named: BTreeMap::new() }
    }

    /// A parameter, or the description's default for it.
    pub(crate) fn get<'a>(&'a self, name: &str, declared: &'a [Param]) -> Option<&'a str> {
        self.named
            .get(name)
            .or_else(|| declared.iter().find(|param| param.name == name)?.default.as_ref())
            .map(String::as_str)
    }
}
