//! `POST /visit/{place}/link`: a visitor wants to be known by their phone.

use axum::http::{HeaderMap, StatusCode};
use munshi_conversations::linking::{CodeDelivery, CodeSendOutcome};
use munshi_identity::codes::CodeText;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use munshi_types::tier::Channel;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::turn_errors::convert_turn_error;
use crate::routes::persons::link::build_phone_linker;
use crate::visitor::page_visitor::PageVisitor;

/// A phone to verify.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitPhone {
    #[schema(example = "+919812345678")]
    phone: String,
}

/// Send a code to a visitor's phone to verify it. The response does not reveal whether the phone is known.
#[utoipa::path(post, path = "/visit/{place}/link", tag = "visit_links",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 202, description = "The code was sent.")))]
pub(crate) async fn ask_visit_link(
    visitor: PageVisitor,
    headers: HeaderMap,
    Json(wish): Json<VisitPhone>,
) -> Result<StatusCode, ApiError> {
    // Whoever may not chat any more may not send codes to others' phones either.
    let limits = visitor.api.limits.check_visitor(visitor.address)?.into();
    visitor.api.count_limits(visitor.binding.tenant, limits).await?;
    refuse_vouched(&visitor)?;
    let (_, session) = visitor.find_thread().await?.ok_or_else(no_messages_error)?;
    let sender = visitor.api.senders.iter().find(|sender| sender.channel() == Channel::Whatsapp);
    let sender = sender.map(AsRef::as_ref).ok_or_else(|| {
        ApiError::new(ApiErrorCode::Conflict, "No channel that can reach a phone is set up here.")
            .hint("Continue as a visitor.")
    })?;
    let voice = session.language.as_ref().and_then(to_locale);
    let voice = voice.unwrap_or_else(|| phrases::choose_locale(&visitor.binding, &headers));
    let words = |code: &CodeText| phrases::render_code_message(code.reveal(), voice);
    let way = CodeDelivery { sender, words: &words, language: session.language.clone() };
    let tenant = visitor.binding.tenant;
    match build_phone_linker(&visitor.api, tenant)
        .await?
        .send_code(tenant, session.id, &wish.phone, &way)
        .await
        .map_err(convert_turn_error)?
    {
        CodeSendOutcome::Sent { .. } => Ok(StatusCode::ACCEPTED),
        CodeSendOutcome::NotSent { why } => Err(ApiError::unavailable(why)),
        CodeSendOutcome::TooMany { again_at } => {
            let wait = again_at.since(visitor.api.clock.now());
            Err(ApiError::new(ApiErrorCode::TooManyRequests, "Too many codes were requested.")
                .retry_after(wait))
        }
    }
}

pub(crate) fn no_messages_error() -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, "This session has no messages yet.").hint("Send a message first.")
}

/// Whoever holds the host's key says who this is: a phone of theirs would speak as that person afterwards.
pub(crate) fn refuse_vouched(visitor: &PageVisitor) -> Result<(), ApiError> {
    if !visitor.proved.is_vouched() {
        return Ok(());
    }
    let what = "A host says who this visitor is, so no phone can be verified here.";
    Err(ApiError::new(ApiErrorCode::Conflict, what).hint("Open the chat page itself to verify a phone."))
}
