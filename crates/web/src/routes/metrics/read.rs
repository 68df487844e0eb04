//! `GET /metrics`: counts and times for Prometheus.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};
use crate::server::{MonitorAccess, Peer};
use crate::visitor::here::may_monitor;

/// Counts and times, in Prometheus's text format: for programs on this machine, unless the settings open them to all.
#[utoipa::path(get, path = "/metrics", tag = "metrics", responses(
    (status = 200, description = "All metrics.", body = String, content_type = "text/plain; version=0.0.4"),
    (status = 403, description = "They are not told to you.", body = crate::ErrorBody),
))]
pub(crate) async fn read_metrics(
    State(app): State<App>,
    Extension(access): Extension<MonitorAccess>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let peer = peer.map(|Extension(peer)| peer);
    if !may_monitor(&app, access, (peer.as_ref(), &headers)).await? {
        let words = "Metrics are for programs on this machine, and for whoever looks after the installation.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, words)
            .hint("Read them on the machine itself, or set `server.public_metrics = true`."));
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics().render()))
}
