//! `POST /account/operators`: a link that lets somebody look after the open workspace.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_operations::execute;
use munshi_operations::invitations::{InviteOperator, InviteOperatorInput};
use munshi_operations::operators::OneTimeLinkView;
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;
use serde::Deserialize;

use super::change::parse_role;
use super::list::{OperatorLinkNotice, render_page};
use crate::app::App;
use crate::app::api::Api;
use crate::operations::build_operator_call;

#[derive(Deserialize)]
pub(crate) struct InviteOperatorForm {
    email: String,
    role: String,
    /// Pressed where they want to pass the link on themselves.
    #[serde(default)]
    show: Option<bool>,
}

pub(crate) async fn invite_operator(
    State(app): State<App>,
    posted: SignedInForm<InviteOperatorForm>,
) -> Result<Response, HtmlPageError> {
    let api = app.api()?;
    let SignedInForm { who, headers, form } = posted;
    let workspace = who.load_managed_workspace().await?;
    match create_invitation(api, &who, &workspace, form).await {
        Ok(link) => {
            let made = OperatorLinkNotice::new(&who, &headers, link);
            render_page(api, &who, &workspace, Some(made), None, StatusCode::CREATED).await
        }
        Err(fault) if fault.is_input_error() => {
            let status = fault.status();
            render_page(api, &who, &workspace, None, fault.to_notice(who.words), status).await
        }
        Err(fault) => Err(fault),
    }
}

async fn create_invitation(
    api: &Api,
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    form: InviteOperatorForm,
) -> Result<OneTimeLinkView, HtmlPageError> {
    let input = InviteOperatorInput { role: parse_role(&form.role)?, email: form.email, show: form.show };
    let call = build_operator_call(api, who, workspace).await?;
    Ok(execute::<InviteOperator>(&call, input).await.map_err(ApiError::from)?)
}
