//! What the pages under `/account` share: who is signed in, forms that can't be sent by another's page, and what the audit
//! hears.
//!
//! # Layout
//! - [`SignInServices`]: the parts, made by the binary; [`oidc`]: sign-in with another service
//! - `signed_in_operator`: who has this browser; `caller`: the same for the routes under `/v1`
//! - `form`: what a form sent, once it is sure that it is ours; `origin`: whose page it came from
//! - `browser_sign_in`: a new sign-in, its cookies and where to go on; `cookies`, `local_path`: their forms
//! - [`authenticator`]: who is signed in, and whom a host vouches for, at the door for people
//! - `connector_authorizer`: who may follow a link to a connector's service
//! - `audit_context`: what the audit hears; `frame`: what every page shows; `page_error`: a no as a page
//! - `phrases`: what the pages say, in the language of whoever reads them

pub(crate) mod audit_context;
pub mod authenticator;
pub(crate) mod browser_sign_in;
pub(crate) mod caller;
pub(crate) mod connector_authorizer;
pub(crate) mod cookies;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod local_path;
pub mod oidc;
pub(crate) mod origin;
pub(crate) mod page_error;
pub(crate) mod phrases;
pub(crate) mod signed_in_operator;

use munshi_identity::passwords::PasswordService;

use self::oidc::OidcClient;
use crate::visitor::token::ConnectionSecurity;

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
    pub(crate) fn build_url(&self, headers: &axum::http::HeaderMap, path: &str) -> String {
        match &self.public_url {
            Some(url) => format!("{url}{path}"),
            None => {
                let scheme = if self.is_secure(headers) { "https" } else { "http" };
                let host = headers.get(axum::http::header::HOST).and_then(|value| value.to_str().ok());
                format!("{scheme}://{}{path}", host.unwrap_or("localhost"))
            }
        }
    }

    pub(crate) fn is_secure(&self, headers: &axum::http::HeaderMap) -> bool {
        is_secure(self.public_url.as_deref(), headers)
    }

    pub(crate) fn connection_security(&self, headers: &axum::http::HeaderMap) -> ConnectionSecurity {
        if self.is_secure(headers) { ConnectionSecurity::Secure } else { ConnectionSecurity::Open }
    }
}

/// Whether the browser speaks TLS to us or to the proxy before us. A client that lies harms itself alone.
fn is_secure(public_url: Option<&str>, headers: &axum::http::HeaderMap) -> bool {
    let forwarded = headers.get("x-forwarded-proto").and_then(|value| value.to_str().ok());
    public_url.is_some_and(|url| url.starts_with("https://")) || forwarded == Some("https")
}
