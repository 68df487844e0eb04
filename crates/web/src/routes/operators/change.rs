//! `POST /account/operators/{id}/role`: another role in the open workspace, or none.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::Role;
use munshi_identity::operators::{self, OPERATORS, Operator, roles};
use munshi_lang::PlaceholderValue;
use munshi_server::account::audit_context::AccountAuditContext;
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::OpenWorkspace;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::{KeyId, TenantId};
use serde::Deserialize;
use serde_json::json;

use super::invite::check_role_grant;
use super::list::render_page;

#[derive(Deserialize)]
pub(crate) struct ChangeOperatorForm {
    /// `none` takes it away.
    role: String,
}

pub(crate) async fn change_operator(
    Path(id): Path<String>,
    posted: SignedInForm<ChangeOperatorForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let workspace = who.load_managed_workspace().await?;
    let role: Option<Role> = match form.role.as_str() {
        "none" => None,
        text => Some(text.parse().map_err(|error: munshi_identity::RoleError| {
            ApiError::new(ApiErrorCode::Invalid, error.to_string())
        })?),
    };
    if let Some(role) = role {
        check_role_grant(&workspace, role)?;
    }
    let (telling, inside) =
        (AccountAuditContext::for_operator(&who.access, who.operator.id), workspace.clone());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<(Operator, Vec<KeyId>), ApiError> {
        let (operator, before) = load_managed_operator(tx, &inside, &id)?;
        let tenant = inside.tenant.id;
        if before == Role::Owner && role != Some(Role::Owner) {
            require_other_owner(tx, tenant)?;
        }
        let change = match role {
            Some(role) => roles::grant(tx, operator.id, tenant, role, telling.now)?,
            None => roles::revoke(tx, operator.id, tenant, telling.now)?,
        };
        let payload = json!({ "before": before, "now": role });
        telling.record(tx, &[tenant], "operator.role_changed", operator.id.to_string(), payload)?;
        telling.record_revoked_keys(tx, tenant, &change.revoked)?;
        Ok((operator, change.revoked.iter().map(|key| key.id).collect()))
    };
    let (operator, revoked) = who.access.db.platform(OPERATORS).write(unit).await?;
    who.access.keys.invalidate(&revoked);
    if operator.id == who.operator.id {
        return Ok(Redirect::to("/account").into_response());
    }
    let words = match role {
        Some(role) => {
            let role = who.words.role_name(&role);
            let fills =
                [("name", PlaceholderValue::Text(&operator.name)), ("role", PlaceholderValue::Text(&role))];
            who.words.render_filled("role-changed", &fills)
        }
        None => who.words.render_with("role-taken", "name", &operator.name),
    };
    render_page(&who, &workspace, None, PageNotice::success(words), StatusCode::OK).await
}

/// Somebody of this workspace who stands no higher than whoever asks.
pub(super) fn load_managed_operator(
    tx: &mut PlatformTx<'_>,
    workspace: &OpenWorkspace,
    id: &str,
) -> Result<(Operator, Role), ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "No account with that id in this workspace.");
    let id = id.parse().map_err(|_| missing())?;
    let operator = operators::find(tx, id)?.ok_or_else(missing)?;
    let role = roles::find_granted(tx, id, workspace.tenant.id)?.ok_or_else(missing)?;
    if role < workspace.role {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            format!("{} has a higher role than yours.", operator.name),
        )
        .hint("Ask an owner of the workspace."));
    }
    Ok((operator, role))
}

/// Without an owner nobody could give the role again but whoever has the machine.
fn require_other_owner(tx: &mut PlatformTx<'_>, tenant: TenantId) -> Result<(), ApiError> {
    if roles::lock_owners(tx, tenant)? > 1 {
        return Ok(());
    }
    Err(ApiError::new(ApiErrorCode::Conflict, "This is the only owner of the workspace.")
        .hint("Make another person an owner first.")
        .phrase("last-owner"))
}
