//! `/mcp`: the Model Context Protocol, as its clients speak it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::ORIGIN;
use axum::response::Response;
use munshi_identity::keys::{ApiAccess, Area};
use munshi_mcp::answer_http_request;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;

use crate::api::access::{AuthorizedCaller, forbidden_error};
use crate::app::App;
use crate::mcp::server::KeyToolServer;

/// Answers one request of a client. It has the key in every one of them.
pub(crate) async fn serve_mcp(State(app): State<App>, request: Request) -> Result<Response, ApiError> {
    let api = app.api()?;
    let address = api.client_address(request.extensions().get::<Peer>(), request.headers());
    if is_foreign_origin(request.headers(), api.account.public_url.as_deref()) {
        let what = "Requests from pages of other sites are not allowed.";
        return Err(
            ApiError::new(ApiErrorCode::Forbidden, what).hint("Call it from a program, with an API key.")
        );
    }
    let key = AuthorizedCaller::authenticate_key(api, request.headers(), address).await?;
    let opens = |area, access| key.caller.authorize(area, access);
    let is_administered = opens(Area::Administration, ApiAccess::Read).is_ok();
    if let (Err(lacking), Err(_), false) =
        (opens(Area::Tools, ApiAccess::Read), opens(Area::Chat, ApiAccess::Write), is_administered)
    {
        return Err(forbidden_error(lacking));
    }
    let server = Arc::new(KeyToolServer(key));
    let answer = answer_http_request(server, request, app.shutdown_token().child_token()).await;
    Ok(answer.map(Body::new))
}

/// Whether a browser says that somebody else's page sends this. A page that led its own name to this machine names
/// itself in both headers, so only names that are ours count.
fn is_foreign_origin(headers: &HeaderMap, public_url: Option<&str>) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let Ok(origin) = origin.to_str() else { return true };
    if public_url.is_some_and(|url| url.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
        return false;
    }
    let place = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let host = place.map(|place| match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => place,
    });
    !host.is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn pages_of_others_are_strange() {
        for (origin, expected) in [
            ("http://localhost:8400", false),
            ("http://127.0.0.1", false),
            ("http://[::1]:80", false),
            ("https://munshi.example", false),
            ("https://munshi.example.evil.example", true),
            ("http://localhost.evil.example:8400", true),
            ("https://evil.example", true),
            ("null", true),
        ] {
            let headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
            assert_eq!(is_foreign_origin(&headers, Some("https://munshi.example")), expected, "{origin}");
        }
        assert!(!is_foreign_origin(&HeaderMap::new(), None));
    }
}
