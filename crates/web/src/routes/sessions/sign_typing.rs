//! `POST /v1/sessions/{id}/typing`: a colleague types.

use axum::http::StatusCode;
use munshi_conversations::sessions;
use munshi_identity::persons;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::parameters::UrlPathParameter;
use munshi_store::Tx;
use munshi_types::{PersonId, SessionId};

use crate::api::access::AuthorizedCaller;
use crate::live::typing::sign_typing;

/// Show a session's person that whoever has taken it over types. Send it at most every 3 seconds while they do: it holds for 6.
/// Who only looks on, or whispers to the agent, is shown to nobody.
#[utoipa::path(post, path = "/v1/sessions/{id}/typing", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session.")),
    responses((status = 204, description = "Shown, or the session is in another hand.")))]
pub(crate) async fn sign_session_typing(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<SessionId>,
) -> Result<StatusCode, ApiError> {
    let session = key.api.db.read(key.tenant(), move |tx| sessions::find_current(tx, id)).await?;
    let session = session.filter(|session| key.reaches(session.binding));
    let missing =
        || ApiError::new(ApiErrorCode::NotFound, "No such session.").hint("List them with GET /v1/sessions.");
    let session = session.ok_or_else(missing)?;
    let nobody = || {
        ApiError::new(ApiErrorCode::Conflict, "This key stands for nobody who could type.")
            .hint("Use a key of a person, or sign in.")
    };
    if key.caller.principal.person.is_none() && key.caller.operator.is_none() {
        return Err(nobody());
    }
    let Some(person) = find_colleague(&key).await? else { return Ok(StatusCode::NO_CONTENT) };
    if session.hold.is_some_and(|hold| hold.by == person) {
        sign_typing(&key.api, key.tenant(), (session.id, person)).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The person of the tenant who calls; none for an operator who has never been one here, and so holds nothing.
pub(super) async fn find_colleague(key: &AuthorizedCaller) -> Result<Option<PersonId>, ApiError> {
    let caller = key.caller.clone();
    if caller.principal.person.is_some() {
        return Ok(caller.principal.person);
    }
    let (Some(operator), Some(role)) = (caller.operator, key.role()) else { return Ok(None) };
    // A sign-in is named by its e-mail.
    let find = move |tx: &mut Tx<'_>| persons::find_operator(tx, (operator, caller.key_name.as_str()), role);
    Ok(key.api.db.read(key.tenant(), find).await?.map(|person| person.id))
}
