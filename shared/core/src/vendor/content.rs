//! The body as JSON text, whatever it was wrapped in.

use super::facts::Unreadable;
use super::form;
use super::shape::{BodyForm, CONTENT_ENCODINGS, ContentEncoding};
use super::view::media_type;
use crate::http::Request;
use crate::json;
use std::borrow::Cow;
use std::io::Read;

/// Most bytes that a compressed body may become. A body that arrives has at
/// most 6 MB; one that claims to be more than twice that is a bomb.
const LARGEST_INFLATED: u64 = 12 * 1024 * 1024;

/// The delivery's body as JSON text; `Ok(None)` where it is not what the
/// vendor sends.
///
/// # Errors
/// A content encoding that is not understood.
pub(crate) fn json_text<'r>(
    request: &'r Request,
    form: &BodyForm,
) -> Result<Option<Cow<'r, str>>, Unreadable> {
    let Some(body) = plain(request, form)? else { return Ok(None) };
    let is_form = media_type(request).is_some_and(|media| media == "application/x-www-form-urlencoded");
    if is_form && !form.form.is_empty() {
        return Ok(from_form(&body, &form.form).map(Cow::Owned));
    }
    Ok(match body {
        Cow::Borrowed(body) => readable(body).map(Cow::Borrowed),
        Cow::Owned(body) => readable(&body).map(|text| Cow::Owned(text.to_owned())),
    })
}

fn readable(body: &[u8]) -> Option<&str> {
    json::text(body).ok().filter(|text| json::read(text, &[]).is_ok())
}

/// The body without its content encoding; `None` where it does not inflate,
/// or to more than is read.
fn plain<'r>(request: &'r Request, form: &BodyForm) -> Result<Option<Cow<'r, [u8]>>, Unreadable> {
    let mut declared = request.headers.all("content-encoding");
    match (declared.next(), declared.next()) {
        (None, _) => Ok(Some(Cow::Borrowed(&request.body))),
        (Some(name), None) if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => {
            Ok(Some(Cow::Borrowed(&request.body)))
        }
        (Some(name), None) if is_gzip(name) && form.encodings.contains(&ContentEncoding::Gzip) => {
            Ok(inflated(&request.body).map(Cow::Owned))
        }
        _ => Err(Unreadable::ContentEncoding),
    }
}

fn is_gzip(name: &[u8]) -> bool {
    CONTENT_ENCODINGS.iter().any(|(known, encoding)| {
        *encoding == ContentEncoding::Gzip && known.as_bytes().eq_ignore_ascii_case(name)
    })
}

fn inflated(body: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let mut bounded = flate2::read::MultiGzDecoder::new(body).take(LARGEST_INFLATED + 1);
    bounded.read_to_end(&mut plain).ok()?;
    (u64::try_from(plain.len()).ok()? <= LARGEST_INFLATED).then_some(plain)
}

/// The field that holds JSON, or the fields themselves: the first that applies.
fn from_form(body: &[u8], readings: &[String]) -> Option<String> {
    for reading in readings {
        if reading == "*" {
            return form::as_json(body);
        }
        let mut values = form::pairs(body).filter(|(name, _)| name == reading.as_bytes());
        match (values.next(), values.next()) {
            (Some((_, value)), None) => return readable(&value).map(str::to_owned),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Headers;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzipped(plain: &[u8]) -> Request {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        Request {
            method: "POST".into(),
            path: "/".into(),
            query: String::new(),
            headers: Headers::new([("Content-Encoding", "gzip")]),
            body: encoder.finish().unwrap(),
        }
    }

    fn form(encodings: &[ContentEncoding]) -> BodyForm {
        BodyForm { content_types: vec!["*".into()], form: Vec::new(), encodings: encodings.to_vec() }
    }

    #[test]
    fn a_compressed_body_is_read_where_the_vendor_compresses() {
        let request = gzipped(b"{\"id\":1}");
        let text = json_text(&request, &form(&[ContentEncoding::Gzip])).unwrap();
        assert_eq!(text.as_deref(), Some("{\"id\":1}"));
        assert_eq!(json_text(&request, &form(&[])), Err(Unreadable::ContentEncoding));
    }

    #[test]
    fn inflation_is_bounded() {
        let bomb = gzipped(&vec![b' '; 13 * 1024 * 1024]);
        assert!(bomb.body.len() < 100_000);
        assert_eq!(json_text(&bomb, &form(&[ContentEncoding::Gzip])), Ok(None));
    }
}
