//! Calls over TLS.

use super::tests::{MemorySwitches, NoKeepers, call_with, destinations, not_started, request_of};
use super::*;
use crate::connection::local_tls::{acceptor, authority};
use rustls::RootCertStore;
use sekali::protocol::action::EffectResult;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// Takes one call over TLS and answers 204. Says whether a request came.
async fn server() -> (String, tokio::task::JoinHandle<bool>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken = tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = acceptor().accept(tcp).await else { return false };
        request_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 Done\r\n\r\n").await.unwrap();
        true
    });
    (format!("127.0.0.1:{port}"), taken)
}

fn trusting(url: &str, roots: RootCertStore) -> HttpDestinations<NoKeepers, MemorySwitches> {
    HttpDestinations { trust: Some(Trust::of(roots)), ..destinations(url, Reach::Anywhere) }
}

fn localhost(address: &str) -> String {
    format!("https://{}/", address.replace("127.0.0.1", "localhost"))
}

#[tokio::test]
async fn a_server_whose_certificate_is_trusted_is_called() {
    let (address, taken) = server().await;
    let destinations = trusting(&localhost(&address), authority());
    let outcome = call_with(&destinations, Duration::from_secs(20), None).await;
    assert_eq!(outcome, Outcome::Done(EffectResult(String::new())));
    assert!(taken.await.unwrap());
}

// Nothing was sent to a server that could be anybody.
#[tokio::test]
async fn a_server_whose_certificate_is_not_trusted_is_sent_nothing() {
    let (address, taken) = server().await;
    let destinations = destinations(&localhost(&address), Reach::Anywhere);
    assert!(not_started(&call_with(&destinations, Duration::from_secs(20), None).await));
    assert!(!taken.await.unwrap());
}

#[tokio::test]
async fn a_server_with_a_certificate_for_another_name_is_sent_nothing() {
    let (address, taken) = server().await;
    let destinations = trusting(&format!("https://{address}/"), authority());
    assert!(not_started(&call_with(&destinations, Duration::from_secs(20), None).await));
    assert!(!taken.await.unwrap());
}
