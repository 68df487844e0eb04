//! `POST /v1/sessions/{id}/seen`: how far a colleague has read.

use axum::http::StatusCode;
use munshi_conversations::{presence, sessions};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::{MessageId, SessionId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::sign_typing::find_colleague;
use crate::api::access::AuthorizedCaller;

/// The newest message that was read.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionRead {
    #[schema(value_type = uuid::Uuid)]
    message: MessageId,
}

/// Say how far you have read a session: `unread` counts what its person wrote behind that. Reading further only counts.
#[utoipa::path(post, path = "/v1/sessions/{id}/seen", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session.")),
    responses((status = 204, description = "Noted, or known already.")))]
pub(crate) async fn record_session_read(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
    Json(read): Json<SessionRead>,
) -> Result<StatusCode, ApiError> {
    let (tenant, now) = (key.tenant(), key.api.clock.now());
    let session = key.api.db.read(tenant, move |tx| sessions::find_current(tx, id)).await?;
    let session = session.filter(|session| key.reaches(session.binding));
    let missing =
        || ApiError::new(ApiErrorCode::NotFound, "No such session.").hint("List them with GET /v1/sessions.");
    let session = session.ok_or_else(missing)?;
    let nobody = || {
        ApiError::new(ApiErrorCode::Conflict, "This key stands for nobody who could read.")
            .hint("Use a key of a person, or sign in.")
    };
    let person = find_colleague(&key).await?.ok_or_else(nobody)?;
    let (session, upto) = (session.id, (person, read.message));
    if !key.api.db.read(tenant, move |tx| presence::has_read(tx, session, upto)).await? {
        key.api.db.write(tenant, move |tx| presence::record_read(tx, session, upto, now)).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
