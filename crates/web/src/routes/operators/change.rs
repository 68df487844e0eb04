//! `POST /account/operators/{id}/role`: another role in the open workspace, or none.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::{Role, RoleError};
use munshi_lang::PlaceholderValue;
use munshi_operations::execute;
use munshi_operations::operators::{GrantedRole, LAST_OWNER_MESSAGE, SetOperatorRole, SetOperatorRoleInput};
use munshi_pack::operation::OperationError;
use munshi_server::account::form::SignedInForm;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use super::list::render_page;
use crate::app::App;
use crate::operations::build_operator_call;

#[derive(Deserialize)]
pub(crate) struct ChangeOperatorForm {
    /// `none` takes it away.
    role: String,
}

pub(crate) async fn change_operator(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<ChangeOperatorForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let SignedInForm { who, form, .. } = posted;
    let workspace = who.load_managed_workspace().await?;
    let role = match form.role.as_str() {
        "none" => GrantedRole::None,
        text => Some(parse_role(text)?).into(),
    };
    let call = build_operator_call(api, &who, &workspace).await?;
    let input = SetOperatorRoleInput { id, role };
    let changed = execute::<SetOperatorRole>(&call, input).await.map_err(to_page_error)?;
    if changed.id == who.operator.id {
        return Ok(Redirect::to("/account").into_response());
    }
    let words = match changed.now {
        Some(role) => {
            let role = who.words.role_name(&role);
            let fills =
                [("name", PlaceholderValue::Text(&changed.name)), ("role", PlaceholderValue::Text(&role))];
            who.words.render_filled("role-changed", &fills)
        }
        None => who.words.render_with("role-taken", "name", &changed.name),
    };
    render_page(api, &who, &workspace, None, PageNotice::success(words), StatusCode::OK).await
}

pub(super) fn parse_role(text: &str) -> Result<Role, ApiError> {
    text.parse().map_err(|error: RoleError| ApiError::new(ApiErrorCode::Invalid, error.to_string()))
}

fn to_page_error(error: OperationError) -> ApiError {
    let is_last_owner = error.message == LAST_OWNER_MESSAGE;
    let error = ApiError::from(error);
    if is_last_owner { error.phrase("last-owner") } else { error }
}
