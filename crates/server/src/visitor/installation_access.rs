//! Whether somebody sits at this very machine, or looks after the installation.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::request::Parts;
use futures_util::FutureExt;
use munshi_identity::operators::{self, OPERATORS};
use munshi_types::TenantId;

use crate::access::authenticator::VisitorSeat;
use crate::access::{Access, AccessSource, AccessState};
use crate::client_address::is_local;
use crate::error::{ApiError, ApiErrorCode};
use crate::options::{MonitorAccess, Peer};
use crate::visitor::local_session;
use crate::visitor::origin::{PageOrigin, strip_port};

/// Whether the request comes from this machine and is meant for it: a name that leads here from elsewhere is not
/// believed, so that no page on the web speaks for whoever sits here. Alone it proves nothing: a proxy on this machine
/// that adds no header looks the same.
fn is_local_request(peer: Option<&Peer>, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).map(strip_port).unwrap_or_default();
    let is_meant = matches!(host, "localhost" | "127.0.0.1" | "::1");
    is_meant && is_local(peer, headers)
}

/// Where whoever asks sits: at the machine if they come from it and their browser has opened the link of its terminal.
pub async fn find_seat(
    access: &AccessState,
    peer: Option<&Peer>,
    headers: &HeaderMap,
) -> Result<VisitorSeat, ApiError> {
    let Some(sent) = local_session::read_cookie(headers).filter(|_| is_local_request(peer, headers)) else {
        return Ok(VisitorSeat::Elsewhere);
    };
    let key = access.codes.load_key(TenantId::PLATFORM).await?;
    let is_known = local_session::is_valid_session(&key, sent, access.clock.now());
    Ok(if is_known { VisitorSeat::AtMachine } else { VisitorSeat::Elsewhere })
}

/// Whether a link of the terminal is opened where it was meant to be.
pub async fn is_local_link(
    access: &AccessState,
    (peer, headers): (Option<&Peer>, &HeaderMap),
    token: &str,
) -> Result<bool, ApiError> {
    let key = access.codes.load_key(TenantId::PLATFORM).await?;
    Ok(is_local_request(peer, headers) && local_session::is_valid_link(&key, token, access.clock.now()))
}

/// Somebody who may set this installation up, on a page of ours.
pub struct Keeper;

impl<S: AccessSource> FromRequestParts<S> for Keeper {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // Boxed, so that its code is not part of every handler's.
        Self::extract(parts, state.access()).boxed().await
    }
}

impl Keeper {
    async fn extract(parts: &Parts, access: Result<&Access, ApiError>) -> Result<Self, ApiError> {
        if !PageOrigin::from_headers(&parts.headers).is_own() {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "Only pages of this server may do this."));
        }
        if is_keeper(access?, parts.extensions.get::<Peer>(), &parts.headers).await? {
            return Ok(Self);
        }
        Err(ApiError::new(ApiErrorCode::Forbidden, "Only a keeper of this server may do this.")
            .hint("Sign in as a keeper; if no account exists yet, open the link that `munshi serve` prints, on the same machine."))
    }
}

/// Whether somebody may read what the installation tells of itself: a program on this machine that asks the machine itself,
/// or its keeper. A proxy there that adds no header passes on the name its visitors ask for. Where nobody is authenticated,
/// there is no `access` and no keeper.
pub async fn can_monitor(
    access: Option<&Access>,
    monitors: MonitorAccess,
    (peer, headers): (Option<&Peer>, &HeaderMap),
) -> Result<bool, ApiError> {
    if monitors == MonitorAccess::Everybody || is_local_request(peer, headers) {
        return Ok(true);
    }
    let Some(access) = access else { return Ok(false) };
    let seat = find_seat(access, peer, headers).await?;
    access.proofs.is_keeper(headers, seat).await
}

/// Who sits at the machine may set it up while nobody has an account and nothing says that the installation is for others.
pub async fn is_keeper(
    access: &AccessState,
    peer: Option<&Peer>,
    headers: &HeaderMap,
) -> Result<bool, ApiError> {
    let seat = find_seat(access, peer, headers).await?;
    if access.proofs.is_keeper(headers, seat).await? {
        return Ok(true);
    }
    if seat == VisitorSeat::Elsewhere || access.account.public_url.is_some() {
        return Ok(false);
    }
    Ok(!access.db.platform(OPERATORS).read(operators::has_any).await?)
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
        assert!(is_local_request(Some(&near), &sent(&[(HOST, "localhost:8400")])));
        assert!(is_local_request(Some(&six), &sent(&[(HOST, "[::1]:8400")])));
        assert!(!is_local_request(Some(&far), &sent(&[(HOST, "localhost:8400")])));
        assert!(!is_local_request(None, &sent(&[(HOST, "localhost:8400")])));
        // A page on the web whose name was made to lead here.
        assert!(!is_local_request(Some(&near), &sent(&[(HOST, "evil.example:8400")])));
        let passed = HeaderName::from_static("x-forwarded-for");
        assert!(!is_local_request(Some(&near), &sent(&[(HOST, "127.0.0.1:8400"), (passed, "203.0.113.1")])));
        assert!(!is_local_request(Some(&near), &sent(&[])));
    }
}
