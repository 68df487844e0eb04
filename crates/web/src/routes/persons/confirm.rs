//! `POST /v1/persons/{id}/confirm`: the visitor says what the code is.

use munshi_identity::codes::CodeVerification;
use munshi_operations::persons::PersonView;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::{PersonId, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::link::{build_address_linker, check_session};
use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;

/// The code the person entered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeAnswer {
    /// The session that requested the code.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    /// Six digits, in any script.
    #[schema(max_length = 64, example = "123456")]
    code: String,
}

/// The person after verification.
#[derive(Serialize, ToSchema)]
#[schema(as = Linked)]
pub(crate) struct ConfirmCodeResponse {
    person: PersonView,
    /// The session to continue in.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    /// The visitor's previous id, now an alias of the person.
    #[schema(value_type = Option<uuid::Uuid>)]
    merged: Option<PersonId>,
}

/// Confirm a code. A correct code assigns the address to the visitor, or merges them and their sessions into the person
/// who has it.
#[utoipa::path(post, path = "/v1/persons/{id}/confirm", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The visitor.")),
    responses((status = 200, description = "The address is verified.", body = ConfirmCodeResponse)))]
pub(crate) async fn confirm_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
    Json(answer): Json<CodeAnswer>,
) -> Result<Json<ConfirmCodeResponse>, ApiError> {
    check_session(&key, id, answer.session).await?;
    let refused =
        |what: String, hint: &'static str| Err(ApiError::new(ApiErrorCode::Conflict, what).hint(hint));
    let again = "Request another code with POST /v1/persons/{id}/link.";
    match build_address_linker(&key.api, key.tenant())
        .await?
        .confirm(key.tenant(), answer.session, &answer.code)
        .await
        .map_err(convert_turn_error)?
    {
        CodeVerification::Right(linked) => {
            let person = linked.person;
            let person = key.api.db.read(key.tenant(), move |tx| PersonView::load(tx, person)).await?;
            Ok(Json(ConfirmCodeResponse { person, session: linked.session, merged: linked.merged }))
        }
        CodeVerification::Wrong { left } => {
            refused(format!("Wrong code; {left} tries left."), "Check the phone and enter it again.")
        }
        CodeVerification::Expired => refused("The code has expired.".to_owned(), again),
        CodeVerification::Used => refused("The code was already used.".to_owned(), again),
        CodeVerification::TooMany => refused("Too many wrong attempts for this code.".to_owned(), again),
        CodeVerification::NotAsked => refused("No code was requested in this session.".to_owned(), again),
        CodeVerification::NoCode => {
            Err(ApiError::new(ApiErrorCode::Invalid, "`code` is invalid: it must have six digits."))
        }
    }
}
