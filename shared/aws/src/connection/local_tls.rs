//! A TLS server on this machine for tests, with a certificate for `localhost`
//! that an invented authority signed (`certificates/`, valid until 2120; the
//! key protects nothing).

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &[u8] = include_bytes!("certificates/authority.der");
const CERTIFICATE: &[u8] = include_bytes!("certificates/localhost.der");
const KEY: &[u8] = include_bytes!("certificates/localhost-key.der");

/// The server's side of a connection.
pub(crate) fn acceptor() -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

/// Whoever trusts these trusts the server.
pub(crate) fn authority() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(AUTHORITY)).unwrap();
    roots
}
