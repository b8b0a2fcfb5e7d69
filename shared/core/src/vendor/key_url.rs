//! Keys that the delivery itself points to. The URL is the sender's word, so
//! it counts only over TLS, at a pinned host, without user, port or redirect.

/// Whether the URL lies at one of the hosts; a label `*` stands for any one
/// label of letters, digits and hyphens.
pub(crate) fn allowed(url: &str, hosts: &[String]) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let clean = url.bytes().all(|byte| byte.is_ascii_graphic());
    clean && rest.len() > authority.len() && hosts.iter().any(|pattern| fits(authority, pattern))
}

fn fits(host: &str, pattern: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let (labels, wanted): (Vec<_>, Vec<_>) = (host.split('.').collect(), pattern.split('.').collect());
    labels.len() == wanted.len()
        && labels
            .iter()
            .zip(&wanted)
            .all(|(label, wanted)| is_label(label) && (*wanted == "*" || label == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vendors_own_hosts_may_be_asked() {
        let hosts = ["sns.*.amazonaws.com".to_owned(), "api.paypal.com".to_owned()];
        for good in ["https://sns.us-east-1.amazonaws.com/x.pem", "https://api.paypal.com/v1/certs/C-1"] {
            assert!(allowed(good, &hosts), "{good}");
        }
        for bad in [
            "http://sns.us-east-1.amazonaws.com/x.pem",
            "https://sns.us-east-1.amazonaws.com.evil.example/x.pem",
            "https://sns.a.b.amazonaws.com/x.pem",
            "https://user@api.paypal.com/x",
            "https://api.paypal.com:444/x",
            "https://api.paypal.com@evil.example/x",
            "https://evil.example\\.api.paypal.com/x",
            "https://evil.example/?.api.paypal.com/",
            "https://api.paypal.com",
            "https://api.paypal.com/ x",
            "https://API.paypal.com/x",
            "https://.amazonaws.com/x",
        ] {
            assert!(!allowed(bad, &hosts), "{bad}");
        }
    }
}
