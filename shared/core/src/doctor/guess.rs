//! Where nothing can be proved: what the delivery itself makes likely. A guess
//! is called one, and where there is no evidence there is none.

use super::bench::Bench;
use super::case::KnownSecret;
use super::cause::Cause;
use super::reads::{Reads, has, reads};
use super::secret::{Mode, mode};
use super::{headers, json, scheme, signature, url};
use crate::http::Request;
use crate::payload::Payload;
use crate::source::Source;
use crate::vendor::place::Place;
use crate::vendor::template::{Part, Template};
use crate::vendor::{KeyFault, Refusal, UnusableKey, Vendor};

/// A likely cause and the evidence for it.
pub(super) type Guess = (Cause, String);

/// Encodings of content that are not undone here, by what they are called.
const COMPRESSED: [&str; 5] = ["gzip", "deflate", "br", "zstd", "compress"];

/// What makes a delivery unlikely to verify, besides what was tried.
pub(super) struct Evidence<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) others: &'a [Vendor],
    pub(super) secrets: &'a [KnownSecret],
}

impl Evidence<'_> {
    /// The likeliest cause of a refusal.
    pub(super) fn about(&self, refusal: &Refusal) -> Option<Guess> {
        match refusal {
            Refusal::Repeated(place) => Some((
                Cause::DuplicateHeader,
                format!("`{place}` stands several times, and none of its values verifies."),
            )),
            Refusal::Missing(_) | Refusal::NoScheme => self.about_headers(refusal),
            Refusal::Malformed(place) => {
                signature::malformed(self.bench).map(|(cause, how)| (cause, format!("`{place}` {how}.")))
            }
            Refusal::OtherBody => {
                let said = "The signature is right, and the digest that it covers is of another body.";
                let (cause, more) = body(self.bench.request).unwrap_or((Cause::BodyChanged, String::new()));
                Some((cause, format!("{said} {more}").trim().to_owned()))
            }
            Refusal::Mismatch => self.about_content(),
            _ => None,
        }
    }

    /// Something that the scheme reads did not arrive.
    fn about_headers(&self, refusal: &Refusal) -> Option<Guess> {
        let Bench { vendor, request, params, .. } = self.bench;
        let schemes = reads(vendor, params, &request.headers);
        let signed =
            schemes.iter().find(|reads| reads.signatures.iter().any(|name| has(&request.headers, name)));
        if let Some(reads) = signed {
            let lacking = reads.companions.iter().find(|name| !has(&request.headers, name));
            if let (Some(name), Refusal::Missing(_)) = (lacking, refusal) {
                return Some((
                    Cause::CompanionHeaderMissing,
                    format!(
                        "`{name}` did not arrive, and the signature covers it; its value cannot be found again."
                    ),
                ));
            }
            return query_lost(vendor, request);
        }
        if let Some(header) = scheme::has_weaker(vendor, &request.headers) {
            let says = format!("Only `{header}` arrived, which carries a weaker signature.");
            return Some((Cause::OnlyWeakerSchemePresent, says));
        }
        if let Some(other) = scheme::looks_like(self.others, vendor, params, &request.headers) {
            let says =
                format!("It has the signature's header of {}, and none of {}.", other.name(), vendor.name());
            return Some((Cause::OtherVendorScheme, says));
        }
        let wanted: Vec<&String> = schemes.iter().flat_map(|reads| &reads.signatures).collect();
        let renamed = |name: &str| wanted.iter().any(|wanted| headers::is_remapped(name, wanted));
        let found = request.headers.iter().map(|(name, _)| name).find(|name| renamed(name));
        if let Some(found) = found {
            return Some((Cause::HeaderRemapped, format!("`{found}` may be the signature's header.")));
        }
        let named = |name: &&str| ["signature", "hmac"].iter().any(|word| name.contains(word));
        let found = request.headers.iter().map(|(name, _)| name).find(named)?;
        Some((
            Cause::OtherHeaderNames,
            format!("The scheme does not read `{found}`, which looks like a signature's header."),
        ))
    }

    /// All is there, and no secret makes the signature.
    fn about_content(&self) -> Option<Guess> {
        if let Some(guess) = self.about_mode().or_else(|| body(self.bench.request)) {
            return Some(guess);
        }
        let Bench { vendor, request, params, .. } = self.bench;
        if vendor.needs_public_url()
            && let Some(used) = url::used(self.bench)
        {
            if used.is_internal() {
                let says = "The URL that was verified with is an internal one, or the one that a gateway has by itself.";
                return Some((Cause::UrlHost, says.to_owned()));
            }
            if used.is_plain_http() {
                let says = "The URL that was verified with is plain http, which vendors hardly call.";
                return Some((Cause::UrlScheme, says.to_owned()));
            }
        }
        let schemes = reads(vendor, params, &request.headers);
        let binds =
            |reads: &Reads<'_>| reads.is_signed(&request.headers) && covers_body(&reads.scheme.message);
        schemes.iter().any(binds).then(|| {
            let says = "All is in the documented form. Either the body was changed on the way, or the sender has another secret.";
            (Cause::BodyChanged, says.to_owned())
        })
    }

    /// The delivery is of one mode and the secrets in use are named for the other.
    fn about_mode(&self) -> Option<Guess> {
        let shown_by = self.bench.vendor.livemode();
        let used = self.secrets.iter().filter(|known| known.used).find_map(|known| mode(&known.name))?;
        let payload = Payload::new(self.bench.request.body.clone(), []);
        let live = shown_by.iter().map(|(source, literals)| match source {
            Source::Header(name) => {
                let value = self.bench.request.headers.text(name)?;
                let value = crate::json::JsonText::from_text(value);
                Some(literals.iter().any(|literal| value.equals(literal)))
            }
            source => {
                let value = payload.read(std::slice::from_ref(source)).ok()?.pop()??;
                Some(literals.iter().any(|literal| value.equals(literal)))
            }
        });
        let live = live.collect::<Option<Vec<bool>>>().filter(|shown| !shown.is_empty())?;
        let delivered = if live.into_iter().all(|live| live) { Mode::Live } else { Mode::Test };
        let says = "The delivery is of one mode, and the secret is named for the other.";
        (delivered != used).then(|| (Cause::TestLiveSecretMixed, says.to_owned()))
    }
}

/// A secret of which no key can be made.
pub(super) fn about_secret(unusable: &UnusableKey) -> Option<Guess> {
    let UnusableKey::Form { fault, .. } = unusable else { return None };
    let cause = match fault {
        KeyFault::WhiteSpace => Cause::SecretHasWhitespace,
        KeyFault::Quotes => Cause::SecretHasQuotes,
        KeyFault::VersionPrefix => Cause::SecretHasVersion,
        _ => return None,
    };
    Some((cause, format!("No key can be made of the secret: {fault}.")))
}

/// A scheme that only a parameter of the query brings about.
fn query_lost(vendor: &Vendor, request: &Request) -> Option<Guess> {
    let lost =
        vendor.schemes.iter().flat_map(|scheme| &scheme.condition.present).find_map(
            |source| match source {
                Source::Query(name) if !request.query.contains(name.as_str()) => Some(name),
                _ => None,
            },
        )?;
    Some((Cause::UrlQueryChanged, format!("The parameter `{lost}` did not arrive with the query.")))
}

/// What the body itself tells.
fn body(request: &Request) -> Option<Guess> {
    let given = request.body.as_slice();
    let trimmed = given.trim_ascii();
    if matches!(trimmed, b"" | b"{}" | b"null" | b"undefined" | b"\"\"") {
        return Some((
            Cause::BodyMissing,
            "There is no body, or only what a parser leaves of none.".to_owned(),
        ));
    }
    if given.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes()) {
        let says = "The body holds the character that replaces bytes which are not UTF-8.";
        return Some((Cause::BodyDecodedAsText, says.to_owned()));
    }
    let declared = request.headers.text("content-encoding").map(str::to_ascii_lowercase);
    if let Some(encoding) = declared.filter(|encoding| COMPRESSED.contains(&encoding.as_str())) {
        let says = format!(
            "The content encoding is {encoding}; the vendor signed it with or without, and it arrived the other way."
        );
        return Some((Cause::BodyCompressed, says));
    }
    let text = std::str::from_utf8(given).ok()?;
    if let Some(why) = json::written_by_machine(text) {
        return Some((Cause::BodyReserialised, format!("The body looks parsed and written again: {why}.")));
    }
    let is_form = request.media_type().as_deref() == Some("application/x-www-form-urlencoded");
    if is_form && text.trim_start().starts_with(['{', '[']) {
        return Some((
            Cause::FormReencoded,
            "The content type is that of a form, and the body is JSON.".to_owned(),
        ));
    }
    let length: usize = request.headers.text("content-length")?.parse().ok()?;
    (length != given.len()).then(|| {
        (Cause::BodyChanged, format!("The sender declared {length} bytes, and {} arrived.", given.len()))
    })
}

/// Whether something of the body is signed, however weakly.
fn covers_body(message: &Template) -> bool {
    let weak = message.parts.iter().any(|part| matches!(part, Part::FormSorted | Part::BodyCrc32));
    let in_body = |place: &Place| matches!(place, Place::Source(Source::Body(_)) | Place::Own);
    weak || message.binds_event() || message.places().any(in_body)
}
