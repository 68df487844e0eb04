//! Headers that keep a browser careful. A handler that sets one itself keeps its own.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

const DEFAULTS: [(HeaderName, &str); 7] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    // Right for JSON; a page that loads anything says so itself.
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    // Answers hold people's data.
    (CACHE_CONTROL, "no-store"),
    // No window that another site opened reaches into ours.
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "geolocation=(), payment=(), usb=()"),
];

pub(super) async fn set_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in DEFAULTS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
