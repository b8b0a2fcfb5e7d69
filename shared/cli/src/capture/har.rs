//! One request of a HAR file.

use super::{Capture, base64, parts, text};
use anyhow::{Context, Result, bail};
use sekali::doctor;
use sekali::http::{Headers, Request};
use serde_json::Value;

/// Reads the only request of the file, or the one of this number.
///
/// # Errors
/// There are several, or none of this number.
pub(super) fn read(har: &Value, entry: Option<usize>) -> Result<Capture> {
    let entries = har.pointer("/log/entries").and_then(Value::as_array).context("`log` has no `entries`")?;
    let chosen = match (entry, entries.as_slice()) {
        (None, [only]) => only,
        (None, []) => bail!("the file holds no request"),
        (None, many) => {
            bail!("the file holds {} requests; pick one with --entry:\n{}", many.len(), listed(many))
        }
        (Some(number), many) => number
            .checked_sub(1)
            .and_then(|index| many.get(index))
            .with_context(|| format!("there is no entry {number}; the file holds {}", many.len()))?,
    };
    let request = chosen.get("request").context("the entry has no `request`")?;
    let url = text(request, "url").context("the request has no `url`")?;
    let (bare, path, query) = parts(url);
    let pairs = request.get("headers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let headers =
        // `:authority` and the like are HTTP/2's own, and in the URL already.
        Headers::new(
            pairs
                .iter()
                .filter_map(|pair| Some((text(pair, "name")?, text(pair, "value")?)))
                .filter(|(name, _)| !name.starts_with(':')),
        );
    let (body, note) = body(request)?;
    Ok(Capture {
        request: Request {
            method: text(request, "method").unwrap_or("POST").to_ascii_uppercase(),
            path,
            query,
            headers,
            body,
        },
        url: bare,
        received_at: text(chosen, "startedDateTime").and_then(doctor::time),
        note,
    })
}

/// The body, and what the file cannot tell of it.
fn body(request: &Value) -> Result<(Vec<u8>, Option<String>)> {
    let posted = request.get("postData");
    let content = posted.and_then(|posted| text(posted, "text")).unwrap_or_default();
    let in_base64 = ["encoding", "_encoding"]
        .iter()
        .any(|name| posted.and_then(|posted| text(posted, name)) == Some("base64"));
    if in_base64 {
        return Ok((base64(content).context("the body says base64 and is none")?, None));
    }
    let fields =
        posted.and_then(|posted| posted.get("params")?.as_array()).is_some_and(|all| !all.is_empty());
    if content.is_empty() && fields {
        bail!(
            "the file has the fields of the form and not its bytes, which were signed: export it with the body's text"
        );
    }
    let size = request.get("bodySize").and_then(Value::as_u64);
    let note = match size.filter(|size| *size != content.len() as u64 && !content.is_empty()) {
        Some(size) => {
            format!("the file says {size} bytes were sent and has {} of them as text", content.len())
        }
        // The file has the body as text, whatever it was.
        None => "a HAR file keeps bodies as text: bytes that are no UTF-8 are lost".to_owned(),
    };
    Ok((content.as_bytes().to_vec(), Some(note)))
}

fn listed(entries: &[Value]) -> String {
    let lines = entries.iter().enumerate().map(|(index, entry)| {
        let part =
            |name: &str| entry.pointer(&format!("/request/{name}")).and_then(Value::as_str).unwrap_or("?");
        // The query may hold a secret.
        format!("  {} {} {}", index + 1, part("method"), part("url").split('?').next().unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(body: &Value) -> Value {
        json!({"startedDateTime": "2025-06-15T15:06:40.000Z", "request": {
            "method": "POST", "url": "https://a.example/in?token=invented",
            "headers": [{"name": "X-A", "value": "b"}], "postData": body}})
    }

    fn har(entries: &[Value]) -> Value {
        json!({"log": {"entries": entries}})
    }

    #[test]
    fn the_only_request_is_read_with_its_time() {
        let capture = read(&har(&[entry(&json!({"text": "{}"}))]), None).unwrap();
        assert_eq!(capture.request.body, b"{}");
        assert_eq!(capture.request.headers.text("x-a"), Some("b"));
        assert_eq!(capture.url.as_deref(), Some("https://a.example/in"));
        assert_eq!(capture.received_at.unwrap().0, 1_750_000_000_000);
        let encoded = read(&har(&[entry(&json!({"text": "e30=", "encoding": "base64"}))]), None).unwrap();
        assert_eq!(encoded.request.body, b"{}");
    }

    #[test]
    fn what_exporters_add_or_leave_out_is_understood() {
        let with = |body: &Value, more: &[(&str, Value)]| {
            let mut entry = entry(body);
            let headers = json!([{"name": ":authority", "value": "a.example"}, {"name": ":method", "value": "POST"},
                {"name": "x-a", "value": "1"}, {"name": "X-A", "value": "2"}]);
            entry["request"]["headers"] = headers;
            for (name, value) in more {
                entry["request"][*name] = value.clone();
            }
            read(&har(&[entry]), None)
        };
        let capture = with(&json!({"text": "a\r\nb\u{e9}"}), &[("bodySize", json!(6))]).unwrap();
        assert_eq!(capture.request.body, "a\r\nb\u{e9}".as_bytes());
        assert_eq!(capture.request.headers.all("x-a").count(), 2);
        assert_eq!(capture.request.headers.all(":authority").count(), 0);
        let other_size = with(&json!({"text": "abc"}), &[("bodySize", json!(5))]).unwrap();
        assert!(other_size.note.unwrap().contains("5 bytes were sent and has 3"));
        let lines = with(&json!({"text": "e3\r\n0=", "encoding": "base64"}), &[]).unwrap();
        assert_eq!(lines.request.body, b"{}");
        assert!(with(&json!({"text": "?", "encoding": "base64"}), &[]).is_err());
        let fields = with(&json!({"params": [{"name": "a", "value": "1"}]}), &[]).unwrap_err().to_string();
        assert!(fields.contains("not its bytes"), "{fields}");
        let nothing = with(&Value::Null, &[("bodySize", json!(-1))]).unwrap();
        assert!(nothing.request.body.is_empty());
    }

    #[test]
    fn of_several_requests_one_must_be_picked() {
        let two = har(&[entry(&json!({"text": "1"})), entry(&json!({"text": "2"}))]);
        let error = read(&two, None).unwrap_err().to_string();
        assert!(error.contains("2 POST https://a.example/in") && !error.contains("invented"), "{error}");
        assert_eq!(read(&two, Some(2)).unwrap().request.body, b"2");
        assert!(read(&two, Some(0)).is_err() && read(&two, Some(3)).is_err());
    }
}
