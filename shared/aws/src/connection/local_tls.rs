//! Servers on this machine for tests, over TLS or in the clear, with a certificate for `localhost`
//! that an invented authority signed (`certificates/`, valid until 2120; the
//! key protects nothing).

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
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

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Takes one connection, reads a request, answers with these bytes; gives the
/// request back, or nothing where nobody came so far.
pub(crate) async fn server(
    tls: bool,
    answer: Vec<u8>,
    then_silent: bool,
) -> (u16, JoinHandle<Option<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let mut stream: Box<dyn Stream> =
            if tls { Box::new(acceptor().accept(tcp).await.ok()?) } else { Box::new(tcp) };
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).await.ok()? == 0 {
                return None;
            }
            request.extend_from_slice(&byte);
        }
        // The caller may have read enough and be gone.
        let _ = stream.write_all(&answer).await;
        if then_silent {
            let _ = stream.read(&mut [0]).await;
        }
        let _ = stream.shutdown().await;
        String::from_utf8(request).ok()
    });
    (port, served)
}
