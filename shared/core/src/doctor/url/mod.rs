//! The URL that the vendor signed is not the one that the receiver takes for
//! it: behind a gateway, scheme, host, path and query may all differ.

mod query;

use super::bench::{Bench, Change, Hypotheses, Hypothesis};
use super::cause::Cause;
use super::form::writings;
use crate::vendor::form::pairs;

/// How people call the stages of their gateways.
const STAGES: [&str; 18] = [
    "prod",
    "production",
    "dev",
    "development",
    "stage",
    "staging",
    "test",
    "testing",
    "live",
    "qa",
    "uat",
    "preprod",
    "sandbox",
    "beta",
    "default",
    "$default",
    "v1",
    "v2",
];

/// Headers in which proxies say how they were called.
const HOSTS: [&str; 4] = ["x-forwarded-host", "x-original-host", "host", "x-host"];
const TARGETS: [&str; 5] =
    ["x-original-uri", "x-original-url", "x-forwarded-uri", "x-rewrite-url", "x-envoy-original-path"];
const PREFIXES: [&str; 2] = ["x-forwarded-prefix", "x-script-name"];

/// A part of the host that API Gateway gives an API.
const GATEWAY: &str = ".execute-api.";

/// A URL in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Parts {
    pub(super) fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        Some(Self { scheme: scheme.into(), host: host.into(), path: path.into(), query: query.into() })
    }

    fn text(&self) -> String {
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        format!("{}://{}{}{query}", self.scheme, self.host, self.path)
    }

    fn with_path(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self.clone() }
    }

    fn with_host(&self, host: impl Into<String>) -> Self {
        Self { host: host.into(), ..self.clone() }
    }

    fn segments(&self) -> Vec<&str> {
        self.path.split('/').filter(|segment| !segment.is_empty()).collect()
    }

    /// Whether it looks like an address that no vendor calls: an internal one,
    /// or the one that a gateway has by itself.
    pub(super) fn is_internal(&self) -> bool {
        let host = self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, _)| host);
        let private = match host.parse::<std::net::IpAddr>() {
            Ok(std::net::IpAddr::V4(address)) => address.is_private() || address.is_loopback(),
            Ok(std::net::IpAddr::V6(address)) => address.is_loopback(),
            Err(_) => false,
        };
        let ends = [".internal", ".local", ".svc", ".lan", ".elb.amazonaws.com", ".cloudfront.net"];
        private
            || host == "localhost"
            || !host.contains('.')
            || host.contains(GATEWAY)
            || ends.iter().any(|end| host.ends_with(end))
    }

    pub(super) fn is_plain_http(&self) -> bool {
        self.scheme == "http"
    }
}

/// The URL that was verified with.
pub(super) fn used(bench: &Bench<'_>) -> Option<Parts> {
    let bare = Parts::of(bench.params.public_url.as_deref()?)?;
    Some(Parts { query: bench.request.query.clone(), ..bare })
}

/// Every other URL that may be the signed one, where the vendor signs it.
pub(super) fn hypotheses<'a>(bench: &'a Bench<'a>, known: &'a [String]) -> Hypotheses<'a> {
    let Some(used) = used(bench).filter(|_| bench.vendor.needs_public_url()) else {
        return Box::new(std::iter::empty());
    };
    let from_known = known.iter().filter_map(|url| Parts::of(url)).flat_map({
        let query = used.query.clone();
        move |known| [Parts { query: query.clone(), ..known.clone() }, known]
    });
    let candidates = from_known
        .chain(flipped(&used))
        .chain(hosts(bench, &used))
        .chain(paths(bench, &used))
        .chain(query::others(&used.query).map({
            let used = used.clone();
            move |query| Parts { query, ..used.clone() }
        }))
        .filter({
            let used = used.clone();
            move |other| *other != used
        });
    Box::new(candidates.map(move |other| {
        let (cause, says) = difference(&used, &other);
        Hypothesis::new(cause, Change::Url(other.text()), says)
    }))
}

/// What sets the two apart first. The words hold no query: it may carry a secret.
fn difference(used: &Parts, signed: &Parts) -> (Cause, String) {
    if used.host != signed.host {
        return (Cause::UrlHost, format!("The vendor signed the host {}, not {}.", signed.host, used.host));
    }
    if used.path != signed.path {
        let (ours, theirs) = (used.segments(), signed.segments());
        let gateway = used.host.contains(GATEWAY);
        let is_stage = |name: &&str| gateway || STAGES.contains(&name.to_ascii_lowercase().as_str());
        let more = |longer: &[&str], shorter: &[&str]| {
            longer.split_first().is_some_and(|(first, rest)| is_stage(first) && rest == shorter)
        };
        let cause = match more(&ours, &theirs) || more(&theirs, &ours) {
            true => Cause::UrlStagePrefix,
            false => Cause::UrlPathChanged,
        };
        return (cause, format!("The vendor signed the path {}, not {}.", signed.path, used.path));
    }
    if used.query != signed.query {
        return (
            Cause::UrlQueryChanged,
            "The vendor signed the query in another writing or order.".to_owned(),
        );
    }
    (Cause::UrlScheme, format!("The vendor signed the URL with {}, not {}.", signed.scheme, used.scheme))
}

fn flipped(used: &Parts) -> impl Iterator<Item = Parts> + use<> {
    let scheme = if used.scheme == "https" { "http" } else { "https" };
    std::iter::once(Parts { scheme: scheme.to_owned(), ..used.clone() })
}

fn hosts(bench: &Bench<'_>, used: &Parts) -> impl Iterator<Item = Parts> + use<> {
    let mut hosts: Vec<String> =
        HOSTS.iter().filter_map(|name| bench.request.headers.text(name)).map(str::to_owned).collect();
    if let Some(forwarded) = bench.request.headers.text("forwarded") {
        let stated = forwarded.split([';', ',']).filter_map(|pair| pair.trim().strip_prefix("host="));
        hosts.extend(stated.map(|host| host.trim_matches('"').to_owned()));
    }
    if let Some((bare, _)) = used.host.rsplit_once(':') {
        hosts.push(bare.to_owned());
    }
    hosts.push(match used.host.strip_prefix("www.") {
        Some(bare) => bare.to_owned(),
        None => format!("www.{}", used.host),
    });
    hosts.push(used.host.to_ascii_lowercase());
    let used = used.clone();
    hosts.into_iter().flat_map(move |host| {
        let moved = used.with_host(host);
        ["https", "http"].map(|scheme| Parts { scheme: scheme.to_owned(), ..moved.clone() })
    })
}

fn paths(bench: &Bench<'_>, used: &Parts) -> impl Iterator<Item = Parts> + use<> {
    let mut found: Vec<Parts> = Vec::new();
    let stated = |names: &[&str]| -> Vec<String> {
        names.iter().filter_map(|name| bench.request.headers.text(name)).map(str::to_owned).collect()
    };
    for target in stated(&TARGETS) {
        let (path, query) = target.split_once('?').unwrap_or((&target, &used.query));
        let path =
            path.split_once("://").map_or(path, |(_, rest)| &rest[rest.find('/').unwrap_or(rest.len())..]);
        found.push(Parts { path: path.to_owned(), query: query.to_owned(), ..used.clone() });
    }
    let called = &bench.request.path;
    let segments = used.segments();
    let mut others: Vec<String> = vec![called.clone()];
    others.extend(
        stated(&PREFIXES).into_iter().map(|prefix| format!("{}{}", prefix.trim_end_matches('/'), used.path)),
    );
    others.extend((1..=segments.len()).map(|cut| format!("/{}", segments[cut..].join("/"))));
    others.extend(STAGES.iter().flat_map(|stage| {
        let capital = format!("{}{}", stage[..1].to_ascii_uppercase(), &stage[1..]);
        [format!("/{stage}{}", used.path), format!("/{capital}{}", used.path)]
    }));
    others.push(match used.path.strip_suffix('/') {
        Some(bare) => bare.to_owned(),
        None => format!("{}/", used.path),
    });
    others.push(format!("/{}", segments.join("/")));
    others.push(used.path.to_ascii_lowercase());
    others.extend(String::from_utf8(decoded(&used.path)));
    others.extend(writings().filter_map(|writing| {
        let plain: Vec<u8> = decoded(&used.path);
        let written: Vec<Vec<u8>> =
            plain.split(|byte| *byte == b'/').map(|part| writing.written(part)).collect();
        String::from_utf8(written.join(&b'/')).ok()
    }));
    found.extend(others.into_iter().map(|path| used.with_path(path)));
    found.into_iter()
}

/// Escapes undone; a path has no `+` for a space.
fn decoded(path: &str) -> Vec<u8> {
    let kept = path.replace('+', "%2B");
    pairs(kept.replace('&', "%26").replace('=', "%3D").as_bytes())
        .next()
        .map(|(name, _)| name)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(used: &str, signed: &str) -> Cause {
        difference(&Parts::of(used).unwrap(), &Parts::of(signed).unwrap()).0
    }

    #[test]
    fn two_urls_differ_in_the_first_thing_that_matters() {
        let signed = "https://hooks.example.com/in/a?x=1&y=2";
        for (used, expected) in [
            ("http://hooks.example.com/in/a?x=1&y=2", Cause::UrlScheme),
            ("http://10.0.0.1:8080/in/a?x=1&y=2", Cause::UrlHost),
            ("https://hooks.example.com/prod/in/a?x=1&y=2", Cause::UrlStagePrefix),
            ("https://hooks.example.com/a?x=1&y=2", Cause::UrlPathChanged),
            ("https://hooks.example.com/in/a/?x=1&y=2", Cause::UrlPathChanged),
            ("https://hooks.example.com/in/a?y=2&x=1", Cause::UrlQueryChanged),
        ] {
            assert_eq!(cause(used, signed), expected, "{used}");
        }
        assert_eq!(cause(signed, "https://hooks.example.com/dev/in/a?x=1&y=2"), Cause::UrlStagePrefix);
    }

    #[test]
    fn addresses_that_no_vendor_can_call_are_known() {
        for url in ["http://localhost/a", "https://10.0.3.7:8443/a", "http://web.svc/a", "http://api:80/"] {
            assert!(Parts::of(url).unwrap().is_internal(), "{url}");
        }
        assert!(!Parts::of("https://hooks.example.com/a").unwrap().is_internal());
    }
}
