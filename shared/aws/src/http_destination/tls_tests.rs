//! Calls over TLS, to a server whose certificate an invented authority signed
//! (`certificates/`, valid until 2120; the key protects nothing).

use super::tests::{call_with, destinations, not_started, request_of};
use super::*;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use sekali::protocol::action::EffectResult;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &[u8] = include_bytes!("certificates/authority.der");
const CERTIFICATE: &[u8] = include_bytes!("certificates/localhost.der");
const KEY: &[u8] = include_bytes!("certificates/localhost-key.der");

/// Takes one call over TLS and answers 204. Says whether a request came.
async fn server() -> (String, tokio::task::JoinHandle<bool>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken = tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(tcp).await else { return false };
        request_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 204 Done\r\n\r\n").await.unwrap();
        true
    });
    (format!("127.0.0.1:{port}"), taken)
}

fn trusting(url: &str, roots: RootCertStore) -> HttpDestinations {
    HttpDestinations { trust: Some(Trust::of(roots)), ..destinations(url, Reach::Anywhere) }
}

fn authority() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(AUTHORITY)).unwrap();
    roots
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
