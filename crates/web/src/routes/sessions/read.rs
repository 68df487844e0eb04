//! `GET /v1/sessions/{id}`: one conversation.

use munshi_agent::sessions::{self, Session};
use munshi_server::error::ApiError;
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::SessionId;

use crate::api::access::AuthorizedCaller;
use crate::views::session::SessionView;

/// Get a session.
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session.")),
    responses((status = 200, description = "The session.", body = SessionView)))]
pub(crate) async fn read_session(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(load_session(&key, id).await?.into()))
}

/// The session, if it is the tenant's and of a binding that the key reaches. An old id leads to what it became part of.
pub(crate) async fn load_session(key: &AuthorizedCaller, id: SessionId) -> Result<Session, ApiError> {
    let found = key.api.db.read(key.tenant(), move |tx| sessions::find_current(tx, id)).await?;
    let found = found.filter(|session| key.reaches(session.binding));
    found.ok_or_else(|| not_found_error("session", &id.to_string()))
}
