//! The signature is right and written otherwise than the scheme wants it:
//! upper case, another encoding, without its prefix.

use super::bench::{Bench, Change, Hypotheses, Hypothesis};
use super::cause::Cause;
use super::reads::{reads, with};
use crate::vendor::algorithm::{Encoding, hex_bytes};
use crate::vendor::scheme::SignatureForm;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

type Rewrite = fn(&str, &SignatureForm) -> Option<String>;

/// Each way to write signatures other than the scheme's, and how to put it
/// into the scheme's.
const WAYS: [(Cause, Rewrite, &str); 7] = [
    (Cause::SignatureUppercaseHex, lower_case, "is in upper case"),
    (Cause::SignaturePrefixMissing, prefixed, "lacks what stands in front of the signature"),
    (Cause::SignatureEncoding, from_hex, "is in hex digits"),
    (Cause::SignatureEncoding, from_base64, "is in another base64, or in base64 at all"),
    (Cause::SignatureEncoding, from_text, "is base64 of the text of the signature"),
    (Cause::SignatureEncoding, unescaped, "is percent-encoded or in quotes"),
    (Cause::SignatureEncoding, stripped, "has something in front of it that the scheme has not"),
];

/// Each way to write signatures, put into the scheme's.
pub(super) fn hypotheses<'a>(bench: &'a Bench<'a>) -> Hypotheses<'a> {
    let headers = &bench.request.headers;
    let mut all = Vec::new();
    for scheme in reads(bench.vendor, bench.params, headers) {
        for name in &scheme.signatures {
            let Some(value) = headers.text(name) else { continue };
            for (cause, rewrite, how) in WAYS {
                let Some(changed) = rewrite(value, scheme.form()).filter(|changed| changed != value) else {
                    continue;
                };
                let change = Change::Headers(with(headers, name, changed.as_bytes()));
                all.push(Hypothesis::new(cause, change, format!("The signature in `{name}` {how}.")));
            }
        }
    }
    Box::new(all.into_iter())
}

/// How the signature is written, where that is not the scheme's way but one
/// that can be put into it.
pub(super) fn malformed(bench: &Bench<'_>) -> Option<(Cause, &'static str)> {
    let headers = &bench.request.headers;
    reads(bench.vendor, bench.params, headers).iter().find_map(|scheme| {
        let value = scheme.signatures.iter().find_map(|name| headers.text(name))?;
        let well_formed = |changed: String| changed != value && decodes(&changed, scheme.form());
        let way = WAYS.iter().find(|(_, rewrite, _)| rewrite(value, scheme.form()).is_some_and(well_formed));
        way.map(|(cause, _, how)| (*cause, *how))
    })
}

/// Whether a value holds a signature in the scheme's own writing.
fn decodes(value: &str, form: &SignatureForm) -> bool {
    each(value, form, |signature| {
        form.encoding.decode(signature.as_bytes()).filter(|bytes| bytes.len() >= 16).map(|_| String::new())
    })
    .is_some()
}

/// Each signature of a value rewritten; its prefix and the other elements of a
/// list stay.
fn each(value: &str, form: &SignatureForm, rewrite: impl Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(list) = &form.list {
        let items: Vec<String> = value
            .split(list.items)
            .map(|item| match item.trim().split_once(list.pair) {
                Some((key, signature)) if key == list.pick => {
                    Some(format!("{key}{}{}", list.pair, rewrite(signature)?))
                }
                _ => Some(item.to_owned()),
            })
            .collect::<Option<_>>()?;
        return Some(items.join(&list.items.to_string()));
    }
    let prefix = form.prefix.as_deref().unwrap_or_default();
    Some(format!("{prefix}{}", rewrite(value.strip_prefix(prefix)?)?))
}

fn lower_case(value: &str, form: &SignatureForm) -> Option<String> {
    let hex = form.encoding == Encoding::Hex;
    hex.then(|| each(value, form, |signature| Some(signature.to_ascii_lowercase()))).flatten()
}

/// The prefix, or the name of the element, in front of a bare signature or in
/// place of what stands there.
fn prefixed(value: &str, form: &SignatureForm) -> Option<String> {
    if let Some(list) = &form.list {
        let has_pick = value
            .split(list.items)
            .any(|item| item.trim().split_once(list.pair).is_some_and(|(key, _)| key == list.pick));
        if has_pick {
            return None;
        }
        let items: Vec<String> = value
            .split(list.items)
            .map(|item| match item.trim() {
                // Another element of the list, such as its time.
                element if element.contains(list.pair) && list.items != ' ' => element.to_owned(),
                signature => format!("{}{}{}", list.pick, list.pair, bare(signature)),
            })
            .collect();
        return Some(items.join(&list.items.to_string()));
    }
    let prefix = form.prefix.as_deref()?;
    (!value.starts_with(prefix)).then(|| format!("{prefix}{}", bare(value)))
}

/// What stands behind something like `sha256=`. Base64 may end in `=`; a
/// prefix has more behind it than in front.
fn bare(text: &str) -> &str {
    let cut = text.find(['=', ',', ' ', ':']).filter(|at| text[at + 1..].len() > text.len() / 2);
    cut.map_or(text, |at| text[at + 1..].trim())
}

fn stripped(value: &str, form: &SignatureForm) -> Option<String> {
    let takes_none = form.prefix.is_none() && form.list.is_none();
    takes_none.then(|| bare(value).to_owned())
}

fn from_hex(value: &str, form: &SignatureForm) -> Option<String> {
    each(value, form, |signature| Some(form.encoding.encode(&hex_bytes(signature.as_bytes(), true)?)))
}

fn from_base64(value: &str, form: &SignatureForm) -> Option<String> {
    each(value, form, |signature| Some(form.encoding.encode(&base64(signature)?)))
}

fn from_text(value: &str, form: &SignatureForm) -> Option<String> {
    each(value, form, |signature| {
        let text = String::from_utf8(base64(signature)?).ok()?;
        form.encoding.decode(text.as_bytes()).map(|_| text)
    })
}

fn base64(text: &str) -> Option<Vec<u8>> {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|base64| base64.decode(text).ok())
}

/// Without quotes and percent-escapes, as a whole.
fn unescaped(value: &str, _form: &SignatureForm) -> Option<String> {
    let bare = value.trim_matches(['"', '\'']);
    let pairs = crate::vendor::form::pairs(bare.as_bytes()).next();
    match (bare.contains('%'), pairs) {
        (true, Some((name, rest))) if rest.is_empty() => String::from_utf8(name).ok(),
        (true, Some((name, rest))) => {
            Some(format!("{}={}", String::from_utf8(name).ok()?, String::from_utf8(rest).ok()?))
        }
        _ => Some(bare.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::scheme::List;

    fn form(prefix: Option<&str>, list: Option<List>, encoding: Encoding) -> SignatureForm {
        SignatureForm {
            from: Vec::new(),
            list,
            prefix: prefix.map(str::to_owned),
            prefix_may_lack: false,
            encoding,
        }
    }

    fn versions() -> Option<List> {
        Some(List { items: ' ', pair: ',', pick: "v1".into() })
    }

    #[test]
    fn a_signature_is_put_into_the_encoding_of_its_scheme() {
        let hex = form(Some("sha256="), None, Encoding::Hex);
        assert_eq!(lower_case("sha256=0AFF", &hex).as_deref(), Some("sha256=0aff"));
        assert_eq!(from_base64("sha256=Cv8=", &hex).as_deref(), Some("sha256=0aff"));
        assert_eq!(from_base64("sha256=Cv8", &hex).as_deref(), Some("sha256=0aff"));
        assert_eq!(from_text("sha256=MGFmZg==", &hex).as_deref(), Some("sha256=0aff"));
        let base64 = form(None, versions(), Encoding::Base64);
        assert_eq!(from_hex("v1,0aff v2,x", &base64).as_deref(), Some("v1,Cv8= v2,x"));
        assert_eq!(unescaped("Cv8%3D", &base64).as_deref(), Some("Cv8="));
    }

    #[test]
    fn what_belongs_in_front_of_a_signature_is_put_there() {
        let hex = form(Some("sha256="), None, Encoding::Hex);
        for value in ["0aff0aff", "SHA256=0aff0aff", "sha-256=0aff0aff0aff"] {
            let end = value.rsplit('=').next().unwrap();
            assert_eq!(prefixed(value, &hex), Some(format!("sha256={end}")), "{value}");
        }
        let base64 = form(None, versions(), Encoding::Base64);
        assert_eq!(prefixed("Cv8Cv8Cv8==", &base64).as_deref(), Some("v1,Cv8Cv8Cv8=="));
        assert_eq!(prefixed("v1,Cv8=", &base64), None);
        let stamped = Some(List { items: ',', pair: '=', pick: "v1".into() });
        let stamped = form(None, stamped, Encoding::Hex);
        assert_eq!(prefixed("t=1,0aff0aff", &stamped).as_deref(), Some("t=1,v1=0aff0aff"));
    }
}
