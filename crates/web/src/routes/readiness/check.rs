//! `GET /readyz`: can the server do its work? Load balancers send requests only while it can.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::json::Json;
use crate::readiness::Check;

/// A check that takes longer is as good as failed, and probes must not pile up behind it.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Serialize, ToSchema)]
#[schema(as = Readiness)]
pub(crate) struct Report {
    /// Whether every check is ok.
    ready: bool,
    checks: Vec<Check>,
}

/// Can the server do its work?
#[utoipa::path(get, path = "/readyz", tag = "readiness", responses(
    (status = 200, description = "It can.", body = Report),
    (status = 503, description = "It can't; the checks say why.", body = Report),
))]
pub(crate) async fn check_readiness(State(app): State<App>) -> (StatusCode, Json<Report>) {
    let checks = match tokio::time::timeout(PATIENCE, app.readiness().ready()).await {
        Ok(checks) => checks,
        Err(_) => vec![Check::fail(
            "readiness",
            format!("the checks took more than {} s", PATIENCE.as_secs()),
            "see whether the database answers, and the log",
        )],
    };
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Report { ready, checks }))
}
