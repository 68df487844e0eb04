//! `GET /readyz`: can the server do its work? Load balancers send requests only while it can.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use munshi_server::client_address::UNNAMED_PROXY;
use munshi_server::json::Json;
use munshi_server::options::{MonitorAccess, Peer};
use munshi_server::readiness::ReadinessCheck;
use munshi_server::visitor::installation_access::can_monitor;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;

/// A check that takes longer is as good as failed, and probes must not pile up behind it.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct ReadinessReport {
    /// Whether every check is ok.
    ready: bool,
    /// The checks. Only local programs see them, unless `server.public_metrics` is set; empty for others.
    checks: Vec<ReadinessCheck>,
}

/// Readiness check.
#[utoipa::path(get, path = "/readyz", tag = "readiness", responses(
    (status = 200, description = "The server is ready.", body = ReadinessReport),
    (status = 503, description = "The server is not ready; the checks say why.", body = ReadinessReport),
))]
pub(crate) async fn check_readiness(
    State(app): State<App>,
    Extension(access): Extension<MonitorAccess>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> (StatusCode, Json<ReadinessReport>) {
    let mut checks = match tokio::time::timeout(TIMEOUT, app.readiness().run_checks()).await {
        Ok(checks) => checks,
        Err(_) => vec![ReadinessCheck::fail(
            "readiness",
            format!("the readiness checks timed out after {} s", TIMEOUT.as_secs()),
            "check that the database responds, and read the log",
        )],
    };
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let peer = peer.map(|Extension(peer)| peer);
    if !can_monitor(app.access().ok(), access, (peer.as_ref(), &headers)).await.unwrap_or(false) {
        checks.clear();
    } else if app.api().is_ok_and(|api| api.has_unnamed_proxy()) {
        checks.push(ReadinessCheck::pass("proxies", UNNAMED_PROXY));
    }
    (status, Json(ReadinessReport { ready, checks }))
}
