//! The secret is not the one that the sender has, or not in the form in which
//! the sender has it.

use super::bench::{Change, Hypotheses, Hypothesis};
use super::case::{Case, KnownSecret};
use super::cause::Cause;
use crate::secret::Secret;
use crate::vendor::Vendor;
use crate::vendor::scheme::{KeyEncoding, KeyForm};

/// With what vendors let their secrets begin. Some take the prefix for a part
/// of the key, so that a secret without it is another one.
const PREFIXES: [&str; 10] =
    ["whsec_", "whpk_", "whsk_", "shpss_", "pdl_ntfset_", "secret_", "wsec_", "key-", "sk_", "Bearer "];

/// Secrets that a vendor publishes for its own test button.
const PUBLISHED: [(&str, &str); 1] = [("zendesk", "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==")];

const TEST: [&str; 5] = ["test", "sandbox", "staging", "dev", "demo"];
const LIVE: [&str; 2] = ["live", "prod"];

/// Every other secret, or form of a secret, that may be the sender's.
pub(super) fn hypotheses<'a>(case: &'a Case<'a>) -> Hypotheses<'a> {
    let forms = case.used().flat_map(|known| {
        let Ok(text) = std::str::from_utf8(known.secret.expose()) else {
            return Box::new(std::iter::empty()) as Hypotheses<'a>;
        };
        Box::new(
            pasted(known, text)
                .into_iter()
                .chain(prefixed(known, text))
                .chain(as_text(case.vendor, known, text))
                .chain(not_decoded(case.vendor, known, text)),
        )
    });
    Box::new(forms.chain(others(case)))
}

fn secret(cause: Cause, text: &str, says: String) -> Option<Hypothesis> {
    Some(Hypothesis::new(cause, Change::Secret(Secret::new(text).ok()?), says))
}

/// White space, quotes and the version of signatures, as people paste them.
fn pasted(known: &KnownSecret, text: &str) -> Vec<Hypothesis> {
    let name = &known.name;
    let blank = |c: char| {
        c.is_whitespace() || c.is_control() || "\u{feff}\u{200b}\u{200c}\u{200d}\u{2060}".contains(c)
    };
    let quote = |c: char| "\"'`“”‘’„«»".contains(c);
    let trimmed = text.trim_matches(blank);
    let line = trimmed.trim_end_matches("\\n").trim_end_matches("\\r");
    let one_line: String = trimmed.chars().filter(|c| !c.is_control()).collect();
    let close: String = trimmed.chars().filter(|c| !blank(*c)).collect();
    let mut found = Vec::new();
    for candidate in [trimmed, line, &one_line, &close] {
        if candidate != text {
            let says = format!("There is white space around or in the secret `{name}`.");
            found.extend(secret(Cause::SecretHasWhitespace, candidate, says));
        }
    }
    let unquoted = trimmed.trim_matches(|c| quote(c) || blank(c));
    if unquoted != trimmed {
        let says = format!("The secret `{name}` is stored with its quotes.");
        found.extend(secret(Cause::SecretHasQuotes, unquoted, says));
    }
    if let Some(rest) = unquoted.strip_prefix("v1,").or_else(|| unquoted.strip_prefix("v1a,")) {
        let says = format!("The secret `{name}` begins with the version of a signature.");
        found.extend(secret(Cause::SecretHasVersion, rest, says));
    }
    found
}

fn prefixed(known: &KnownSecret, text: &str) -> Vec<Hypothesis> {
    let fitting = PREFIXES.iter().filter(|prefix| !text.starts_with(**prefix));
    fitting
        .filter_map(|prefix| {
            let says = format!("The secret `{}` lacks `{}` in front.", known.name, prefix.trim());
            secret(Cause::SecretPrefixMissing, &format!("{prefix}{text}"), says)
        })
        .collect()
}

/// The vendor with its keys read in another encoding, where one of its schemes
/// then reads them otherwise.
fn with_keys_in(vendor: &Vendor, encoding: KeyEncoding, prefix: Option<&str>) -> Option<Box<Vendor>> {
    let mut changed = vendor.clone();
    let mut differs = false;
    for scheme in changed.schemes.iter_mut().filter(|scheme| is_shared(scheme.key.encoding)) {
        differs |= scheme.key.encoding != encoding;
        scheme.key = KeyForm { encoding, prefix: prefix.map(str::to_owned), min: 1, ..scheme.key.clone() };
    }
    differs.then(|| Box::new(changed))
}

fn is_shared(encoding: KeyEncoding) -> bool {
    matches!(encoding, KeyEncoding::Utf8 | KeyEncoding::Base64 | KeyEncoding::Hex)
}

/// The sender takes the text for the key where the scheme decodes it: as it is
/// stored, without its prefix, or with it.
fn as_text(vendor: &Vendor, known: &KnownSecret, text: &str) -> Vec<Hypothesis> {
    let Some(changed) = with_keys_in(vendor, KeyEncoding::Utf8, None) else { return Vec::new() };
    let prefixes = vendor.schemes.iter().filter_map(|scheme| scheme.key.prefix.as_deref());
    let mut texts = vec![text.to_owned()];
    for prefix in prefixes {
        texts.push(text.strip_prefix(prefix).map_or_else(|| format!("{prefix}{text}"), str::to_owned));
    }
    texts.dedup();
    texts
        .into_iter()
        .filter_map(|text| {
            let change = Change::Vendor(changed.clone(), Some(Secret::new(text).ok()?));
            let says = format!("The sender takes the text of the secret `{}` for the key.", known.name);
            Some(Hypothesis::new(Cause::SenderUsedSecretAsText, change, says))
        })
        .collect()
}

/// The secret is hex or base64 of what the sender takes for it.
fn not_decoded(vendor: &Vendor, known: &KnownSecret, text: &str) -> Vec<Hypothesis> {
    let hex = crate::vendor::algorithm::hex_bytes(text.as_bytes(), true);
    let mut found = Vec::new();
    if let Some(inner) = hex.and_then(|bytes| Secret::new(bytes).ok()) {
        let says = format!("The secret `{}` is hex digits of what the vendor shows.", known.name);
        found.push(Hypothesis::new(Cause::HexKeyNotDecoded, Change::Secret(inner), says));
    }
    let readings = [
        (KeyEncoding::Hex, Cause::HexKeyNotDecoded, "hex digits"),
        (KeyEncoding::Base64, Cause::Base64KeyNotDecoded, "base64"),
    ];
    for (encoding, cause, name) in readings {
        let prefix = PREFIXES.iter().copied().find(|prefix| text.starts_with(prefix));
        let Some(changed) = with_keys_in(vendor, encoding, prefix) else { continue };
        let says = format!("The key is what the secret `{}` is {name} of.", known.name);
        found.push(Hypothesis::new(cause, Change::Vendor(changed, Some(known.secret.clone())), says));
    }
    found
}

/// Secrets that are at hand and not in use, and those that vendors publish.
fn others<'a>(case: &'a Case<'a>) -> impl Iterator<Item = Hypothesis> + 'a {
    let unused = case.secrets.iter().filter(|known| !known.used).map(|known| {
        let (cause, says) = match is_of_other_mode(case, known) {
            true => (Cause::TestLiveSecretMixed, "the one of the other mode"),
            false => (Cause::OtherSecretOfEndpoint, "which is not in use"),
        };
        let says = format!("The delivery is signed with `{}`, {says}.", known.name);
        Hypothesis::new(cause, Change::Secret(known.secret.clone()), says)
    });
    let published = PUBLISHED.iter().filter(|(vendor, _)| *vendor == case.vendor.name().as_str());
    let published = published.filter_map(|(_, text)| {
        let says = "The delivery is signed with the secret that the vendor publishes for tests.".to_owned();
        secret(Cause::TestLiveSecretMixed, text, says)
    });
    unused.chain(published)
}

/// What a name, or a secret whose form tells it, is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Test,
    Live,
}

/// The mode that words of a text tell.
pub(super) fn mode(text: &str) -> Option<Mode> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| {
        let is = |known: &[&str]| known.iter().any(|known| word.starts_with(known));
        if is(&TEST) {
            Some(Mode::Test)
        } else if is(&LIVE) {
            Some(Mode::Live)
        } else {
            None
        }
    })
}

/// Whether the secret is for test where those in use are for live, or the
/// other way: by their names, else by what they begin with.
fn is_of_other_mode(case: &Case<'_>, other: &KnownSecret) -> bool {
    let by_form = |known: &KnownSecret| mode(&String::from_utf8_lossy(known.secret.expose()));
    let used = || case.used();
    match (mode(&other.name), used().find_map(|known| mode(&known.name))) {
        (Some(other), Some(used)) => other != used,
        (Some(_), None) => true,
        (None, _) => match (by_form(other), used().find_map(by_form)) {
            (Some(other), Some(used)) => other != used,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_told_by_words_and_not_by_parts_of_them() {
        assert_eq!(mode("stripe-test"), Some(Mode::Test));
        assert_eq!(mode("whsec_live_1"), Some(Mode::Live));
        assert_eq!(mode("env:SHOP_PRODUCTION_SECRET"), Some(Mode::Live));
        assert_eq!(mode("latest"), None);
        assert_eq!(mode("current"), None);
    }
}
