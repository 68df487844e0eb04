//! `POST /account/keys/{id}/revoke`

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_operations::execute;
use munshi_operations::keys::{KeyInput, RevokeKey};
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;

use super::list::render_page;
use crate::app::App;
use crate::operations::build_operator_call;

pub(crate) async fn revoke_account_key(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let call = build_operator_call(api, &who, &workspace).await?;
    let revoked = execute::<RevokeKey>(&call, KeyInput { id }).await.map_err(ApiError::from)?;
    let told = PageNotice::success(who.words.render_with("key-revoked", "name", &revoked.key.name));
    render_page(api, &who, &workspace, None, told, StatusCode::OK).await
}
