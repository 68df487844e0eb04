//! `POST /v1/persons/{id}/confirm`: the visitor says what the code is.

use munshi_identity::codes::CodeVerification;
use munshi_types::{PersonId, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::link::{linking, own_session};
use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::person::PersonView;

/// What they say the code is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeAnswer {
    /// The conversation in which it was asked for.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    /// Six digits, in any script.
    #[schema(max_length = 64, example = "123456")]
    code: String,
}

/// Who they turned out to be.
#[derive(Serialize, ToSchema)]
#[schema(as = Linked)]
pub(crate) struct ConfirmCodeResponse {
    person: PersonView,
    /// Where the conversation goes on.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    /// The old id, which leads to the person from now on.
    #[schema(value_type = Option<uuid::Uuid>)]
    merged: Option<PersonId>,
}

/// The visitor says what the code is. A right one makes the phone theirs, or them the person who has it, threads and
/// all.
#[utoipa::path(post, path = "/v1/persons/{id}/confirm", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The visitor.")),
    responses((status = 200, description = "They have the phone.", body = ConfirmCodeResponse)))]
pub(crate) async fn confirm_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
    Json(answer): Json<CodeAnswer>,
) -> Result<Json<ConfirmCodeResponse>, ApiError> {
    own_session(&key, id, answer.session).await?;
    let refused =
        |what: String, hint: &'static str| Err(ApiError::new(ApiErrorCode::Conflict, what).hint(hint));
    let again = "Ask for another: POST /v1/persons/{id}/link.";
    match linking(&key.api, key.tenant()).await?.confirm(key.tenant(), answer.session, &answer.code).await? {
        CodeVerification::Right(linked) => Ok(Json(ConfirmCodeResponse {
            person: linked.person.into(),
            session: linked.session,
            merged: linked.merged,
        })),
        CodeVerification::Wrong { left } => refused(
            format!("That is not the code; {left} more tries."),
            "Look at the phone, and write it again.",
        ),
        CodeVerification::Expired => refused("The code's time is over.".to_owned(), again),
        CodeVerification::Used => refused("The code was used already.".to_owned(), again),
        CodeVerification::TooMany => refused("The code was answered wrong too often.".to_owned(), again),
        CodeVerification::NotAsked => {
            refused("No code was asked for in this conversation.".to_owned(), again)
        }
        CodeVerification::NoCode => {
            Err(ApiError::new(ApiErrorCode::Invalid, "`code` does not fit: it has six digits."))
        }
    }
}
