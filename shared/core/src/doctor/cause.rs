//! What may be wrong with a delivery that does not verify, each under a slug
//! for logs and with what to do about it.

use std::fmt;

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident = $slug:literal: $remedy:literal,)+) => {
        /// The one thing that is other than the vendor meant it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[$doc])* $name,)+
        }

        impl Cause {
            /// Every cause, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word for it in logs and JSON.
            pub fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)+
                }
            }

            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$name => $remedy,)+
                }
            }
        }
    };
}

causes! {
    /// The gateway's base64 is still on the body.
    BodyNotBase64Decoded = "body-not-base64-decoded":
        "Decode the body exactly where the gateway says isBase64Encoded, before anything is verified.",
    /// JSON was parsed and written again.
    BodyReserialised = "body-reserialised":
        "Something parsed the JSON and wrote it again; verify the bytes as received, before any JSON middleware.",
    /// A line end at the end is missing.
    TrailingNewlineTrimmed = "trailing-newline-trimmed":
        "The body was signed with its line end; do not trim it.",
    /// A line end was added.
    TrailingNewlineAdded = "trailing-newline-added":
        "A line end was added behind the body (an editor, a here-document, a file); send the bytes unchanged.",
    /// CRLF became LF or the other way.
    LineEndingsChanged = "line-endings-changed":
        "Something reads or writes the body as lines of text; keep the bytes.",
    /// The byte order mark in front is missing.
    BomDropped = "bom-dropped":
        "The body begins with a byte order mark that was signed; do not decode the body as text before it is verified.",
    /// The body went through a text in the wrong encoding.
    BodyDecodedAsText = "body-decoded-as-text":
        "The body was turned into text and back, which changed bytes; keep it as bytes.",
    /// Compressed after it was signed, or the other way.
    BodyCompressed = "body-compressed":
        "Verify the bytes that the vendor signed: undo a compression that was added on the way, and only that.",
    /// There is no body.
    BodyMissing = "body-missing":
        "The body is gone: something in front read it, or the tool that captured it left it out.",
    /// The body is another one, or the secret is: all else is as documented.
    BodyChanged = "body-changed":
        "Compare the secret with what the vendor shows for this endpoint first. If it is the right one, the body was changed after it was signed: compare it with what the vendor shows for this delivery.",
    /// A form was parsed and encoded again.
    FormReencoded = "form-reencoded":
        "Something parsed the form and encoded it again; verify the bytes as received.",
    /// White space around or in the secret.
    SecretHasWhitespace = "secret-has-whitespace":
        "Store the secret without white space; a file or a copied line often ends in a newline.",
    /// The secret is stored with its quotes.
    SecretHasQuotes = "secret-has-quotes":
        "Store what is between the quotes.",
    /// The prefix is part of the secret and was cut off.
    SecretPrefixMissing = "secret-prefix-missing":
        "Store the secret as the vendor shows it, prefix included: here it is part of the key.",
    /// The secret begins as signatures do.
    SecretHasVersion = "secret-has-version":
        "Store the secret without the `v1,` that belongs in front of signatures.",
    /// The sender did not decode the secret.
    SenderUsedSecretAsText = "sender-used-secret-as-text":
        "The sender takes the secret's text for the key; the scheme wants it decoded. Fix the sender.",
    /// Another secret of the endpoint is the right one.
    OtherSecretOfEndpoint = "other-secret-of-endpoint":
        "Add that secret to the endpoint's secrets: every one of them is live.",
    /// The secret is that of the other mode.
    TestLiveSecretMixed = "test-live-secret-mixed":
        "Test and live deliveries have secrets of their own; give the endpoint the one of the mode that it is called in.",
    /// The key's hex digits are still to be decoded.
    HexKeyNotDecoded = "hex-key-not-decoded":
        "The key is in hex digits where its bytes are meant; store it as the vendor shows it, or describe its encoding.",
    /// The key's base64 is still to be decoded.
    Base64KeyNotDecoded = "base64-key-not-decoded":
        "The key is in base64 where its bytes are meant; describe its encoding.",
    /// The signature is written in another encoding.
    SignatureEncoding = "signature-encoding":
        "The signature is right but written in another encoding; fix the sender, or describe what it sends.",
    /// Hex digits in upper case.
    SignatureUppercaseHex = "signature-uppercase-hex":
        "The signature is right but in upper case; the scheme wants lower-case hex.",
    /// What stands in front of the signature is missing.
    SignaturePrefixMissing = "signature-prefix-missing":
        "The signature is right but lacks what the scheme wants in front of it; fix the sender.",
    /// A header that may stand once stands several times.
    DuplicateHeader = "duplicate-header":
        "A header that may stand once stands several times; find what adds it.",
    /// A gateway renamed a header.
    HeaderRemapped = "header-remapped":
        "A gateway or proxy renamed a header; map it back in front of the endpoint.",
    /// A header that the signature needs is not there.
    CompanionHeaderMissing = "companion-header-missing":
        "The signature covers a header that did not arrive; let the gateway or proxy pass it on.",
    /// Only the legacy signature is there.
    OnlyWeakerSchemePresent = "only-weaker-scheme-present":
        "Only a weaker signature arrived, which is not accepted; make the sender or the proxy pass on the stronger one.",
    /// One of the clocks is off, or the delivery waited.
    ClockOff = "clock-off":
        "The signature is right; put the clock right, or find what kept the delivery waiting.",
    /// The sender's time is in milliseconds.
    TimestampUnitMs = "timestamp-unit-ms":
        "The signature is right, but its time is in milliseconds where the scheme has another unit; fix the sender.",
    /// The sender's time is in seconds.
    TimestampUnitS = "timestamp-unit-s":
        "The signature is right, but its time is in seconds where the scheme has another unit; fix the sender.",
    /// http against https.
    UrlScheme = "url-scheme":
        "Configure public_url as the vendor calls it; behind a proxy the receiver sees another scheme.",
    /// Another host.
    UrlHost = "url-host":
        "Configure public_url with the host that the vendor calls, not the internal one.",
    /// The stage of the gateway.
    UrlStagePrefix = "url-stage-prefix":
        "Configure public_url with the path that the vendor calls; the gateway's stage is not always part of it.",
    /// The query was rebuilt.
    UrlQueryChanged = "url-query-changed":
        "The query was parsed and written again; verify over the raw query.",
    /// Another path.
    UrlPathChanged = "url-path-changed":
        "Configure public_url with the path that the vendor calls; something in front rewrites it.",
    /// It is another vendor's delivery.
    OtherVendorScheme = "other-vendor-scheme":
        "Declare the endpoint with the vendor that calls it, or give that vendor the right URL.",
    /// The scheme is right under other header names.
    OtherHeaderNames = "other-header-names":
        "The sender signs in the same way under other header names; declare the vendor or description that has them.",
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cause_has_a_slug_of_its_own_and_a_remedy() {
        let slugs: BTreeSet<&str> = Cause::ALL.iter().map(|cause| cause.slug()).collect();
        assert_eq!(slugs.len(), Cause::ALL.len());
        assert!(Cause::ALL.iter().all(|cause| cause.remedy().ends_with('.')));
    }

    #[test]
    fn the_reference_has_every_slug_and_no_other() {
        const REFERENCE: &str = include_str!("../../../../docs/command-line.md");
        let (_, table) = REFERENCE.split_once("| slug |").unwrap();
        let listed: Vec<&str> =
            table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let known: Vec<&str> = Cause::ALL.iter().map(|cause| cause.slug()).collect();
        assert_eq!(listed, known);
    }
}
