//! `POST /visit/{place}/seen`: how far somebody has read their own thread.

use axum::http::StatusCode;
use munshi_conversations::presence;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_types::MessageId;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::visitor::page_visitor::PageVisitor;

/// The newest message that was read.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitRead {
    #[schema(value_type = uuid::Uuid)]
    message: MessageId,
}

/// Say how far one's own session was read, so that other devices of the visitor know. Reading further only counts.
#[utoipa::path(post, path = "/visit/{place}/seen", tag = "visits",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli")),
    responses((status = 204, description = "Noted, or known already.")))]
pub(crate) async fn record_visit_read(
    visitor: PageVisitor,
    Json(read): Json<VisitRead>,
) -> Result<StatusCode, ApiError> {
    let Some((person, session)) = visitor.find_thread().await? else { return Ok(StatusCode::NO_CONTENT) };
    let (tenant, now) = (visitor.binding.tenant, visitor.api.clock.now());
    visitor.api.limits.check_sign(tenant, person.id)?;
    // Whoever may write is held up by nobody who says the same again.
    let (session, upto) = (session.id, (person.id, read.message));
    if visitor.api.db.read(tenant, move |tx| presence::has_read(tx, session, upto)).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    visitor.api.db.write(tenant, move |tx| presence::record_read(tx, session, upto, now)).await?;
    Ok(StatusCode::NO_CONTENT)
}
