//! `POST /visit/{place}/typing`: a visitor types, and whoever talks to them sees it.

use axum::http::StatusCode;
use munshi_server::error::ApiError;

use crate::live::typing::sign_typing;
use crate::visitor::page_visitor::PageVisitor;

/// Show whoever of the business talks to the visitor that they type. Send it at most every 3 seconds while they do, and only
/// where the place says `shows_typing`: it holds for 6.
#[utoipa::path(post, path = "/visit/{place}/typing", tag = "visits",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli")),
    responses((status = 204, description = "Shown, or nobody would see it.")))]
pub(crate) async fn sign_visit_typing(visitor: PageVisitor) -> Result<StatusCode, ApiError> {
    let found = visitor.find_thread().await?;
    // Nobody else sees it: then it is not worth writing down.
    let Some((person, session)) = found.filter(|(_, session)| session.hold.is_some()) else {
        return Ok(StatusCode::NO_CONTENT);
    };
    let tenant = visitor.binding.tenant;
    visitor.api.limits.check_sign(tenant, person.id)?;
    sign_typing(&visitor.api, tenant, (session.id, person.id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
