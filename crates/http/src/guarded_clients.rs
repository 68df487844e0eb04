//! Clients for addresses that others name. A name is resolved without its port being told, so there are two: one for the
//! places that the operator allowed though they are private, and one that never leads into a private network.

use std::time::Duration;

use reqwest::Client;
use url::Url;

use crate::allowed_hosts::AllowedHosts;
use crate::client::{HttpClientBuilder, HttpClientError, ReachableAddresses};

const CONNECTING: Duration = Duration::from_secs(10);

/// Follow nobody elsewhere, and reach addresses that everybody reaches, or that the operator allowed.
#[derive(Clone)]
pub struct GuardedHttpClients {
    pub allowed: AllowedHosts,
    private: Client,
    public: Client,
}

impl GuardedHttpClients {
    pub fn new(allowed: AllowedHosts) -> Result<Self, HttpClientError> {
        let builder = HttpClientBuilder::new()?;
        let build = |allowed| builder.build(CONNECTING, ReachableAddresses::Public(allowed));
        let (private, public) = (build(allowed.clone())?, build(AllowedHosts::default())?);
        Ok(Self { allowed, private, public })
    }

    /// The one for this place.
    pub fn select(&self, url: &Url) -> &Client {
        if self.allowed.allows(url) { &self.private } else { &self.public }
    }
}
