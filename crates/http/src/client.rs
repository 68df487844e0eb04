//! The one place where a client is built.

use std::fmt;
use std::time::Duration;

use reqwest::{Client, redirect, retry};

use crate::allowed_hosts::{AllowedHosts, GuardedResolver};
use crate::{list_causes, tls};

const IDLE: Duration = Duration::from_secs(60);

/// Builds clients that believe the same certificates, which are read once.
#[derive(Clone)]
pub struct HttpClientBuilder {
    tls: rustls::ClientConfig,
}

/// Which addresses a client connects to.
#[derive(Clone, Debug)]
pub enum ReachableAddresses {
    /// All: the operator's settings name the server.
    Any,
    /// Public ones, and private ones of these hosts: somebody else names the server.
    Public(AllowedHosts),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HttpClientError(pub(crate) String);

impl HttpClientBuilder {
    pub fn new() -> Result<Self, HttpClientError> {
        Ok(Self { tls: tls::build_tls_config()? })
    }

    /// `connect` is the time for a connection to stand. The whole answer's is the caller's to bound.
    pub fn build(&self, connect: Duration, reach: ReachableAddresses) -> Result<Client, HttpClientError> {
        let builder = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .connect_timeout(connect)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE);
        let builder = match reach {
            ReachableAddresses::Any => builder,
            ReachableAddresses::Public(allowed) => builder.dns_resolver(GuardedResolver(allowed)),
        };
        builder.build().map_err(|error| {
            let cause = list_causes(&error).pop();
            HttpClientError(cause.unwrap_or_else(|| error.to_string()))
        })
    }
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder").finish_non_exhaustive()
    }
}
