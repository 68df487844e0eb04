//! `GET /`: what this is, for a person or a program that found the port.

use std::collections::BTreeMap;

use askama::Template;
use axum::http::header::{ACCEPT, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::json::Json;
use crate::pages::Page;

#[derive(Serialize, ToSchema)]
pub(crate) struct Home {
    name: &'static str,
    version: &'static str,
    /// Where to go on.
    links: BTreeMap<&'static str, &'static str>,
}

/// What this is: a page for browsers, JSON for all others.
#[utoipa::path(get, path = "/", tag = "home", responses(
    (status = 200, description = "A welcome.", content((Home = "application/json"), (String = "text/html"))),
))]
pub(crate) async fn show_home(headers: HeaderMap) -> Response {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.contains("text/html") { page() } else { ([(VARY, "accept")], Json(home())).into_response() }
}

fn home() -> Home {
    let links = BTreeMap::from([
        ("health", "/healthz"),
        ("metrics", "/metrics"),
        ("openapi", "/openapi.json"),
        ("readiness", "/readyz"),
    ]);
    Home { name: "Munshi", version: env!("CARGO_PKG_VERSION"), links }
}

fn page() -> Response {
    let mut response = Page(HomePage).into_response();
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage;
