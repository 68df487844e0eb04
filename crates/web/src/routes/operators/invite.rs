//! `POST /account/operators`: a link that lets somebody look after the open workspace.

use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::links::{self, InvitationScope, LinkPurpose, NewOneTimeLink, OneTimeLink};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{Role, SecretToken};
use munshi_server::account::audit_context::AccountAuditContext;
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::list::{OperatorLinkNotice, render_page};

#[derive(Deserialize)]
pub(crate) struct InviteOperatorForm {
    email: String,
    role: String,
}

pub(crate) async fn invite_operator(
    posted: SignedInForm<InviteOperatorForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, form } = posted;
    let workspace = who.load_managed_workspace().await?;
    match create_invitation(&who, &workspace, &form).await {
        Ok((token, ends)) => {
            let link = who.access.build_url(&headers, &format!("/account/link/{}", token.reveal()));
            let made = OperatorLinkNotice { email: form.email.trim().to_lowercase(), link, ends };
            render_page(&who, &workspace, Some(made), None, StatusCode::CREATED).await
        }
        Err(fault) if fault.is_input_error() => {
            let status = fault.status();
            render_page(&who, &workspace, None, fault.to_notice(who.words), status).await
        }
        Err(fault) => Err(fault),
    }
}

async fn create_invitation(
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
    form: &InviteOperatorForm,
) -> Result<(SecretToken, Timestamp), HtmlPageError> {
    let unknown = |error: munshi_identity::RoleError| ApiError::new(ApiErrorCode::Invalid, error.to_string());
    let role: Role = form.role.parse().map_err(unknown)?;
    check_role_grant(workspace, role)?;
    let tenant = workspace.tenant.id;
    let place = InvitationScope::Workspace { tenant, role };
    let purpose = LinkPurpose::Invitation { email: form.email.clone(), place };
    let (access, operator) = (who.access.clone(), who.operator.id);
    let telling = AccountAuditContext::for_operator(&access, who.operator.id);
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let by = links::render_maker(operator);
        let new = NewOneTimeLink { purpose: &purpose, made_by: &by, life: access.account.invitation_life };
        let (link, token) = links::make(tx, &access.ids, access.random.as_ref(), &new, telling.now)?;
        record_link_made(tx, &telling, tenant, &link, json!({ "kind": "invitation", "role": role }))?;
        Ok((token, link.ends_at))
    };
    Ok(who.access.db.platform(OPERATORS).write(unit).await?)
}

/// Which link, never its text or whom it is for.
pub(super) fn record_link_made(
    tx: &mut PlatformTx<'_>,
    telling: &AccountAuditContext,
    tenant: munshi_types::TenantId,
    link: &OneTimeLink,
    payload: serde_json::Value,
) -> Result<(), ApiError> {
    telling.record(tx, &[tenant], "link.made", link.id.to_string(), payload)
}

/// Nobody gives more than they have.
pub(super) fn check_role_grant(workspace: &OpenWorkspace, role: Role) -> Result<(), ApiError> {
    if workspace.role <= role {
        return Ok(());
    }
    Err(ApiError::new(
        ApiErrorCode::Forbidden,
        format!("An {} can't assign the role {role}.", workspace.role),
    )
    .hint("Ask an owner of the workspace."))
}
