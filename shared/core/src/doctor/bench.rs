//! Where hypotheses are tried: one change to the case, then the real
//! verification. What verifies is proved; nothing else is.

use super::case::Case;
use super::cause::Cause;
use crate::http::{Headers, Request};
use crate::secret::Secret;
use crate::time::UnixMillis;
use crate::vendor::{Keys, Params, Refusal, Vendor};
use std::cell::Cell;

/// A time outside of this span (2001 to 2100) is no time of a delivery but
/// another unit.
const PLAUSIBLE: std::ops::RangeInclusive<i64> = 1_000_000_000_000..=4_102_444_800_000;

/// One change to a case.
pub(super) enum Change {
    /// Another body.
    Body(Vec<u8>),
    /// Other headers.
    Headers(Headers),
    /// Another URL, query included.
    Url(String),
    /// One other secret in place of those that are used.
    Secret(Secret),
    /// The same keys, read after another description.
    Reading(Box<Vendor>),
    /// Another description, its keys made anew from the used secrets or from
    /// this one.
    Vendor(Box<Vendor>, Option<Secret>),
    /// Another time of arrival.
    Now(UnixMillis),
}

/// A change, what it would mean, and what was found, in words. The words name
/// places and never values: a value may be a secret or a signature.
pub(super) struct Hypothesis {
    pub(super) cause: Cause,
    pub(super) change: Change,
    pub(super) says: String,
}

impl Hypothesis {
    pub(super) fn new(cause: Cause, change: Change, says: impl Into<String>) -> Self {
        Self { cause, change, says: says.into() }
    }
}

/// Hypotheses, made one after another as they are tried.
pub(super) type Hypotheses<'a> = Box<dyn Iterator<Item = Hypothesis> + 'a>;

/// A delivery with the keys that it is verified with.
pub(super) struct Bench<'a> {
    pub(super) vendor: &'a Vendor,
    pub(super) request: &'a Request,
    pub(super) params: &'a Params,
    /// `None`: no key can be made of the secrets.
    pub(super) keys: Option<&'a Keys>,
    pub(super) received_at: Option<UnixMillis>,
    /// The secrets in use, where they are at hand.
    pub(super) secrets: Vec<&'a Secret>,
    pub(super) tried: Cell<usize>,
}

impl<'a> Bench<'a> {
    pub(super) fn of(case: &'a Case<'a>, keys: Option<&'a Keys>) -> Self {
        Self {
            vendor: case.vendor,
            request: case.request,
            params: case.params,
            keys,
            received_at: case.received_at,
            secrets: case.used().map(|known| &known.secret).collect(),
            tried: Cell::new(0),
        }
    }

    /// Whether the delivery verifies as it is; `None` without a key.
    pub(super) fn as_received(&self) -> Option<Result<(), Refusal>> {
        Some(judge(self.vendor, self.request, self.keys?, self.params, self.received_at))
    }

    /// Whether it verifies as it is at another time; `None` without a key.
    pub(super) fn at(&self, now: UnixMillis) -> Option<Result<(), Refusal>> {
        Some(judge(self.vendor, self.request, self.keys?, self.params, Some(now)))
    }

    /// The first hypothesis under which the delivery verifies.
    pub(super) fn proved(&self, hypotheses: impl Iterator<Item = Hypothesis>) -> Option<Hypothesis> {
        let mut hypotheses = hypotheses;
        hypotheses.find(|hypothesis| self.holds(&hypothesis.change))
    }

    /// Whether the delivery verifies after the change.
    pub(super) fn holds(&self, change: &Change) -> bool {
        self.tried.set(self.tried.get() + 1);
        match change {
            Change::Body(body) => {
                let request = Request { body: body.clone(), ..self.without_body() };
                self.verifies(self.vendor, &request, self.params)
            }
            Change::Headers(headers) => {
                let request = Request { headers: headers.clone(), ..self.request.clone() };
                self.verifies(self.vendor, &request, self.params)
            }
            Change::Url(url) => {
                let (bare, query) = url.split_once('?').unwrap_or((url, ""));
                let request = Request { query: query.to_owned(), ..self.request.clone() };
                let params = Params { public_url: Some(bare.to_owned()), named: self.params.named.clone() };
                self.verifies(self.vendor, &request, &params)
            }
            Change::Reading(vendor) => self.verifies(vendor, self.request, self.params),
            Change::Secret(secret) => self.verifies_with(self.vendor, std::slice::from_ref(&secret)),
            Change::Vendor(vendor, Some(secret)) => self.verifies_with(vendor, std::slice::from_ref(&secret)),
            Change::Vendor(vendor, None) => self.verifies_with(vendor, &self.secrets),
            Change::Now(now) => self
                .keys
                .is_some_and(|keys| judge(self.vendor, self.request, keys, self.params, Some(*now)).is_ok()),
        }
    }

    fn verifies(&self, vendor: &Vendor, request: &Request, params: &Params) -> bool {
        self.keys.is_some_and(|keys| judge(vendor, request, keys, params, self.received_at).is_ok())
    }

    fn verifies_with(&self, vendor: &Vendor, secrets: &[&Secret]) -> bool {
        keys(vendor, secrets)
            .is_some_and(|keys| judge(vendor, self.request, &keys, self.params, self.received_at).is_ok())
    }

    fn without_body(&self) -> Request {
        Request {
            method: self.request.method.clone(),
            path: self.request.path.clone(),
            query: self.request.query.clone(),
            headers: self.request.headers.clone(),
            body: Vec::new(),
        }
    }
}

/// The keys of those secrets that the vendor can use.
pub(super) fn keys(vendor: &Vendor, secrets: &[&Secret]) -> Option<Keys> {
    let usable: Vec<Secret> = secrets
        .iter()
        .filter(|secret| vendor.keys(std::slice::from_ref(**secret)).is_ok())
        .map(|secret| (*secret).clone())
        .collect();
    vendor.keys(&usable).ok()
}

/// Verifies. Where the time of arrival is not known, the signed time only has
/// to be one that can be.
fn judge(
    vendor: &Vendor,
    request: &Request,
    keys: &Keys,
    params: &Params,
    received_at: Option<UnixMillis>,
) -> Result<(), Refusal> {
    if let Some(now) = received_at {
        return vendor.verify(request, keys, params, now).map(drop);
    }
    let mut now = UnixMillis(0);
    let mut refused = Ok(());
    // A token states up to three times of its own.
    for _ in 0..4 {
        let (moved, why) = match vendor.verify(request, keys, params, now) {
            Ok(verified) => {
                let plausible = verified.signed_at.is_none_or(|at| PLAUSIBLE.contains(&at.0));
                return if plausible {
                    Ok(())
                } else {
                    Err(Refusal::TooOld { skew: now.since(UnixMillis(0)) })
                };
            }
            Err(Refusal::TooNew { skew }) => (now.plus(skew), Refusal::TooNew { skew }),
            Err(Refusal::TooOld { skew }) => (now.minus(skew), Refusal::TooOld { skew }),
            Err(other) => return Err(other),
        };
        now = moved;
        refused = Err(why);
    }
    refused
}
