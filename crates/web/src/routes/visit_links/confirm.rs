//! `POST /visit/{place}/confirm`: a visitor says what the code is.

use axum::http::StatusCode;
use munshi_identity::codes::CodeVerification;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ask::nothing_said;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::routes::persons::link::linking;
use crate::visitor::guest::PageVisitor;

/// What they say the code is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitCode {
    /// Six digits, in any script.
    #[schema(max_length = 64, example = "123456")]
    code: String,
}

/// A visitor says what the code is. A right one makes the phone theirs, or them the person who has it, threads and all.
#[utoipa::path(post, path = "/visit/{place}/confirm", tag = "visit_links",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 204, description = "They have the phone.")))]
pub(crate) async fn confirm_visit_link(
    guest: PageVisitor,
    Json(answer): Json<VisitCode>,
) -> Result<StatusCode, ApiError> {
    let (_, session) = guest.thread().await?.ok_or_else(nothing_said)?;
    let tenant = guest.place.tenant;
    let refused =
        |what: String| Err(ApiError::new(ApiErrorCode::Conflict, what).hint("Ask for another code."));
    match linking(&guest.api, tenant).await?.confirm(tenant, session.id, &answer.code).await? {
        CodeVerification::Right(_) => Ok(StatusCode::NO_CONTENT),
        CodeVerification::Wrong { left } => refused(format!("That is not the code; {left} more tries.")),
        CodeVerification::Expired => refused("The code's time is over.".to_owned()),
        CodeVerification::Used => refused("The code was used already.".to_owned()),
        CodeVerification::TooMany => refused("The code was answered wrong too often.".to_owned()),
        CodeVerification::NotAsked => refused("No code was asked for in this conversation.".to_owned()),
        CodeVerification::NoCode => {
            Err(ApiError::new(ApiErrorCode::Invalid, "`code` does not fit: it has six digits."))
        }
    }
}
