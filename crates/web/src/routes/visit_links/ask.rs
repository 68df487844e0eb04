//! `POST /visit/{place}/link`: a visitor wants to be known by their phone or e-mail.

use axum::http::{HeaderMap, StatusCode};
use munshi_conversations::linking::{CodeDelivery, CodeSendOutcome};
use munshi_conversations::sessions::Session;
use munshi_identity::codes::CodeText;
use munshi_lang::Locale;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::turn_errors::convert_turn_error;
use crate::routes::persons::link::{
    build_address_linker, find_code_sender, no_channel_error, parse_address, unreachable_error,
};
use crate::visitor::page_visitor::PageVisitor;

/// A phone or an e-mail to verify: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitAddress {
    #[schema(example = "+919812345678")]
    phone: Option<String>,
    #[schema(example = "meera@example.com")]
    email: Option<String>,
}

/// Send a code to a visitor's phone or e-mail to verify it. The response does not reveal whether the address is known.
#[utoipa::path(post, path = "/visit/{place}/link", tag = "visit_links",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 202, description = "The code was sent.")))]
pub(crate) async fn ask_visit_link(
    visitor: PageVisitor,
    headers: HeaderMap,
    Json(wish): Json<VisitAddress>,
) -> Result<StatusCode, ApiError> {
    // Whoever may not chat any more may not send codes to others either.
    let limits = visitor.api.limits.check_visitor(visitor.address)?.into();
    visitor.api.count_limits(visitor.binding.tenant, limits).await?;
    refuse_vouched(&visitor)?;
    let address = parse_address(wish.phone.as_deref(), wish.email.as_deref())?;
    let (_, session) = visitor.find_thread().await?.ok_or_else(no_messages_error)?;
    let tenant = visitor.binding.tenant;
    let sender = find_code_sender(&visitor.api, tenant, session.binding, address.kind()).await;
    let sender = sender.ok_or_else(|| no_channel_error(address.kind()).hint("Continue as a visitor."))?;
    let voice = choose_voice(&visitor, &session, &headers);
    let words = |code: &CodeText| {
        let said = phrases::render_code_message(code.reveal(), address.kind(), voice);
        [Some(said), phrases::render_code_consent(voice)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    let way = CodeDelivery { sender: sender.as_ref(), words: &words, language: session.language.clone() };
    match build_address_linker(&visitor.api, tenant)
        .await?
        .send_code(tenant, session.id, &address, &way)
        .await
        .map_err(convert_turn_error)?
    {
        CodeSendOutcome::Sent { .. } => Ok(StatusCode::ACCEPTED),
        CodeSendOutcome::NotSent { refused: true, .. } => Err(unreachable_error(address.kind())),
        CodeSendOutcome::NotSent { why, .. } => Err(ApiError::unavailable(why)),
        CodeSendOutcome::TooMany { again_at } => {
            let wait = again_at.since(visitor.api.clock.now());
            Err(ApiError::new(ApiErrorCode::TooManyRequests, "Too many codes were requested.")
                .retry_after(wait))
        }
    }
}

/// In which voice somebody at a page is told of a code.
pub(super) fn choose_voice(visitor: &PageVisitor, session: &Session, headers: &HeaderMap) -> Locale {
    let voice = session.language.as_ref().and_then(to_locale);
    voice.unwrap_or_else(|| phrases::choose_locale(&visitor.binding, headers))
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
