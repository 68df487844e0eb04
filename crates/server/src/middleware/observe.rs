//! One span and one log line per request.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::request_id::RequestId;
use super::span_names::{SpanNames, UNMATCHED};

/// Asked every few seconds by machines: their lines are for debugging only.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Opens the span `http.<resource>.<verb>`. The raw path and query never reach a log: they may hold tokens and names.
pub(super) async fn observe(
    State(names): State<Arc<SpanNames>>,
    matched: Option<MatchedPath>,
    id: RequestId,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = matched.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
    let span = open(names.find(&method, route), &method, route, &id);
    let response = next.run(request).instrument(span.clone()).await;
    close(&span, &method, route, response.status(), started);
    response
}

fn open(name: &str, method: &Method, route: &str, id: &RequestId) -> Span {
    tracing::info_span!(
        "http",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method.as_str(),
        http.route = route,
        http.response.status_code = Empty,
        request_id = id.as_str(),
        duration_ms = Empty,
    )
}

fn close(span: &Span, method: &Method, route: &str, status: StatusCode, started: Instant) {
    let status_code = status.as_u16();
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    span.record("http.response.status_code", status_code);
    span.record("duration_ms", duration_ms);
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    let _inside = span.enter();
    if PROBES.contains(&route) {
        tracing::debug!(
            method = method.as_str(),
            route,
            status = status_code,
            duration_ms,
            "request completed"
        );
    } else {
        tracing::info!(
            method = method.as_str(),
            route,
            status = status_code,
            duration_ms,
            "request completed"
        );
    }
}
