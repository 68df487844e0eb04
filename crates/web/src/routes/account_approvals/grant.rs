//! `POST /account/approvals/{workspace}/{id}/grant`: somebody says yes to what they were shown.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_operations::approvals::{GrantApproval, GrantApprovalInput, GrantCoverage};
use munshi_operations::execute;
use munshi_server::account::form::SignedInForm;
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;

use super::approval_call::{ApprovalForm, approval_path, open_workspace};
use crate::app::App;

pub(crate) async fn grant_account_approval(
    State(app): State<App>,
    Path((workspace, id)): Path<(String, String)>,
    posted: SignedInForm<ApprovalForm>,
) -> Result<Response, HtmlPageError> {
    let (call, workspace) = open_workspace(app.api()?, &posted.who, &workspace).await?;
    let digest = Some(posted.form.digest);
    let input = GrantApprovalInput { id, digest, covers: GrantCoverage::Act, person: None };
    let answered = execute::<GrantApproval>(&call, input).await.map_err(ApiError::from)?;
    Ok(Redirect::to(&approval_path(&workspace, &answered.approval)).into_response())
}
