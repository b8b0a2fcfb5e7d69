//! Documents from a server on this machine, which misbehaves on purpose.

use super::*;
use crate::connection::local_tls::{authority, server};
use rustls::RootCertStore;
use sekali::http::{Headers, Request as Delivery};
use sekali::vendor::Vendor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A vendor that publishes its key on this machine.
fn key_url() -> KeyUrl {
    let description = r#"confirmed = true
[[scheme]]
kind = "ed25519"
key = { encoding = "jwks", url = "https://localhost/keys/jwks.json" }
signature = { from = "header:Acme-Signature" }
message = "{body}"
[[event]]
id = "/id"
"#;
    let vendor = Vendor::parse("acme", "acme.toml", description).unwrap();
    let delivery = Delivery {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        query: String::new(),
        headers: Headers::default(),
        body: Vec::new(),
    };
    vendor.key_url(&delivery, &vendor.keys(&[]).unwrap()).unwrap().unwrap()
}

fn servers(port: u16, roots: RootCertStore, patience: Duration) -> KeyServers {
    KeyServers { trust: OnceLock::from(Trust::of(roots)), patience, port: Some(port) }
}

/// Long enough for a loopback call on a busy machine.
const LONG: Duration = Duration::from_secs(20);

async fn fetch(answer: impl Into<Vec<u8>>) -> Result<Vec<u8>, NoKeyDocument> {
    let (port, served) = server(true, answer.into(), false).await;
    let document = servers(port, authority(), LONG).fetch(&key_url()).await;
    let request = served.await.unwrap().unwrap();
    assert!(request.starts_with("GET /keys/jwks.json HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("host: localhost\r\n"), "{request}");
    document
}

fn with_length(status: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

#[tokio::test]
async fn a_document_is_what_the_named_server_sends() {
    assert_eq!(fetch(with_length("200 OK", b"{\"keys\":[]}")).await.unwrap(), b"{\"keys\":[]}");
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    assert_eq!(fetch(chunked).await.unwrap(), b"{}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: https://localhost/other\r\ncontent-length: 0\r\n\r\n";
    assert!(matches!(fetch(elsewhere).await, Err(NoKeyDocument::Absent(_))));
}

#[tokio::test]
async fn a_status_says_whether_there_is_none_or_nobody_knows() {
    for status in ["404 Not Found", "410 Gone"] {
        assert!(matches!(fetch(with_length(status, b"x")).await, Err(NoKeyDocument::Absent(_))), "{status}");
    }
    for status in ["403 Forbidden", "429 Slow", "500 Oops", "503 Busy", "204 Nothing"] {
        let document = fetch(format!("HTTP/1.1 {status}\r\n\r\n")).await;
        assert!(matches!(document, Err(NoKeyDocument::Unavailable(_))), "{status}: {document:?}");
    }
}

#[tokio::test]
async fn a_document_has_a_largest_size_whatever_its_server_says() {
    let body = vec![b' '; LARGEST_KEY_DOCUMENT];
    assert_eq!(fetch(with_length("200 OK", &body)).await.unwrap().len(), LARGEST_KEY_DOCUMENT);
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b' '; LARGEST_KEY_DOCUMENT * 4]].concat();
    assert!(matches!(fetch(endless).await, Err(NoKeyDocument::Unusable(_))));
}

#[tokio::test]
async fn half_a_document_is_none() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"keys\":";
    assert!(matches!(fetch(half).await, Err(NoKeyDocument::Unavailable(_))));
}

#[tokio::test]
async fn a_server_that_falls_silent_is_not_waited_for() {
    let silent = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"keys\":";
    let (port, served) = server(true, silent.as_bytes().to_vec(), true).await;
    let document = servers(port, authority(), Duration::from_millis(500)).fetch(&key_url()).await;
    assert!(matches!(document, Err(NoKeyDocument::Unavailable(_))), "{document:?}");
    served.abort();
}

// A server that could be anybody is asked nothing.
#[tokio::test]
async fn a_server_whose_certificate_is_not_trusted_is_asked_nothing() {
    let (port, served) = server(true, with_length("200 OK", b"{}"), false).await;
    let document = servers(port, RootCertStore::empty(), LONG).fetch(&key_url()).await;
    assert!(matches!(document, Err(NoKeyDocument::Unavailable(_))), "{document:?}");
    assert_eq!(served.await.unwrap(), None);
}

#[tokio::test]
async fn a_server_without_tls_is_asked_nothing() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{}").await;
        hello[0]
    });
    let document = servers(port, authority(), LONG).fetch(&key_url()).await;
    assert!(matches!(document, Err(NoKeyDocument::Unavailable(_))), "{document:?}");
    assert_eq!(served.await.unwrap(), 0x16, "the first byte is TLS's, not the request");
}
