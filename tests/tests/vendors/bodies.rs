//! Bodies of every kind: forms, text, compressed, empty, not UTF-8; ids beyond
//! 2^53, escapes, and times as vendors write them.

use super::*;
use sekali::protocol::event::EventStatus;
use sekali::protocol::reason::Slug;
use std::io::Write;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

/// Signs the body as received, and may compress it.
const ACME: &str = r#"confirmed = true
[[scheme]]
kind = "hmac"
alg = "sha256"
signature = { from = "header:Acme-Signature" }
message = "{body}"
[body]
content_types = ["application/json", "text/plain", "application/x-www-form-urlencoded"]
form = ["payload", "*"]
encodings = "gzip"
[[event]]
id = "/id"
type = "/type?"
time = [
    { from = "/at", unit = "s" },
    { from = "/at_ms", unit = "ms" },
    { from = "/at_text", unit = "iso", zone = "+07:00" },
    { from = "/at_mail", unit = "http" },
]
[retry]
horizon = "1d"
resend = "1d"
"#;

fn bench() -> Bench {
    let settings = format!("vendor = \"acme\"\nsecrets = [\"{PLACE}\"]\n");
    let bench = Bench::at(NOW, &settings, &[("vendors/acme.toml", ACME)]);
    bench.secrets.put(PLACE, SECRET);
    bench
}

fn of_vendor(vendor: &str) -> Bench {
    let settings = format!("vendor = \"{vendor}\"\nsecrets = [\"{PLACE}\"]\ndedup_window = \"90d\"\n");
    let bench = Bench::at(NOW, &settings, &[]);
    bench.secrets.put(PLACE, SECRET);
    bench
}

async fn deliver(bench: &Bench, content_type: &str, body: impl Into<Vec<u8>>) -> u16 {
    bench.deliver(&bench.signed(&post(content_type, body))).await.status
}

fn ids(bench: &Bench) -> Vec<String> {
    bench.events().into_iter().map(|event| event.id).collect()
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn the_same_event_is_the_same_in_json_text_and_forms() {
    let bench = bench();
    assert_eq!(deliver(&bench, JSON, r#"{"id":"e@1"}"#).await, 202);
    // The id is the same; the bytes around it are not, and that is recorded.
    for (content_type, body) in [
        ("text/plain; charset=UTF-8", r#"{"id":"e\u00401"}"#),
        (FORM, "payload=%7B%22id%22%3A%22e%401%22%7D"),
        (FORM, "id=e%401&type=x+y"),
        (JSON, "\u{feff}{\"id\":\"e@1\"}"),
    ] {
        assert_eq!(deliver(&bench, content_type, body).await, 200, "{body}");
    }
    assert_eq!(ids(&bench), ["e@1"]);
    assert_eq!(deliver(&bench, "application/xml", "<id>1</id>").await, 415);
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

async fn deliver_encoded(bench: &Bench, encoding: &str, body: Vec<u8>) -> u16 {
    let request = with_headers(&post(JSON, body), vec![("Content-Encoding".to_owned(), encoding.to_owned())]);
    bench.deliver(&bench.signed(&request)).await.status
}

#[tokio::test]
async fn a_compressed_body_is_verified_as_it_came_and_read_within_bounds() {
    let bench = bench();
    assert_eq!(deliver_encoded(&bench, "gzip", gzipped(br#"{"id":"e1"}"#)).await, 202);
    assert_eq!(deliver(&bench, JSON, r#"{"id":"e1"}"#).await, 200, "the same event, not compressed");
    let bomb = gzipped(&[br#"{"id":"e2","#.as_slice(), &vec![b' '; 13 << 20], b"\"x\":1}"].concat());
    assert!(bomb.len() < 1 << 20);
    assert_eq!(deliver_encoded(&bench, "gzip", bomb).await, 400);
    assert_eq!(deliver_encoded(&bench, "gzip", b"no gzip at all".to_vec()).await, 400);
    assert_eq!(deliver_encoded(&bench, "br", br#"{"id":"e3"}"#.to_vec()).await, 415);
    assert_eq!(ids(&bench), ["e1"]);
}

#[tokio::test]
async fn what_is_well_signed_and_cannot_be_read_is_told_apart_from_a_bad_signature() {
    let bench = bench();
    for body in [&b""[..], b"{\"id\":", b"{\"id\":\"\xff\"}", b"[]x", b"\0"] {
        assert_eq!(deliver(&bench, JSON, body).await, 400, "{body:?}");
        let unsigned = bench.deliver(&post(JSON, body)).await;
        assert_eq!(unsigned.status, 401, "{body:?}");
    }
    assert!(bench.is_untouched());
}

#[tokio::test]
async fn an_unreadable_body_whose_id_stands_outside_is_held_byte_for_byte() {
    let body = b"{\"n\":\"\xff\"}\r\n";
    let bench = of_vendor("github");
    let headers = vec![
        ("X-GitHub-Delivery".to_owned(), "72d3162e-cc78-11e3-81ab-4c9367dc0958".to_owned()),
        ("X-GitHub-Event".to_owned(), "push".to_owned()),
    ];
    let request = bench.signed(&with_headers(&post(JSON, body), headers));
    assert_eq!(bench.deliver(&request).await.status, 202);
    let events = bench.events();
    assert_eq!(events[0].progress.status, EventStatus::Held);
    assert_eq!(events[0].progress.reason.as_ref().map(|reason| reason.slug), Some(Slug::Unreadable));
    let payload =
        bench.store.look(|tables| tables.payload(&events[0].key, &events[0].hash).cloned()).unwrap();
    assert_eq!(payload.body(), body);
    assert_eq!(bench.deliver(&request).await.status, 200);
}

#[tokio::test]
async fn ids_that_a_double_would_confuse_are_two_events() {
    let bench = bench();
    for id in ["9007199254740992", "9007199254740993", "18446744073709551616", "1.0", "1"] {
        assert_eq!(deliver(&bench, JSON, format!(r#"{{"id":{id}}}"#)).await, 202, "{id}");
    }
    assert_eq!(bench.events().len(), 5);
}

#[tokio::test]
async fn times_are_read_in_every_notation_and_a_time_that_cannot_be_is_none() {
    let bench = bench();
    for (number, (at, expected)) in [
        (r#""at":1772000452.2469999"#, Some(1_772_000_452_246)),
        (r#""at":"1772000452""#, Some(1_772_000_452_000)),
        (r#""at_ms":1772000452246"#, Some(1_772_000_452_246)),
        (r#""at_text":"2026-02-25T06:20:52.246999999Z""#, Some(1_772_000_452_246)),
        (r#""at_text":"2026-02-25T01:20:52-05:00""#, Some(1_772_000_452_000)),
        (r#""at_text":"2026-02-25 13:20:52""#, Some(1_772_000_452_000)),
        (r#""at_mail":"Wed, 25 Feb 2026 06:20:52 GMT""#, Some(1_772_000_452_000)),
        (r#""at_text":"2026-19-25T06:20:52Z""#, None),
        (r#""at":"soon""#, None),
        (r#""at":-1"#, None),
        (r#""at":null"#, None),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("e{number}");
        assert_eq!(deliver(&bench, JSON, format!(r#"{{"id":"{id}",{at}}}"#)).await, 202, "{at}");
        let event = bench.events().into_iter().find(|event| event.id == id).unwrap();
        assert_eq!(event.occurred_at, expected.map(UnixMillis), "{at}");
    }
}

#[tokio::test]
async fn what_is_stored_is_what_was_sent() {
    let bench = bench();
    let body = "{\n  \"id\" : \"e1\",\r\n  \"amount\": 1.0, \"n\": 1e2, \"text\": \"a\\u0040b.com\\/x \u{1F600}\"\n}\r\n";
    assert_eq!(deliver(&bench, JSON, body).await, 202);
    let event = bench.events().remove(0);
    let payload = bench.store.look(|tables| tables.payload(&event.key, &event.hash).cloned()).unwrap();
    assert_eq!(String::from_utf8_lossy(payload.body()), body);
}

#[tokio::test]
async fn deep_nesting_is_skipped_and_not_climbed_into() {
    let bench = bench();
    let deep = format!("{{\"x\":{}{},\"id\":\"e1\"}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(deliver(&bench, JSON, deep).await, 202);
    assert_eq!(ids(&bench), ["e1"]);
}
