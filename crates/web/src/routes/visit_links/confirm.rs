//! `POST /visit/{place}/confirm`: a visitor says what the code is.

use axum::http::{HeaderMap, StatusCode};
use munshi_conversations::linking::ShownConsent;
use munshi_identity::codes::CodeVerification;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::phrases;
use munshi_types::tier::LanguageCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ask::{choose_voice, no_messages_error, refuse_vouched};
use crate::api::turn_errors::convert_turn_error;
use crate::routes::persons::link::build_address_linker;
use crate::visitor::page_visitor::PageVisitor;

/// The code the person entered.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitCode {
    /// Six digits, in any script.
    #[schema(max_length = 64, example = "123456")]
    code: String,
}

/// Confirm a code. A correct code assigns the address to the visitor, or merges them and their sessions into the person
/// who has it.
#[utoipa::path(post, path = "/visit/{place}/confirm", tag = "visit_links",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 204, description = "The address is verified.")))]
pub(crate) async fn confirm_visit_link(
    visitor: PageVisitor,
    headers: HeaderMap,
    Json(answer): Json<VisitCode>,
) -> Result<StatusCode, ApiError> {
    refuse_vouched(&visitor)?;
    let (_, session) = visitor.find_thread().await?.ok_or_else(no_messages_error)?;
    let tenant = visitor.binding.tenant;
    let voice = choose_voice(&visitor, &session, &headers);
    let language = voice.language.code().parse::<LanguageCode>().ok();
    let shown = phrases::render_code_consent(voice).map(|words| ShownConsent { words, language });
    let refused =
        |what: String| Err(ApiError::new(ApiErrorCode::Conflict, what).hint("Request another code."));
    match build_address_linker(&visitor.api, tenant)
        .await?
        .confirm_shown(tenant, session.id, &answer.code, shown)
        .await
        .map_err(convert_turn_error)?
    {
        CodeVerification::Right(_) => Ok(StatusCode::NO_CONTENT),
        CodeVerification::Wrong { left } => refused(format!("Wrong code; {left} tries left.")),
        CodeVerification::Expired => refused("The code has expired.".to_owned()),
        CodeVerification::Used => refused("The code was already used.".to_owned()),
        CodeVerification::TooMany => refused("Too many wrong attempts for this code.".to_owned()),
        CodeVerification::NotAsked => refused("No code was requested in this session.".to_owned()),
        CodeVerification::NoCode => {
            Err(ApiError::new(ApiErrorCode::Invalid, "`code` is invalid: it must have six digits."))
        }
    }
}
