//! `POST /account/operators/{id}/link`: a link with which somebody chooses another password.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{OPERATORS, Operator, roles};
use munshi_server::account::audit_context::AccountAuditContext;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use serde_json::json;

use super::change::load_managed_operator;
use super::invite::record_link_made;
use super::list::{OperatorLinkNotice, render_page};

pub(crate) async fn recover_operator(
    Path(id): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, .. } = posted;
    let workspace = who.load_managed_workspace().await?;
    let (access, own, inside) = (who.access.clone(), who.operator.clone(), workspace.clone());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let (operator, _) = load_managed_operator(tx, &inside, &id)?;
        require_governs(tx, &own, &operator)?;
        let telling = AccountAuditContext::for_operator(&access, own.id);
        let purpose = LinkPurpose::Recovery { operator: operator.id };
        let by = links::render_maker(own.id);
        let new = NewOneTimeLink { purpose: &purpose, made_by: &by, life: links::LIFE };
        let (link, token) = links::make(tx, &access.ids, access.random.as_ref(), &new, telling.now)?;
        let payload = json!({ "kind": "recovery", "operator": operator.id });
        record_link_made(tx, &telling, inside.tenant.id, &link, payload)?;
        Ok((operator.email, token, link.ends_at))
    };
    let (email, token, ends) = who.access.db.platform(OPERATORS).write(unit).await?;
    let link = who.access.build_url(&headers, &format!("/account/link/{}", token.reveal()));
    render_page(&who, &workspace, Some(OperatorLinkNotice { email, link, ends }), None, StatusCode::CREATED)
        .await
}

/// Whoever gets the link gets the whole account: so every role it has must be one that whoever asks could give.
fn require_governs(tx: &mut PlatformTx<'_>, own: &Operator, other: &Operator) -> Result<(), ApiError> {
    if governs(tx, own, other)? {
        return Ok(());
    }
    Err(ApiError::new(ApiErrorCode::Forbidden, format!("{} has access to more than you do.", other.name))
        .hint("Whoever runs this server can create the link with `munshi operator link`."))
}

pub(crate) fn governs(tx: &mut PlatformTx<'_>, own: &Operator, other: &Operator) -> Result<bool, ApiError> {
    if own.keeper || other.keeper {
        return Ok(own.keeper);
    }
    let others = roles::list(tx, other.id)?;
    for (tenant, role) in &others {
        let mine = roles::find_granted(tx, own.id, *tenant)?;
        if !mine.is_some_and(|mine| mine <= *role && mine <= munshi_identity::Role::Admin) {
            return Ok(false);
        }
    }
    // Who is nowhere any more is nobody's to let in.
    Ok(!others.is_empty())
}
