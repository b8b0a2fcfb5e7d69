//! Form bodies and queries.

use super::request;
use sekali::http::Request;
use sekali::vendor::{Facts, Vendor};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

static FORMS: LazyLock<Vendor> = LazyLock::new(|| {
    let text = r#"confirmed = false
[[scheme]]
kind = "none"
[body]
content_types = "application/x-www-form-urlencoded"
form = "*"
[[event]]
or_digest = true
type = "query:type?"
"#;
    Vendor::parse("forms", "forms.toml", text).expect("a description without problems")
});

fn read(body: &[u8], query: &str) -> Option<Facts> {
    let form = request([("content-type", "application/x-www-form-urlencoded")], body);
    FORMS.events(&Request { query: query.to_owned(), ..form }, &[]).ok()?.pop()
}

/// The stored object. Not as one `Value`: serde_json takes an object whose
/// first member has a certain name for something else.
fn read_object(facts: &Facts) -> BTreeMap<String, serde_json::Value> {
    serde_json::from_slice(facts.payload.body()).expect("an object")
}

/// What a form says is an object, and says the same when every byte of its
/// names and values is escaped.
pub fn property(data: &[u8]) {
    let query = String::from_utf8_lossy(data).into_owned();
    let Some(facts) = read(data, &query) else { return };
    let object = read_object(&facts);
    let mut escaped = String::new();
    for (name, values) in &object {
        let values = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
        for value in values {
            let value = value.as_str().expect("the fields of a form are text");
            for byte in name.bytes() {
                write!(escaped, "%{byte:02X}").expect("a string takes everything");
            }
            escaped.push('=');
            for byte in value.bytes() {
                write!(escaped, "%{byte:02x}").expect("a string takes everything");
            }
            escaped.push('&');
        }
    }
    // An empty name with an empty value is a pair too: `=` and not nothing.
    let again = read(escaped.as_bytes(), "").expect("a form that was written by us");
    assert_eq!(read_object(&again), object, "{escaped}");
}
