//! The body arrived otherwise than it was signed: what gateways, frameworks
//! and files do to bytes, undone one at a time.

use super::bench::{Change, Hypotheses, Hypothesis};
use super::cause::Cause;
use super::{form, json};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Most bytes that a body may become when it is decompressed.
const LARGEST_INFLATED: u64 = 12 * 1024 * 1024;

/// Every other body that may be the signed one, the likely ones first.
pub(super) fn hypotheses<'a>(body: &'a [u8], is_form: bool) -> Hypotheses<'a> {
    let rewritten: Hypotheses<'a> = match std::str::from_utf8(body) {
        Ok(text) => Box::new(form::hypotheses(text, is_form).chain(json::hypotheses(text))),
        Err(_) => Box::new(std::iter::empty()),
    };
    Box::new(quick(body).chain(decoded_as_text(body)).chain(rewritten))
}

/// The few that are cheap and common.
pub(super) fn quick<'a>(body: &'a [u8]) -> Hypotheses<'a> {
    Box::new(
        encoded(body)
            .chain(compressed(body))
            .chain(line_end_trimmed(body))
            .chain(line_end_added(body))
            .chain(line_endings(body))
            .chain(byte_order_mark(body)),
    )
}

fn body(cause: Cause, body: Vec<u8>, says: &str) -> Hypothesis {
    Hypothesis::new(cause, Change::Body(body), says)
}

fn encoded(given: &[u8]) -> impl Iterator<Item = Hypothesis> {
    let text = given.trim_ascii();
    [STANDARD, URL_SAFE, STANDARD_NO_PAD, URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|base64| base64.decode(text).ok())
        .filter(|decoded| !decoded.is_empty())
        .map(|decoded| body(Cause::BodyNotBase64Decoded, decoded, "The body is base64 of what was signed."))
        .into_iter()
}

fn compressed(given: &[u8]) -> impl Iterator<Item = Hypothesis> {
    let kinds: [(&str, Option<Vec<u8>>); 3] = [
        ("gzip", given.starts_with(b"\x1f\x8b").then(|| inflated(MultiGzDecoder::new(given))).flatten()),
        ("zlib", is_zlib(given).then(|| inflated(ZlibDecoder::new(given))).flatten()),
        ("deflate", is_binary(given).then(|| inflated(DeflateDecoder::new(given))).flatten()),
    ];
    kinds.into_iter().filter_map(|(kind, plain)| {
        let says = format!("The body was compressed ({kind}) after it was signed.");
        Some(body(Cause::BodyCompressed, plain?, &says))
    })
}

/// The two bytes with which every zlib stream begins are a multiple of 31.
fn is_zlib(given: &[u8]) -> bool {
    matches!(given, [first, second, ..] if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31))
}

fn is_binary(given: &[u8]) -> bool {
    std::str::from_utf8(given).is_err()
}

fn inflated(stream: impl Read) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    stream.take(LARGEST_INFLATED + 1).read_to_end(&mut plain).ok()?;
    let fits = u64::try_from(plain.len()).is_ok_and(|length| length <= LARGEST_INFLATED);
    (fits && !plain.is_empty()).then_some(plain)
}

fn line_end_trimmed<'a>(given: &'a [u8]) -> impl Iterator<Item = Hypothesis> + 'a {
    let ends: [(&[u8], &str); 4] =
        [(b"\n", "LF"), (b"\r\n", "CRLF"), (b"\n\n", "an empty line"), (b" ", "a space")];
    // After a line end another one is a change of line ends, if any.
    let whole = !given.is_empty() && !given.ends_with(b"\n");
    ends.into_iter().filter(move |_| whole).map(move |(end, name)| {
        let says = format!("The body ended in {name} when it was signed.");
        body(Cause::TrailingNewlineTrimmed, [given, end].concat(), &says)
    })
}

fn line_end_added(given: &[u8]) -> impl Iterator<Item = Hypothesis> {
    let without = |end: &[u8]| given.strip_suffix(end).map(<[u8]>::to_vec);
    let trimmed = given.trim_ascii_end();
    [without(b"\r\n"), without(b"\n"), (trimmed.len() < given.len()).then(|| trimmed.to_vec())]
        .into_iter()
        .flatten()
        .map(|shorter| {
            body(
                Cause::TrailingNewlineAdded,
                shorter,
                "The body had no line end at its end when it was signed.",
            )
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn line_endings(given: &[u8]) -> impl Iterator<Item = Hypothesis> {
    let unix = replaced(given, b"\r\n", b"\n");
    let kinds: [(Vec<u8>, &str); 3] = [
        (replaced(&unix, b"\n", b"\r\n"), "CRLF"),
        (replaced(&unix, b"\n", b"\r"), "CR"),
        (replaced(&unix, b"\r", b"\n"), "LF"),
    ];
    kinds
        .into_iter()
        .filter(|(other, _)| other != given)
        .map(|(other, name)| {
            let says = format!("The lines of the body ended in {name} when it was signed.");
            body(Cause::LineEndingsChanged, other, &says)
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn byte_order_mark(given: &[u8]) -> impl Iterator<Item = Hypothesis> {
    let fits = !given.is_empty() && !given.starts_with(BOM);
    fits.then(|| {
        let says = "The body began with a byte order mark when it was signed.";
        body(Cause::BomDropped, [BOM, given].concat(), says)
    })
    .into_iter()
}

/// UTF-8 that was read as Latin-1 or Windows-1252, or bytes that were read as
/// one of them, and written as UTF-8; or Latin-1 that was written for UTF-8.
fn decoded_as_text<'a>(given: &'a [u8]) -> Hypotheses<'a> {
    let text = std::str::from_utf8(given).ok();
    let narrowed = move |name: &'static str, byte: fn(char) -> Option<u8>| {
        let bytes: Vec<u8> = text?.chars().map(byte).collect::<Option<_>>()?;
        let says = format!("The body was read as {name} and written as UTF-8.");
        (bytes != given).then(|| body(Cause::BodyDecodedAsText, bytes, &says))
    };
    let widened = move || {
        if text.is_some() {
            return None;
        }
        let wide: String = given.iter().map(|byte| char::from(*byte)).collect();
        let says = "The body was UTF-8 when it was signed and was written as Latin-1.";
        Some(body(Cause::BodyDecodedAsText, wide.into_bytes(), says))
    };
    Box::new(
        std::iter::once_with(move || narrowed("Latin-1", latin_1))
            .chain(std::iter::once_with(move || narrowed("Windows-1252", windows_1252)))
            .chain(std::iter::once_with(widened))
            .chain(std::iter::once_with(move || from_utf_16(given)))
            .flatten(),
    )
}

fn latin_1(c: char) -> Option<u8> {
    u8::try_from(u32::from(c)).ok()
}

/// Windows-1252 differs from Latin-1 in these places only.
fn windows_1252(c: char) -> Option<u8> {
    const FROM_0X80: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    let special = FROM_0X80.chars().position(|known| known == c);
    special.and_then(|place| u8::try_from(0x80 + place).ok()).or_else(|| latin_1(c))
}

/// Text that some platforms hand on in 16-bit units.
fn from_utf_16(given: &[u8]) -> Option<Hypothesis> {
    let (little, rest) = match given {
        [0xff, 0xfe, rest @ ..] => (true, rest),
        [0xfe, 0xff, rest @ ..] => (false, rest),
        [_, 0, ..] => (true, given),
        [0, _, ..] => (false, given),
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|pair| match little {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    Some(body(Cause::BodyDecodedAsText, text.into_bytes(), "The body was written as UTF-16."))
}

/// Every `from` replaced.
pub(super) fn replaced(given: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut changed = Vec::with_capacity(given.len());
    let mut rest = given;
    while let Some((&first, after)) = rest.split_first() {
        match rest.strip_prefix(from) {
            Some(after) => {
                changed.extend_from_slice(to);
                rest = after;
            }
            None => {
                changed.push(first);
                rest = after;
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(given: &[u8], signed: &[u8]) -> Vec<Cause> {
        hypotheses(given, false)
            .filter(|hypothesis| matches!(&hypothesis.change, Change::Body(body) if body == signed))
            .map(|hypothesis| hypothesis.cause)
            .collect()
    }

    #[test]
    fn what_happens_to_bytes_on_the_way_is_undone() {
        let cases: &[(&[u8], &[u8], Cause)] = &[
            (b"eyJhIjoxfQ==", b"{\"a\":1}", Cause::BodyNotBase64Decoded),
            (b"eyJhIjoxfQ", b"{\"a\":1}", Cause::BodyNotBase64Decoded),
            (b"{}", b"{}\r\n", Cause::TrailingNewlineTrimmed),
            (b"{}\n", b"{}", Cause::TrailingNewlineAdded),
            (b"{}\r\n", b"{}", Cause::TrailingNewlineAdded),
            (b"{\n}\n", b"{\r\n}\r\n", Cause::LineEndingsChanged),
            (b"{\r\n}", b"{\n}", Cause::LineEndingsChanged),
            (b"{}", b"\xef\xbb\xbf{}", Cause::BomDropped),
            ("cafÃ©".as_bytes(), "café".as_bytes(), Cause::BodyDecodedAsText),
            ("â‚¬".as_bytes(), "€".as_bytes(), Cause::BodyDecodedAsText),
            ("caf\u{e9}".as_bytes(), b"caf\xe9", Cause::BodyDecodedAsText),
            (b"caf\xe9", "café".as_bytes(), Cause::BodyDecodedAsText),
            (b"{\0}\0", b"{}", Cause::BodyDecodedAsText),
        ];
        for (given, signed, cause) in cases {
            assert_eq!(causes(given, signed).first(), Some(cause), "{given:?}");
        }
    }

    #[test]
    fn an_inflated_body_is_bounded() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, &vec![b' '; 13 * 1024 * 1024]).unwrap();
        assert_eq!(compressed(&encoder.finish().unwrap()).count(), 0);
    }
}
