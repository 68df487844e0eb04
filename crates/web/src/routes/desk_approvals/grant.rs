//! `POST /account/desk/{id}/approvals/{approval}/grant`: a colleague says yes to what is asked in a conversation.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_operations::approvals::{GrantApproval, GrantApprovalInput, GrantCoverage};
use munshi_operations::execute;
use munshi_server::account::form::SignedInForm;
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use crate::app::App;
use crate::routes::desk_sessions::desk_call::{open_desk, parse_session, session_path};

/// What stood before them as they answered.
#[derive(Deserialize)]
pub(crate) struct DeskAnswerForm {
    pub(super) digest: String,
}

pub(crate) async fn grant_desk_approval(
    State(app): State<App>,
    Path((id, approval)): Path<(String, String)>,
    posted: SignedInForm<DeskAnswerForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let call = open_desk(app.api()?, &who).await?;
    let session = parse_session(&id)?;
    let input = GrantApprovalInput {
        id: approval,
        digest: Some(form.digest),
        covers: GrantCoverage::Act,
        person: None,
    };
    execute::<GrantApproval>(&call, input).await.map_err(ApiError::from)?;
    Ok(Redirect::to(&session_path(session)).into_response())
}
