//! `POST /account/invitations/{id}/withdraw`: the link is good for nothing.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_operations::execute;
use munshi_operations::invitations::{InvitationInput, WithdrawInvitation};
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;

use super::list::render_page;
use crate::app::App;
use crate::operations::build_operator_call;

pub(crate) async fn withdraw_invitation(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let call = build_operator_call(api, &who, &workspace).await?;
    execute::<WithdrawInvitation>(&call, InvitationInput { id }).await.map_err(ApiError::from)?;
    let told = PageNotice::success(who.words.render("taken-back"));
    render_page(api, &who, &workspace, None, told, StatusCode::OK).await
}
