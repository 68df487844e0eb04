//! `POST /account/keys/{id}/rotate`: another secret; the one before opens for a day longer.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_operations::execute;
use munshi_operations::keys::{RotateKey, RotateKeyInput};
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;

use super::list::{CreatedKeyNotice, render_page};
use crate::app::App;
use crate::operations::build_operator_call;

pub(crate) async fn rotate_account_key(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let who = posted.who;
    let workspace = who.load_managed_workspace().await?;
    let call = build_operator_call(api, &who, &workspace).await?;
    let input = RotateKeyInput { id, grace: None };
    let issued = execute::<RotateKey>(&call, input).await.map_err(ApiError::from)?;
    let made = CreatedKeyNotice { name: issued.key.name, text: issued.text };
    render_page(api, &who, &workspace, Some(made), None, StatusCode::OK).await
}
