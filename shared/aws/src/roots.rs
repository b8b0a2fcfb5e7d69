//! The root certificates: read once, from one file. The system's own search
//! goes through files and folders, which was most of a cold start.

use aws_smithy_http_client::tls::{TlsContext, TrustStore};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use std::path::Path;
use std::sync::LazyLock;

/// Where the systems that functions run on keep all of them in one file:
/// Amazon Linux, Debian.
const BUNDLES: [&str; 2] = ["/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"];

/// Who sets one of these knows where they are; they are obeyed.
const VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

static ROOTS: LazyLock<Vec<CertificateDer<'static>>> = LazyLock::new(|| {
    let told = VARIABLES.iter().any(|name| std::env::var_os(name).is_some());
    let bundle = BUNDLES.iter().map(Path::new).find(|bundle| !told && bundle.is_file());
    let found = match bundle {
        Some(bundle) => rustls_native_certs::load_certs_from_paths(Some(bundle), None),
        None => rustls_native_certs::load_native_certs(),
    };
    if !found.errors.is_empty() {
        tracing::warn!(error = ?found.errors, "some root certificates were not read");
    }
    found.certs
});

/// All that can be read; a server that needs another is not connected to.
pub(crate) fn store() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(ROOTS.iter().cloned());
    roots
}

/// The same for the SDK. It takes text and panics at what it cannot read, so
/// it gets only what was read.
pub(crate) fn context() -> Option<TlsContext> {
    let mut pem = String::new();
    for root in ROOTS.iter() {
        if RootCertStore::empty().add(root.clone()).is_ok() {
            pem.push_str("-----BEGIN CERTIFICATE-----\n");
            pem.push_str(&aws_smithy_types::base64::encode(root));
            pem.push_str("\n-----END CERTIFICATE-----\n");
        }
    }
    let roots = TrustStore::empty().with_pem_certificate(pem);
    TlsContext::builder().with_trust_store(roots).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_trusts_whom_we_trust() {
        // Building a connector reads the text again, and panics if it cannot.
        let client = aws_smithy_http_client::Connector::builder().tls_provider(crate::client::TLS);
        drop(client.tls_context(context().unwrap()).build());
        assert_eq!(store().is_empty(), ROOTS.is_empty());
    }
}
