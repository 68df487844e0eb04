//! How operators sign in, and where people open the pages.

use axum::http::HeaderMap;
use axum::http::header::HOST;
use munshi_identity::passwords::PasswordService;

use crate::cookies::ConnectionSecurity;
use crate::oidc::OidcClient;

/// What signing in is made of.
pub struct SignInServices {
    pub passwords: PasswordService,
    /// Where people open this in a browser, such as `https://munshi.example`, without a slash at its end. None where it is
    /// not known: then it is whatever they wrote.
    pub public_url: Option<String>,
    /// How long an invitation waits.
    pub invitation_life: std::time::Duration,
    /// Sign-in with another service, where one is set up.
    pub oidc: Option<OidcClient>,
}

impl SignInServices {
    /// A path as a link for people elsewhere.
    pub fn build_url(&self, headers: &HeaderMap, path: &str) -> String {
        match &self.public_url {
            Some(url) => format!("{url}{path}"),
            None => {
                let scheme = if self.is_secure(headers) { "https" } else { "http" };
                let host = headers.get(HOST).and_then(|value| value.to_str().ok());
                format!("{scheme}://{}{path}", host.unwrap_or("localhost"))
            }
        }
    }

    pub fn is_secure(&self, headers: &HeaderMap) -> bool {
        is_secure(self.public_url.as_deref(), headers)
    }

    pub fn connection_security(&self, headers: &HeaderMap) -> ConnectionSecurity {
        if self.is_secure(headers) { ConnectionSecurity::Secure } else { ConnectionSecurity::Open }
    }
}

/// Whether the browser speaks TLS to us or to the proxy before us. A client that lies harms itself alone.
pub fn is_secure(public_url: Option<&str>, headers: &HeaderMap) -> bool {
    let forwarded = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    public_url.is_some_and(|url| url.starts_with("https://")) || forwarded == Some("https")
}
