//! The event that API Gateway gives a function, in payload format 1 or 2.

use super::{Capture, base64, text};
use anyhow::{Context, Result};
use sekali::http::{Headers, Request};
use sekali::time::UnixMillis;
use serde_json::Value;

/// Reads the request of an event, its body decoded exactly where the event says
/// that it is base64.
///
/// # Errors
/// The body says base64 and is none.
pub(super) fn read(event: &Value) -> Result<Capture> {
    let context = event.get("requestContext").context("the event has no `requestContext`")?;
    let content = text(event, "body").unwrap_or_default();
    let body = match event.get("isBase64Encoded").and_then(Value::as_bool) {
        Some(true) => base64(content).context("the body says base64 and is none")?,
        _ => content.as_bytes().to_vec(),
    };
    let http = context.get("http").unwrap_or(context);
    let path =
        text(event, "rawPath").or_else(|| text(http, "path")).or_else(|| text(event, "path")).unwrap_or("/");
    let method = text(http, "method").or_else(|| text(event, "httpMethod")).unwrap_or("POST");
    let headers = headers(event);
    let host = headers.text("host").or_else(|| text(context, "domainName"));
    let millis = ["timeEpoch", "requestTimeEpoch"].iter().find_map(|name| context.get(name)?.as_i64());
    Ok(Capture {
        url: host.map(|host| format!("https://{host}{path}")),
        request: Request {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            query: query(event),
            headers,
            body,
        },
        received_at: millis.map(UnixMillis),
        note: None,
    })
}

/// Every value of format 1, or the joined ones of format 2.
fn headers(event: &Value) -> Headers {
    let many = event.get("multiValueHeaders").and_then(Value::as_object);
    let pairs: Vec<(String, String)> = match many {
        Some(many) => many
            .iter()
            .flat_map(|(name, values)| {
                let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
                values.iter().filter_map(|value| Some((name.clone(), value.as_str()?.to_owned())))
            })
            .collect(),
        None => event
            .get("headers")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
    };
    Headers::new(pairs)
}

/// The raw query; format 1 has only its decoded parameters.
fn query(event: &Value) -> String {
    if let Some(raw) = text(event, "rawQueryString") {
        return raw.to_owned();
    }
    let parameters = event.get("queryStringParameters").and_then(Value::as_object);
    let pairs = parameters
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_formats_give_the_same_request() {
        let second = json!({"version": "2.0", "rawPath": "/webhooks/a", "rawQueryString": "x=1",
            "headers": {"x-a": "b", "host": "a.example"}, "body": "e30=", "isBase64Encoded": true,
            "requestContext": {"http": {"method": "POST"}, "timeEpoch": 1_750_000_000_000_i64}});
        let first = json!({"path": "/webhooks/a", "httpMethod": "POST", "queryStringParameters": {"x": "1"},
            "multiValueHeaders": {"X-A": ["b"], "Host": ["a.example"]}, "body": "{}", "isBase64Encoded": false,
            "requestContext": {"requestTimeEpoch": 1_750_000_000_000_i64}});
        for event in [first, second] {
            let capture = read(&event).unwrap();
            assert_eq!(capture.url.as_deref(), Some("https://a.example/webhooks/a"));
            assert_eq!(
                (capture.request.query.as_str(), capture.request.body.as_slice()),
                ("x=1", &b"{}"[..])
            );
            assert_eq!(capture.request.headers.text("x-a"), Some("b"));
            assert_eq!(capture.received_at, Some(UnixMillis(1_750_000_000_000)));
        }
    }
}
