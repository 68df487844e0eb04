//! `POST /account/desk/{id}/approvals/{approval}/refuse`: a colleague says no to what is asked in a conversation.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_operations::approvals::{RefuseApproval, RefuseApprovalInput};
use munshi_operations::execute;
use munshi_server::account::form::SignedInForm;
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;

use super::grant::DeskAnswerForm;
use crate::app::App;
use crate::routes::desk_sessions::desk_call::{open_desk, parse_session, session_path};

pub(crate) async fn refuse_desk_approval(
    State(app): State<App>,
    Path((id, approval)): Path<(String, String)>,
    posted: SignedInForm<DeskAnswerForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let call = open_desk(app.api()?, &who).await?;
    let session = parse_session(&id)?;
    let input = RefuseApprovalInput { id: approval, digest: Some(form.digest), person: None };
    execute::<RefuseApproval>(&call, input).await.map_err(ApiError::from)?;
    Ok(Redirect::to(&session_path(session)).into_response())
}
