//! `POST /account/workspace`: which tenant's pages are open in this browser.

use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins;
use munshi_server::account::form::SignedInForm;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::local_path;
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct OpenWorkspaceForm {
    workspace: String,
    next: Option<String>,
}

pub(crate) async fn open_workspace(
    posted: SignedInForm<OpenWorkspaceForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let all = who.list_workspaces().await?;
    let found = all.into_iter().find(|one| one.tenant.name.as_str() == form.workspace);
    let missing =
        || ApiError::new(ApiErrorCode::NotFound, "You have no role in this workspace, or it does not exist.");
    let (tenant, id) = (found.ok_or_else(missing)?.tenant.id, who.sign_in.id);
    who.access.db.platform(OPERATORS).write(move |tx| sign_ins::set_workspace(tx, id, tenant)).await?;
    Ok(Redirect::to(local_path::sanitize(form.next.as_deref())).into_response())
}
