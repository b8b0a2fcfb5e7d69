//! The cheap hypotheses, for deliveries that are refused in production: so
//! many at most, over bodies of so many bytes at most, with keys that are
//! prepared already.

use super::bench::{Bench, Hypotheses};
use super::cause::Cause;
use super::guess::Evidence;
use super::{body, clock, every_vendor, headers, json, signature, url};
use crate::http::Request;
use crate::time::UnixMillis;
use crate::vendor::{Keys, Params, Refusal, Vendor};
use std::cell::Cell;
use std::sync::OnceLock;

/// Most verifications of one guess (INV-8): anybody can send what is refused.
pub const MOST_TRIED: usize = 40;

/// Longest body whose other writings are tried.
pub const LONGEST_BODY: usize = 64 * 1024;

/// The likely cause of a refusal; what was proved is not told apart from what
/// was guessed. For the log: it says nothing of the secret, the signature or
/// the body.
pub fn quick(
    vendor: &Vendor,
    request: &Request,
    keys: &Keys,
    params: &Params,
    refusal: &Refusal,
    now: UnixMillis,
) -> Option<Cause> {
    let bench = Bench {
        vendor,
        request,
        params,
        keys: Some(keys),
        received_at: Some(now),
        secrets: Vec::new(),
        tried: Cell::new(0),
    };
    let proved = bench.proved(hypotheses(&bench, refusal).take(MOST_TRIED));
    let guessed = || {
        // Only a signature that is not there may be another vendor's.
        let others = match refusal {
            Refusal::Missing(_) | Refusal::NoScheme => everyone(),
            _ => &[],
        };
        Evidence { bench: &bench, others, secrets: &[] }.about(refusal).map(|(cause, _)| cause)
    };
    proved.map(|hypothesis| hypothesis.cause).or_else(guessed)
}

/// Every vendor, read once by a process that needs them.
fn everyone() -> &'static [Vendor] {
    static EVERYONE: OnceLock<Vec<Vendor>> = OnceLock::new();
    EVERYONE.get_or_init(every_vendor)
}

pub(super) fn hypotheses<'a>(bench: &'a Bench<'a>, refusal: &'a Refusal) -> Hypotheses<'a> {
    let about_form = headers::hypotheses(bench)
        .chain(signature::hypotheses(bench))
        .chain(clock::hypotheses(bench, refusal));
    // Only a signature that no key makes says that something else was signed.
    if !matches!(refusal, Refusal::Mismatch | Refusal::OtherBody) {
        return Box::new(about_form);
    }
    let of_body: Hypotheses<'a> = match std::str::from_utf8(&bench.request.body) {
        _ if bench.request.body.len() > LONGEST_BODY => Box::new(std::iter::empty()),
        Ok(text) => Box::new(body::quick(&bench.request.body).chain(json::quick(text))),
        Err(_) => body::quick(&bench.request.body),
    };
    Box::new(about_form.take(MOST_TRIED / 2).chain(of_body).chain(url::hypotheses(bench, &[])))
}
