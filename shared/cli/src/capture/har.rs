//! One request of a HAR file.

use super::{Capture, parts, text};
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
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
        Headers::new(pairs.iter().filter_map(|pair| Some((text(pair, "name")?, text(pair, "value")?))));
    let posted = request.get("postData");
    let content = posted.and_then(|posted| text(posted, "text")).unwrap_or_default();
    let in_base64 = ["encoding", "_encoding"]
        .iter()
        .any(|name| posted.and_then(|posted| text(posted, name)) == Some("base64"));
    let (body, note) = match in_base64 {
        true => (STANDARD.decode(content).context("the body says base64 and is none")?, None),
        // The file has the body as text, whatever it was.
        false => (
            content.as_bytes().to_vec(),
            Some("a HAR file keeps bodies as text: bytes that are no UTF-8 are lost".to_owned()),
        ),
    };
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
    fn of_several_requests_one_must_be_picked() {
        let two = har(&[entry(&json!({"text": "1"})), entry(&json!({"text": "2"}))]);
        let error = read(&two, None).unwrap_err().to_string();
        assert!(error.contains("2 POST https://a.example/in") && !error.contains("invented"), "{error}");
        assert_eq!(read(&two, Some(2)).unwrap().request.body, b"2");
        assert!(read(&two, Some(0)).is_err() && read(&two, Some(3)).is_err());
    }
}
