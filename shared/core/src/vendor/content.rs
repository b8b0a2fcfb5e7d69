//! The body as JSON text, whatever it was wrapped in.

use super::extract::Unreadable;
use super::form;
use super::shape::BodyForm;
use super::view::media_type;
use crate::http::Request;
use crate::json;
use std::borrow::Cow;

/// The delivery's body as JSON text; `Ok(None)` where it is not what the
/// vendor sends.
///
/// # Errors
/// A content encoding that is not understood.
pub(crate) fn json_text<'r>(
    request: &'r Request,
    form: &BodyForm,
) -> Result<Option<Cow<'r, str>>, Unreadable> {
    let body = plain(request, form)?;
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

/// The body without its content encoding.
fn plain<'r>(request: &'r Request, _form: &BodyForm) -> Result<Cow<'r, [u8]>, Unreadable> {
    let mut declared = request.headers.all("content-encoding");
    match (declared.next(), declared.next()) {
        (None, _) => Ok(Cow::Borrowed(&request.body)),
        (Some(name), None) if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => {
            Ok(Cow::Borrowed(&request.body))
        }
        _ => Err(Unreadable::ContentEncoding),
    }
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
