//! `POST /v1/persons/{id}/confirm`: the visitor says what the code is.

use munshi_identity::codes::Answer;
use munshi_types::{PersonId, SessionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::link::{linking, own_session};
use crate::api::access::Key;
use crate::api::ask::At;
use crate::error::{ApiError, Code};
use crate::json::Json;
use crate::views::person::Person;

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
pub(crate) struct Linked {
    person: Person,
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
    responses((status = 200, description = "They have the phone.", body = Linked)))]
pub(crate) async fn confirm_person(
    key: Key,
    At(id): At<PersonId>,
    Json(answer): Json<CodeAnswer>,
) -> Result<Json<Linked>, ApiError> {
    own_session(&key, id, answer.session).await?;
    let refused = |what: String, hint: &'static str| Err(ApiError::new(Code::Conflict, what).hint(hint));
    let again = "Ask for another: POST /v1/persons/{id}/link.";
    match linking(&key.api, key.tenant()).await?.confirm(key.tenant(), answer.session, &answer.code).await? {
        Answer::Right(linked) => {
            Ok(Json(Linked { person: linked.person.into(), session: linked.session, merged: linked.merged }))
        }
        Answer::Wrong { left } => refused(
            format!("That is not the code; {left} more tries."),
            "Look at the phone, and write it again.",
        ),
        Answer::Expired => refused("The code's time is over.".to_owned(), again),
        Answer::Used => refused("The code was used already.".to_owned(), again),
        Answer::TooMany => refused("The code was answered wrong too often.".to_owned(), again),
        Answer::NotAsked => refused("No code was asked for in this conversation.".to_owned(), again),
        Answer::NoCode => Err(ApiError::new(Code::Invalid, "`code` does not fit: it has six digits.")),
    }
}
