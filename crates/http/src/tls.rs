//! Which certificates are believed: the ones compiled in, so that a bare container works, and the machine's own, so
//! that a company's gateway does. Who speaks another protocol than HTTP believes the same.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

use crate::client::HttpClientError;

/// With the ring provider alone.
pub fn build_tls_config() -> Result<ClientConfig, HttpClientError> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| HttpClientError(error.to_string()))?;
    Ok(versions.with_root_certificates(roots).with_no_client_auth())
}
