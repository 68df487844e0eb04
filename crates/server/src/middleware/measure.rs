//! Counts and times requests. Every label is from a closed set, so that no client can make up new series.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use metrics::{counter, gauge, histogram};

use super::span_names::UNMATCHED;
use crate::metrics::{IN_FLIGHT, REQUEST_SECONDS, REQUESTS};

/// The status written down when the client left before the answer.
const CLIENT_LEFT: u16 = 499;

pub(super) async fn measure(matched: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let mut sample = Sample::begin(matched, request.method());
    let response = next.run(request).await;
    sample.status = response.status().as_u16();
    response
}

/// One request being measured. Written down when dropped, so that one which is broken off counts too.
struct Sample {
    route: Option<MatchedPath>,
    method: &'static str,
    status: u16,
    started: Instant,
}

impl Sample {
    fn begin(route: Option<MatchedPath>, method: &Method) -> Self {
        gauge!(IN_FLIGHT).increment(1);
        Self { route, method: method_label(method), status: CLIENT_LEFT, started: Instant::now() }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let route = self.route.as_ref().map_or(UNMATCHED, MatchedPath::as_str).to_owned();
        let (method, status) = (self.method, self.status.to_string());
        let seconds = self.started.elapsed();
        histogram!(REQUEST_SECONDS, "route" => route.clone(), "method" => method).record(seconds);
        counter!(REQUESTS, "route" => route, "method" => method, "status" => status).increment(1);
        gauge!(IN_FLIGHT).decrement(1);
    }
}

fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
