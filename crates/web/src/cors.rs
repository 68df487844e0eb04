//! Lets the pages of a tenant's hosts ask what their visitors may: the widget's way in.

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use munshi_server::visitor::binding_lookup;
use munshi_server::visitor::origin::{PageOrigin, forbidden_origin_error};

use crate::app::App;

const VISITS: &str = "/visit/";
const WORDS: &str = "/words/";
const METHODS: &str = "GET, POST";
const SENT: &str = "authorization, content-type, last-event-id";
const READ: &str = "x-run-id, x-session-id, x-visitor, x-challenge, x-request-id, retry-after";
/// How long a browser remembers that it may, in seconds.
const AGE: &str = "600";

/// Cookies are never asked for: on others' pages a token says who it is.
pub(crate) async fn apply_cors(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let origin = PageOrigin::from_headers(request.headers());
    if origin.is_own() || !(path.starts_with(VISITS) || path.starts_with(WORDS)) {
        return next.run(request).await;
    }
    match check_origin(&app, path, &origin).await {
        Err(refusal) => refusal,
        Ok(()) => {
            let asked = request.headers().get(ORIGIN).cloned();
            let mut response = if is_preflight(&request) {
                (StatusCode::NO_CONTENT, [(ACCESS_CONTROL_MAX_AGE, AGE)]).into_response()
            } else {
                next.run(request).await
            };
            set_cors_headers(response.headers_mut(), asked);
            response
        }
    }
}

/// Words are everybody's; a place is for its tenant's hosts.
async fn check_origin(app: &App, path: &str, origin: &PageOrigin) -> Result<(), Response> {
    let Some(rest) = path.strip_prefix(VISITS) else { return Ok(()) };
    let name = rest.split('/').next().unwrap_or_default().replace("%3A", ":").replace("%3a", ":");
    let looked = async {
        let api = app.api()?;
        let place = binding_lookup::resolve(api, &name).await?;
        origin.can_reach(api, &place).await
    };
    match looked.await {
        Ok(true) => Ok(()),
        Ok(false) => Err(forbidden_origin_error(origin).into_response()),
        Err(error) => Err(error.into_response()),
    }
}

/// A browser asks first whether it may ask.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn set_cors_headers(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
    headers.append(VARY, HeaderValue::from_static("origin"));
}
