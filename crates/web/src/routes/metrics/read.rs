//! `GET /metrics`: counts and times for Prometheus.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::{MonitorAccess, Peer};
use munshi_server::visitor::installation_access::can_monitor;

use crate::app::App;

/// Get metrics in the Prometheus text format. Only local programs may read them, unless `server.public_metrics` is
/// set.
#[utoipa::path(get, path = "/metrics", tag = "metrics", responses(
    (status = 200, description = "All metrics.", body = String, content_type = "text/plain; version=0.0.4"),
    (status = 403, description = "You are not allowed to read metrics.", body = crate::ErrorBody),
))]
pub(crate) async fn read_metrics(
    State(app): State<App>,
    Extension(access): Extension<MonitorAccess>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let peer = peer.map(|Extension(peer)| peer);
    if !can_monitor(app.access().ok(), access, (peer.as_ref(), &headers)).await? {
        let words = "Only programs on this machine and signed-in keepers of this server may read metrics.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, words)
            .hint("Read them on the machine itself, or set `server.public_metrics = true`."));
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics().render()))
}
