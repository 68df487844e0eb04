//! `POST /account/operators/{id}/link`: a link with which somebody chooses another password.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use munshi_operations::execute;
use munshi_operations::operators::{LinkOperator, LinkOperatorInput};
use munshi_server::account::form::SignedInForm;
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use super::list::{OperatorLinkNotice, render_page};
use crate::app::App;
use crate::operations::build_operator_call;

#[derive(Deserialize)]
pub(crate) struct RecoverOperatorForm {
    /// Pressed where they want to pass the link on themselves.
    #[serde(default)]
    show: Option<bool>,
}

pub(crate) async fn recover_operator(
    State(app): State<App>,
    Path(id): Path<String>,
    posted: SignedInForm<RecoverOperatorForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let SignedInForm { who, headers, form } = posted;
    let workspace = who.load_managed_workspace().await?;
    let call = build_operator_call(api, &who, &workspace).await?;
    let input = LinkOperatorInput { id, show: form.show };
    let link = execute::<LinkOperator>(&call, input).await.map_err(ApiError::from)?;
    let made = OperatorLinkNotice::new(&who, &headers, link);
    render_page(api, &who, &workspace, Some(made), None, StatusCode::CREATED).await
}
