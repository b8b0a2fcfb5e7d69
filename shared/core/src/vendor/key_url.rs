//! Where a vendor publishes its keys. A URL that a delivery names is the
//! sender's word: it counts only over TLS, at a pinned host and path, without
//! user, port, query or redirect.

use std::fmt;

/// Longest URL that is looked at; vendors' have about a hundred bytes.
const LONGEST: usize = 512;

/// The URL of a document that holds public keys, at a place that the vendor's
/// description allows. There is no other way to make one, so whoever fetches
/// it asks nobody but the vendor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyUrl {
    text: String,
    path_at: usize,
    stated_by: StatedBy,
}

/// Whose word the URL is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatedBy {
    /// The description's: where nothing is found there, the fault is not the
    /// sender's.
    Description,
    /// The delivery's, which nobody has vouched for: there may well be nothing.
    Delivery,
}

impl KeyUrl {
    /// The URL that a description states.
    pub(super) fn described(url: &str) -> Option<Self> {
        let (host, path_at) = split(url)?;
        let named = host.split('.').all(is_label) && url[path_at..].bytes().all(is_path_byte);
        named.then(|| Self { text: url.to_owned(), path_at, stated_by: StatedBy::Description })
    }

    /// The URL that a delivery names, if its host and its path are among the
    /// description's. A label `{region}` of a host stands for a region of AWS,
    /// a `*` in a path for letters, digits, `-` and `_`.
    pub(super) fn pinned(url: &str, hosts: &[String], paths: &[String]) -> Option<Self> {
        let (host, path_at) = split(url)?;
        let path = &url[path_at..];
        let allowed = hosts.iter().any(|pattern| host_fits(host, pattern))
            && paths.iter().any(|pattern| path_fits(path, pattern));
        allowed.then(|| Self { text: url.to_owned(), path_at, stated_by: StatedBy::Delivery })
    }

    /// The URL; it begins with `https://` and has neither user nor port.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its host.
    pub fn host(&self) -> &str {
        &self.text[SCHEME.len()..self.path_at]
    }

    /// Its path, which begins with `/`; there is no query.
    pub fn path(&self) -> &str {
        &self.text[self.path_at..]
    }

    /// Whose word it is.
    pub fn stated_by(&self) -> StatedBy {
        self.stated_by
    }
}

impl fmt::Display for KeyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const SCHEME: &str = "https://";

/// The host, and where the path begins. What is no plain URL has no host.
fn split(url: &str) -> Option<(&str, usize)> {
    let rest = url.strip_prefix(SCHEME).filter(|_| url.len() <= LONGEST)?;
    let host = &rest[..rest.find('/')?];
    Some((host, SCHEME.len() + host.len()))
}

/// Lower case only: there is one way to write a host.
fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)
}

/// Longest URL of a confirmation: that of SNS has a topic and a token in it.
const LONGEST_CONFIRMATION: usize = 2048;

/// Whether a URL leads over TLS to one of these hosts, without user or port.
/// Its path and query are the vendor's word.
pub(super) fn leads_to(url: &str, hosts: &[String]) -> bool {
    let Some(rest) = url.strip_prefix(SCHEME).filter(|_| url.len() <= LONGEST_CONFIRMATION) else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    hosts.iter().any(|pattern| host_fits(host, pattern))
}

/// What stands for a region of AWS in the pattern of a host.
pub(super) const REGION: &str = "{region}";

fn host_fits(host: &str, pattern: &str) -> bool {
    let (labels, wanted): (Vec<_>, Vec<_>) = (host.split('.').collect(), pattern.split('.').collect());
    let fits = |(label, wanted): (&&str, &&str)| match *wanted {
        REGION => is_region(label),
        wanted => *label == wanted,
    };
    labels.len() == wanted.len() && labels.iter().zip(&wanted).all(fits)
}

/// `us-east-1`, `us-gov-west-1`. Any label would not do: what stands at
/// `sns.s3-us-west-2.amazonaws.com` is the bucket `sns` of whoever has it.
fn is_region(label: &str) -> bool {
    let parts: Vec<&str> = label.split('-').collect();
    let [area, places @ .., number] = parts.as_slice() else { return false };
    let letters = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    area.len() == 2
        && letters(area)
        && !places.is_empty()
        && places.iter().all(|place| letters(place))
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn path_fits(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => path == pattern,
        Some((before, after)) => {
            let middle = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            middle.is_some_and(|middle| {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
                !middle.is_empty() && middle.bytes().all(plain)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pinned(url: &str) -> Option<KeyUrl> {
        let hosts = ["sns.{region}.amazonaws.com".to_owned(), "api.paypal.com".to_owned()];
        let paths = ["/SimpleNotificationService-*.pem".to_owned(), "/v1/certs/*".to_owned()];
        KeyUrl::pinned(url, &hosts, &paths)
    }

    #[test]
    fn only_the_vendors_own_hosts_and_paths_may_be_asked() {
        let sns = pinned("https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0a.pem").unwrap();
        assert_eq!(
            (sns.host(), sns.path()),
            ("sns.us-east-1.amazonaws.com", "/SimpleNotificationService-0a.pem")
        );
        assert_eq!(sns.stated_by(), StatedBy::Delivery);
        assert!(pinned("https://sns.us-gov-west-1.amazonaws.com/SimpleNotificationService-0a.pem").is_some());
        assert!(pinned("https://api.paypal.com/v1/certs/CERT-360caa42_b").is_some());
        for bad in [
            "http://sns.us-east-1.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-0a.pem",
            "https://sns.a.b.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://sns.s3.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://sns.us-east-1a.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://sns.{region}.amazonaws.com/SimpleNotificationService-0a.pem",
            "https://user@api.paypal.com/v1/certs/x",
            "https://api.paypal.com:444/v1/certs/x",
            "https://api.paypal.com@evil.example/v1/certs/x",
            "https://evil.example\\.api.paypal.com/v1/certs/x",
            "https://evil.example/?.api.paypal.com/v1/certs/x",
            "https://api.paypal.com",
            "https://api.paypal.com/",
            "https://api.paypal.com/v1/certs/",
            "https://api.paypal.com/v1/certs/a/b",
            "https://api.paypal.com/v1/certs/..",
            "https://api.paypal.com/v1/certs/a%2fb",
            "https://api.paypal.com/v1/certs/x?to=evil.example",
            "https://api.paypal.com/v1/certs/x#y",
            "https://api.paypal.com/v1/../upload/x",
            "https://api.paypal.com/ v1/certs/x",
            "https://API.paypal.com/v1/certs/x",
            "https://.amazonaws.com/v1/certs/x",
            "https://api.paypal.com/upload/SimpleNotificationService-0a.pem.exe",
            &format!("https://api.paypal.com/v1/certs/{}", "x".repeat(500)),
        ] {
            assert_eq!(pinned(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_description_states_a_plain_url() {
        let url = KeyUrl::described("https://rest.fal.example/.well-known/jwks.json").unwrap();
        assert_eq!(url.stated_by(), StatedBy::Description);
        for bad in
            ["http://a.example/k", "https://a.example", "https://a.example:1/k", "https://a.example/k?x"]
        {
            assert_eq!(KeyUrl::described(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_allowed_has_a_pinned_host_whatever_is_written(text in "(https://)?[a-z.@:/?#\\\\%*]{0,20}(api.paypal.com)?[a-z./@*]{0,20}") {
            if let Some(url) = pinned(&text) {
                prop_assert!(url.host() == "api.paypal.com" || url.host().ends_with(".amazonaws.com"));
                prop_assert_eq!(format!("https://{}{}", url.host(), url.path()), text);
            }
        }
    }
}
