//! `POST /account/invitations/{id}/withdraw`: the link is good for nothing.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::OPERATORS;
use munshi_server::account::audit_context::AccountAuditContext;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::LinkId;
use serde_json::json;

use super::list::render_page;

pub(crate) async fn withdraw_invitation(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No such open invitation.");
    let id: LinkId = id.parse().map_err(|_| missing())?;
    let (telling, tenant) =
        (AccountAuditContext::for_operator(&who.access, who.operator.id), workspace.tenant.id);
    let own = workspace.role;
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<(), ApiError> {
        let open = links::list_invitations(tx, tenant, telling.now)?;
        let found = open.into_iter().find(|link| link.id == id).ok_or_else(missing)?;
        if matches!(found.purpose, LinkPurpose::Invitation { place: InvitationScope::Workspace { role, .. }, .. } if role < own)
        {
            return Err(ApiError::new(
                ApiErrorCode::Forbidden,
                "That invitation grants more access than you have.",
            )
            .hint("Ask an owner of the workspace."));
        }
        if !links::withdraw(tx, tenant, id, telling.now)? {
            return Err(missing());
        }
        telling.record(tx, &[tenant], "link.withdrawn", id.to_string(), json!({}))
    };
    who.access.db.platform(OPERATORS).write(unit).await?;
    render_page(&who, &workspace, None, PageNotice::success(who.words.render("taken-back")), StatusCode::OK)
        .await
}
