//! Headers that stand twice, that a gateway renamed or left out, or that have
//! other names than the scheme's.

use super::bench::{Bench, Change, Hypotheses, Hypothesis};
use super::cause::Cause;
use super::order::choices;
use super::reads::{Reads, has, reads, renamed, with};
use crate::http::Headers;
use crate::json::Literal;
use crate::source::Source;
use crate::vendor::place::Place;
use crate::vendor::scheme::{Algorithm, Kind, Scheme};

/// What gateways, proxies and CGI put in front of a header's name.
const REMAPPED: [&str; 9] = [
    "x-amzn-remapped-",
    "x-original-",
    "x-forwarded-",
    "x-client-",
    "x-upstream-",
    "x-envoy-",
    "x-proxy-",
    "http-",
    "x-",
];

/// One scheme under the names of two families.
const FAMILIES: [(&str, &str); 2] = [("webhook-", "svix-"), ("svix-", "webhook-")];

/// Headers that every request may have and that never carry a signature.
const ORDINARY: [&str; 22] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "baggage",
    "cache-control",
    "cdn-loop",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "pragma",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "user-agent",
    "via",
    "x-amzn-trace-id",
];

/// Most headers whose meaning is looked for by trying, and most that lack.
const MOST_UNKNOWN: usize = 12;
const MOST_LACKING: usize = 3;

/// Duplicates, renamed headers and constants that are missing.
pub(super) fn hypotheses<'a>(bench: &'a Bench<'a>) -> Hypotheses<'a> {
    let headers = &bench.request.headers;
    let schemes = reads(bench.vendor, bench.params, headers);
    let all: Vec<Hypothesis> = duplicates(headers, &schemes)
        .into_iter()
        .chain(schemes.iter().filter_map(|reads| remapped(headers, reads)))
        .chain(schemes.iter().filter_map(|reads| other_family(headers, reads)))
        .chain(schemes.iter().flat_map(|reads| constants(headers, reads)))
        .collect();
    Box::new(all.into_iter())
}

/// Every header that stands several times reduced to one of its values, also
/// where a gateway joined them with commas.
fn duplicates(headers: &Headers, schemes: &[Reads<'_>]) -> Vec<Hypothesis> {
    let mut found = Vec::new();
    let mut names: Vec<&String> = schemes.iter().flat_map(Reads::all).collect();
    names.sort_unstable();
    names.dedup();
    let is_double = |name: &&&String| headers.all(name).count() > 1;
    let double: Vec<&&String> = names.iter().filter(is_double).collect();
    let says = |name: &str| format!("The header `{name}` stands several times; one of its values is right.");
    for name in &double {
        for value in headers.all(name) {
            let change = Change::Headers(with(headers, name, value));
            found.push(Hypothesis::new(Cause::DuplicateHeader, change, says(name)));
        }
    }
    // Something doubled all of them.
    if double.len() > 1 {
        let pick = |last: bool| {
            double.iter().fold(headers.clone(), |changed, name| {
                let value = if last { headers.all(name).last() } else { headers.all(name).next() };
                with(&changed, name, value.unwrap_or_default())
            })
        };
        for last in [false, true] {
            let says = "Headers of the signature stand several times; one of each is right.";
            found.push(Hypothesis::new(Cause::DuplicateHeader, Change::Headers(pick(last)), says));
        }
    }
    for name in names {
        let Some(joined) = headers.text(name).filter(|text| text.contains(',')) else { continue };
        for part in parts(joined) {
            let change = Change::Headers(with(headers, name, part.as_bytes()));
            found.push(Hypothesis::new(Cause::DuplicateHeader, change, says(name)));
        }
    }
    found
}

/// The values that were joined with commas: each item, or each run of items
/// that begins as the first one does.
fn parts(joined: &str) -> Vec<String> {
    let items: Vec<&str> = joined.split(',').map(str::trim).collect();
    let key = |item: &str| item.split('=').next().unwrap_or(item).to_owned();
    let first = items.first().map(|item| key(item)).unwrap_or_default();
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for item in &items {
        match runs.last_mut() {
            Some(run) if key(item) != first => run.push(item),
            _ => runs.push(vec![item]),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for part in runs.iter().map(|run| run.join(",")).chain(items.into_iter().map(str::to_owned)) {
        if part != joined && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Those headers of the scheme that lack, found under a name that a gateway
/// made of theirs.
fn remapped(headers: &Headers, reads: &Reads<'_>) -> Option<Hypothesis> {
    let names: Vec<(String, String)> = reads
        .all()
        .filter(|wanted| !has(headers, wanted))
        .filter_map(|wanted| {
            let (found, _) = headers.iter().find(|(name, _)| is_remapped(name, wanted))?;
            Some((found.to_owned(), wanted.clone()))
        })
        .collect();
    let (found, wanted) = names.first()?;
    let says = format!("`{wanted}` arrived as `{found}`.");
    Some(Hypothesis::new(Cause::HeaderRemapped, Change::Headers(renamed(headers, &names)), says))
}

/// Whether a gateway made the one name of the other.
pub(super) fn is_remapped(found: &str, wanted: &str) -> bool {
    let plain = found.replace('_', "-");
    found != wanted
        && (plain == wanted
            || wanted.strip_prefix("x-") == Some(plain.as_str())
            || REMAPPED.iter().any(|prefix| plain.strip_prefix(prefix) == Some(wanted)))
}

/// `svix-id` where the scheme has `webhook-id`, or the other way.
fn other_family(headers: &Headers, reads: &Reads<'_>) -> Option<Hypothesis> {
    FAMILIES.iter().find_map(|(own, other)| {
        let names: Vec<(String, String)> = reads
            .all()
            .filter(|wanted| !has(headers, wanted))
            .filter_map(|wanted| Some((format!("{other}{}", wanted.strip_prefix(own)?), wanted.clone())))
            .filter(|(found, _)| has(headers, found))
            .collect();
        if names.is_empty() {
            return None;
        }
        let says = format!("The headers are named `{other}*` where the scheme has `{own}*`.");
        Some(Hypothesis::new(Cause::OtherHeaderNames, Change::Headers(renamed(headers, &names)), says))
    })
}

/// A header that lacks and whose value the scheme itself knows.
fn constants(headers: &Headers, reads: &Reads<'_>) -> Vec<Hypothesis> {
    let mut missing: Vec<(String, Vec<String>)> = Vec::new();
    for (place, literals) in &reads.scheme.require {
        if let Place::Source(Source::Header(name)) = place {
            missing.push((name.to_ascii_lowercase(), literals.iter().map(text).collect()));
        }
    }
    for (source, literals) in &reads.scheme.condition.equal {
        if let Source::Header(name) = source {
            missing.push((name.to_ascii_lowercase(), literals.iter().map(text).collect()));
        }
    }
    if let Some((Place::Source(Source::Header(name)), map)) = named_algorithm(reads.scheme) {
        missing.push((name.to_ascii_lowercase(), map));
    }
    missing.retain(|(name, _)| !has(headers, name));
    let Some((name, _)) = missing.first() else { return Vec::new() };
    let says = format!("`{name}` did not arrive; the scheme knows what it holds.");
    // One value for each: where there are several, the delivery says nothing of which.
    let filled = missing.iter().try_fold(headers.clone(), |changed, (name, values)| {
        Some(with(&changed, name, values.first()?.as_bytes()))
    });
    filled
        .map(|headers| Hypothesis::new(Cause::CompanionHeaderMissing, Change::Headers(headers), says))
        .into_iter()
        .collect()
}

fn text(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) | Literal::Number(text) => text.clone(),
        Literal::Truth(truth) => truth.to_string(),
    }
}

fn named_algorithm(scheme: &Scheme) -> Option<(&Place, Vec<String>)> {
    match &scheme.kind {
        Kind::Hmac(Algorithm::Named { from, list: None, map })
        | Kind::Hash(Algorithm::Named { from, list: None, map })
        | Kind::RsaPkcs1(Algorithm::Named { from, list: None, map }) => {
            Some((from, map.iter().map(|(name, _)| name.clone()).collect()))
        }
        _ => None,
    }
}

/// The headers that lack, each looked for among those that nobody knows.
pub(super) fn unknown_names<'a>(bench: &'a Bench<'a>) -> Hypotheses<'a> {
    let headers = &bench.request.headers;
    let schemes = reads(bench.vendor, bench.params, headers);
    let all: Vec<Hypothesis> = schemes.iter().flat_map(|reads| taken_for(headers, reads)).collect();
    Box::new(all.into_iter())
}

fn taken_for(headers: &Headers, reads: &Reads<'_>) -> Vec<Hypothesis> {
    let lacking: Vec<&String> = reads.needed().filter(|name| !has(headers, name)).collect();
    let mut unknown: Vec<&str> = headers
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !ORDINARY.contains(name) && !reads.all().any(|known| known == name))
        .collect();
    unknown.truncate(MOST_UNKNOWN);
    if lacking.is_empty() || lacking.len() > MOST_LACKING || unknown.len() < lacking.len() {
        return Vec::new();
    }
    choices(lacking.len(), unknown.len())
        .into_iter()
        .map(|chosen| {
            let names: Vec<(String, String)> = chosen
                .iter()
                .zip(&lacking)
                .map(|(at, wanted)| (unknown[*at].to_owned(), (*wanted).clone()))
                .collect();
            let shown: Vec<String> =
                names.iter().map(|(found, wanted)| format!("`{wanted}` arrived as `{found}`")).collect();
            let change = Change::Headers(renamed(headers, &names));
            Hypothesis::new(Cause::OtherHeaderNames, change, format!("{}.", shown.join(", ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gateways_make_of_a_name_is_known() {
        for found in [
            "x-amzn-remapped-x-hub-signature-256",
            "http_x_hub_signature_256",
            "x_hub_signature_256",
            "hub-signature-256",
            "x-original-x-hub-signature-256",
        ] {
            assert!(is_remapped(found, "x-hub-signature-256"), "{found}");
        }
        for other in ["x-hub-signature", "x-hub-signature-256", "x-hubspot-signature-256"] {
            assert!(!is_remapped(other, "x-hub-signature-256"), "{other}");
        }
        assert!(!is_remapped("x-hubspot-signature", "signature"));
    }

    #[test]
    fn joined_values_are_taken_apart() {
        assert_eq!(parts("sha256=a, sha256=b"), ["sha256=a", "sha256=b"]);
        assert!(parts("t=1,v1=a,t=1,v1=a").contains(&"t=1,v1=a".to_owned()));
        assert_eq!(parts("1,2"), ["1", "2"]);
    }
}
