//! `POST /visit/{place}/link`: a visitor wants to be known by their phone.

use axum::http::{HeaderMap, StatusCode};
use munshi_agent::linking::{CodeDelivery, CodeSendOutcome as Came};
use munshi_identity::codes::CodeText;
use munshi_types::tier::Channel;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::routes::persons::link::linking;
use crate::visitor::guest::PageVisitor;
use crate::visitor::heard::voice_of;
use crate::visitor::words;

/// A phone to be proved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitPhone {
    #[schema(example = "+919812345678")]
    phone: String,
}

/// A visitor wants to be known by their phone: a code goes there. The answer is the same whether the phone is known or not.
#[utoipa::path(post, path = "/visit/{place}/link", tag = "visit_links",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 202, description = "A code is on its way.")))]
pub(crate) async fn ask_visit_link(
    guest: PageVisitor,
    headers: HeaderMap,
    Json(wish): Json<VisitPhone>,
) -> Result<StatusCode, ApiError> {
    // Whoever may not chat any more may not send codes to others' phones either.
    let limits = guest.api.limits.visitor(guest.address)?.into();
    guest.api.count_limits(guest.place.tenant, limits).await?;
    let (_, session) = guest.thread().await?.ok_or_else(nothing_said)?;
    let sender = guest.api.senders.iter().find(|sender| sender.channel() == Channel::Whatsapp);
    let sender = sender.map(AsRef::as_ref).ok_or_else(|| {
        ApiError::new(ApiErrorCode::Conflict, "No channel that reaches a phone is set up here.")
            .hint("Go on as a visitor.")
    })?;
    let voice = session.language.as_ref().and_then(voice_of);
    let voice = voice.unwrap_or_else(|| words::greeting(&guest.place, &headers));
    let words = |code: &CodeText| words::code(code.reveal(), voice);
    let way = CodeDelivery { sender, words: &words, language: session.language.clone() };
    let tenant = guest.place.tenant;
    match linking(&guest.api, tenant).await?.ask(tenant, session.id, &wish.phone, &way).await? {
        Came::Sent { .. } => Ok(StatusCode::ACCEPTED),
        Came::NotSent { why } => Err(ApiError::unavailable(why)),
        Came::TooMany { again_at } => {
            let wait = again_at.since(guest.api.clock.now());
            Err(ApiError::new(ApiErrorCode::TooManyRequests, "Too many codes were asked for.")
                .retry_after(wait))
        }
    }
}

pub(crate) fn nothing_said() -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, "Nothing was said here yet.").hint("Send a message first.")
}
