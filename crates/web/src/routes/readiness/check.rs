//! `GET /readyz`: can the server do its work? Load balancers send requests only while it can.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::json::Json;
use crate::readiness::ReadinessCheck;
use crate::server::{MonitorAccess, Peer};
use crate::visitor::client_address::UNNAMED_PROXY;
use crate::visitor::here::may_monitor;

/// A check that takes longer is as good as failed, and probes must not pile up behind it.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct ReadinessReport {
    /// Whether every check is ok.
    ready: bool,
    /// What was found: for programs on this machine, unless the settings open it to all; empty for others.
    checks: Vec<ReadinessCheck>,
}

/// Can the server do its work?
#[utoipa::path(get, path = "/readyz", tag = "readiness", responses(
    (status = 200, description = "It can.", body = ReadinessReport),
    (status = 503, description = "It can't; the checks say why.", body = ReadinessReport),
))]
pub(crate) async fn check_readiness(
    State(app): State<App>,
    Extension(access): Extension<MonitorAccess>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> (StatusCode, Json<ReadinessReport>) {
    let mut checks = match tokio::time::timeout(PATIENCE, app.readiness().ready()).await {
        Ok(checks) => checks,
        Err(_) => vec![ReadinessCheck::fail(
            "readiness",
            format!("the checks took more than {} s", PATIENCE.as_secs()),
            "see whether the database answers, and the log",
        )],
    };
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let peer = peer.map(|Extension(peer)| peer);
    if !may_monitor(&app, access, (peer.as_ref(), &headers)).await.unwrap_or(false) {
        checks.clear();
    } else if app.api().is_ok_and(|api| api.unnamed_proxy.is_completed()) {
        checks.push(ReadinessCheck::pass("proxies", UNNAMED_PROXY));
    }
    (status, Json(ReadinessReport { ready, checks }))
}
