//! Whether somebody sits at this very machine, or looks after the installation.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::{FORWARDED, HOST, VIA};
use axum::http::request::Parts;
use munshi_identity::operators::{self, OPERATORS};

use super::origin::{Origin, host_of};
use crate::app::App;
use crate::error::{ApiError, Code};
use crate::server::Peer;

/// What only a proxy adds: behind one, everybody seems to sit here.
const PASSED_ON: [&str; 4] = ["x-forwarded-for", "x-forwarded-host", "x-real-ip", "x-forwarded-proto"];

/// Whether the request comes from this machine and is meant for it: a name that leads here from elsewhere is not
/// believed, so that no page on the web speaks for whoever sits here.
pub(crate) fn sits_here(peer: Option<&Peer>, headers: &HeaderMap) -> bool {
    let is_near = peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback());
    let passed_on = PASSED_ON.iter().any(|name| headers.contains_key(*name))
        || headers.contains_key(FORWARDED)
        || headers.contains_key(VIA);
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).map(host_of).unwrap_or_default();
    let is_meant = matches!(host, "localhost" | "127.0.0.1" | "::1");
    is_near && is_meant && !passed_on
}

/// Somebody who may set this installation up, on a page of ours.
pub(crate) struct Keeper;

impl FromRequestParts<App> for Keeper {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if !Origin::of(&parts.headers).is_own() {
            return Err(ApiError::new(Code::Forbidden, "This is for pages of this server alone."));
        }
        if is_keeper(app, parts.extensions.get::<Peer>(), &parts.headers).await? {
            return Ok(Self);
        }
        Err(ApiError::new(Code::Forbidden, "This is for whoever looks after this installation.")
            .hint("Sign in as its keeper; while nobody has an account, open it on the machine itself as http://localhost."))
    }
}

/// Who sits here is believed while nobody has an account and nothing says that the installation is for others: some
/// proxies add nothing to what they pass on, and then everybody seems to sit here.
pub(crate) async fn is_keeper(app: &App, peer: Option<&Peer>, headers: &HeaderMap) -> Result<bool, ApiError> {
    let api = app.api()?;
    if api.visits.proofs.is_operator(headers).await? {
        return Ok(true);
    }
    if !sits_here(peer, headers) || api.account.public_url.is_some() {
        return Ok(false);
    }
    Ok(!api.db.platform(OPERATORS).read(operators::any).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[test]
    fn only_who_sits_here_does() {
        let near = Peer("127.0.0.1:5000".parse().unwrap());
        let six = Peer("[::1]:5000".parse().unwrap());
        let far = Peer("192.0.2.1:5000".parse().unwrap());
        let sent = |pairs: &[(HeaderName, &'static str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
        };
        assert!(sits_here(Some(&near), &sent(&[(HOST, "localhost:8400")])));
        assert!(sits_here(Some(&six), &sent(&[(HOST, "[::1]:8400")])));
        assert!(!sits_here(Some(&far), &sent(&[(HOST, "localhost:8400")])));
        assert!(!sits_here(None, &sent(&[(HOST, "localhost:8400")])));
        // A page on the web whose name was made to lead here.
        assert!(!sits_here(Some(&near), &sent(&[(HOST, "evil.example:8400")])));
        let passed = HeaderName::from_static("x-forwarded-for");
        assert!(!sits_here(Some(&near), &sent(&[(HOST, "127.0.0.1:8400"), (passed, "203.0.113.1")])));
        assert!(!sits_here(Some(&near), &sent(&[])));
    }
}
