//! What asks over HTTP. A name is resolved without its port being told, so there are two: one for the places that the
//! operator allowed though they are private, and one that never leads into a private network.

use std::time::Duration;

use reqwest::Client;
use url::Url;

use super::allowed_hosts::{AllowedHosts, GuardedResolver};
use crate::error::{Error, Result};

const CONNECTING: Duration = Duration::from_secs(10);

/// Follow nobody elsewhere, and reach addresses that everybody reaches, or that the operator allowed.
#[derive(Clone)]
pub(crate) struct ConnectorHttpClients {
    pub(crate) allowed: AllowedHosts,
    private: Client,
    public: Client,
}

impl ConnectorHttpClients {
    pub(crate) fn new(allowed: AllowedHosts) -> Result<Self> {
        let (private, public) = (build_client(allowed.clone())?, build_client(AllowedHosts::default())?);
        Ok(Self { allowed, private, public })
    }

    /// The one for this place.
    pub(crate) fn select(&self, url: &Url) -> &Client {
        if self.allowed.allows(url) { &self.private } else { &self.public }
    }
}

fn build_client(allowed: AllowedHosts) -> Result<Client> {
    let unusable = |error: String| Error::Unreachable(format!("creating the HTTP client failed: {error}"));
    let tls = munshi_llm::transport::tls::config().map_err(|fault| unusable(fault.to_string()))?;
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECTING)
        .dns_resolver(GuardedResolver(allowed))
        .build()
        .map_err(|error| unusable(error.to_string()))
}
