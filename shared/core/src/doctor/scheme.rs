//! The delivery is signed after another scheme: a weaker one of the vendor's
//! own, or another vendor's.

use super::bench::{Bench, Change, Hypotheses, Hypothesis};
use super::case::Case;
use super::cause::Cause;
use super::reads::{Reads, has, reads};
use crate::http::Headers;
use crate::source::Source;
use crate::vendor::algorithm::Digest;
use crate::vendor::place::Place;
use crate::vendor::scheme::{
    Algorithm, Assurance, Condition, Kind, List, Scheme, SignatureForm, SignaturePlace,
};
use crate::vendor::{Params, Vendor};

/// What vendors put into a header's name when they went over to SHA-256.
const STRONGER: [&str; 4] = ["-256", "hmacsha256-", "-sha256", "sha256-"];

/// Signatures that a vendor has given up for better ones.
pub(super) fn weaker<'a>(bench: &'a Bench<'a>) -> Hypotheses<'a> {
    let vendor = bench.vendor;
    let own = vendor.schemes.iter().flat_map(weaker_than);
    let present = own.filter(|(_, header)| has(&bench.request.headers, header));
    Box::new(present.map(|(scheme, header)| {
        let mut changed = vendor.clone();
        changed.schemes = vec![scheme];
        let says = format!(
            "`{header}` carries a weaker signature, which is right; the one that is accepted did not arrive."
        );
        Hypothesis::new(Cause::OnlyWeakerSchemePresent, Change::Vendor(Box::new(changed), None), says)
    }))
}

/// The scheme in its weaker forms, each with the header that carries it.
fn weaker_than(scheme: &Scheme) -> Vec<(Scheme, String)> {
    let [SignaturePlace::Place(Place::Source(Source::Header(name)))] = scheme.signature.from.as_slice()
    else {
        return Vec::new();
    };
    let name = name.to_ascii_lowercase();
    let mut weaker = Vec::new();
    if let Kind::Hmac(Algorithm::Fixed(Digest::Sha256 | Digest::Sha512)) = scheme.kind {
        let shorter = STRONGER.iter().filter(|part| name.contains(**part)).map(|part| name.replace(part, ""));
        for header in shorter {
            for prefix in [Some("sha1="), None] {
                let signature = SignatureForm {
                    from: vec![SignaturePlace::Place(Place::Source(Source::Header(header.clone())))],
                    prefix: prefix.map(str::to_owned),
                    ..scheme.signature.clone()
                };
                weaker.push((with(scheme, Digest::Sha1, signature), header.clone()));
            }
        }
    }
    // Of a list, an earlier version: `v0` where `v1` is wanted.
    if let (Some(list), Kind::Hmac(Algorithm::Fixed(digest))) = (&scheme.signature.list, &scheme.kind)
        && let Some(version) = list.pick.strip_prefix('v').and_then(|number| number.parse::<u32>().ok())
    {
        for earlier in 0..version {
            let list = List { pick: format!("v{earlier}"), ..list.clone() };
            let signature = SignatureForm { list: Some(list), ..scheme.signature.clone() };
            weaker.push((with(scheme, *digest, signature), name.clone()));
        }
    }
    weaker
}

fn with(scheme: &Scheme, digest: Digest, signature: SignatureForm) -> Scheme {
    let kind = Kind::Hmac(Algorithm::Fixed(digest));
    Scheme { kind, signature, condition: Condition::default(), ..scheme.clone() }
}

/// Whether one of the vendor's weaker signatures is there, right or not.
pub(super) fn has_weaker(vendor: &Vendor, headers: &Headers) -> Option<String> {
    let mut weaker = vendor.schemes.iter().flat_map(weaker_than);
    let other = |header: &String| vendor.schemes.iter().all(|scheme| !carries(scheme, header));
    weaker.find(|(_, header)| has(headers, header) && other(header)).map(|(_, header)| header)
}

fn carries(scheme: &Scheme, header: &str) -> bool {
    scheme.signature.from.iter().any(|place| {
        matches!(place, SignaturePlace::Place(Place::Source(Source::Header(name))) if name.eq_ignore_ascii_case(header))
    })
}

/// Every other vendor, those first of whose headers most are there.
pub(super) fn other_vendors<'a>(case: &'a Case<'a>) -> Hypotheses<'a> {
    let mut others: Vec<&Vendor> = case
        .others
        .iter()
        .filter(|other| other.name() != case.vendor.name() && other.assurance() > Assurance::None)
        .collect();
    others.sort_by_key(|other| std::cmp::Reverse(known_headers(other, case.params, &case.request.headers)));
    Box::new(others.into_iter().map(|other| {
        let says = format!("It verifies as a delivery of {}, not of {}.", other.name(), case.vendor.name());
        Hypothesis::new(Cause::OtherVendorScheme, Change::Vendor(Box::new(other.clone()), None), says)
    }))
}

/// How many of the headers that the vendor's description names are there.
pub(super) fn known_headers(vendor: &Vendor, params: &Params, headers: &Headers) -> usize {
    let mut names: Vec<String> = vendor.headers().map(str::to_ascii_lowercase).collect();
    names.extend(
        reads(vendor, params, headers).iter().flat_map(|reads| reads.needed().cloned().collect::<Vec<_>>()),
    );
    names.sort_unstable();
    names.dedup();
    names.iter().filter(|name| name.as_str() != "authorization" && has(headers, name)).count()
}

/// Whether the vendor's deliveries have headers besides those of the signature,
/// and one of them is there; or have none, so that nothing can be missed.
pub(super) fn has_own_headers(case: &Case<'_>) -> bool {
    let schemes = reads(case.vendor, case.params, &case.request.headers);
    let of_signature: Vec<&String> = schemes.iter().flat_map(Reads::all).collect();
    let own: Vec<String> = case
        .vendor
        .headers()
        .map(str::to_ascii_lowercase)
        .filter(|name| !of_signature.contains(&name))
        .collect();
    own.is_empty() || own.iter().any(|name| has(&case.request.headers, name))
}

/// Another vendor whose signature's header is there while the own one is not.
pub(super) fn looks_like<'a>(
    others: &'a [Vendor],
    own: &Vendor,
    params: &Params,
    headers: &Headers,
) -> Option<&'a Vendor> {
    let nameless = |name: &String| name == "authorization" || name == "signature" || name == "x-signature";
    let carries = |vendor: &Vendor| {
        reads(vendor, params, headers)
            .iter()
            .any(|reads| reads.signatures.iter().any(|name| !nameless(name) && has(headers, name)))
    };
    if carries(own) {
        return None;
    }
    others
        .iter()
        .filter(|other| other.name() != own.name() && carries(other))
        .max_by_key(|other| known_headers(other, params, headers))
}
