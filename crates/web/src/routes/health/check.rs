//! `GET /healthz`: the process is alive. It looks at nothing else, so that a sick database does not get the process
//! killed: that is what `/readyz` is for.

use munshi_server::json::Json;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthResponse {
    /// Always `alive`.
    #[schema(example = "alive")]
    status: &'static str,
}

/// Liveness check.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, description = "The process is alive.", body = HealthResponse)))]
pub(crate) async fn check_health() -> Json<HealthResponse> {
    Json(HealthResponse { status: "alive" })
}
