//! `GET /metrics`: counts and times for Prometheus.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::app::App;

/// Counts and times, in Prometheus's text format.
#[utoipa::path(get, path = "/metrics", tag = "metrics", responses(
    (status = 200, description = "All metrics.", body = String, content_type = "text/plain; version=0.0.4"),
))]
pub(crate) async fn read_metrics(State(app): State<App>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics().render())
}
