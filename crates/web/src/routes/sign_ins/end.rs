//! `POST /account/sign-ins/end`: signs out one browser, or all the others.

use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins;
use munshi_server::account::audit_context::{AccountAuditContext, list_affected_tenants};
use munshi_server::account::form::SignedInForm;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::SignInId;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(crate) struct EndSignInsForm {
    /// Without it, all but this browser.
    id: Option<String>,
}

pub(crate) async fn end_sign_ins(posted: SignedInForm<EndSignInsForm>) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, form, .. } = posted;
    let missing = |_| ApiError::new(ApiErrorCode::NotFound, "No such sign-in of yours.");
    let one: Option<SignInId> = form.id.map(|id| id.parse()).transpose().map_err(missing)?;
    let (telling, operator, own) = (
        AccountAuditContext::for_operator(&who.access, who.operator.id),
        who.operator.clone(),
        who.sign_in.id,
    );
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<(), ApiError> {
        let ended = match one {
            Some(id) => u64::from(sign_ins::end(tx, operator.id, id)?),
            None => sign_ins::end_others(tx, operator.id, own)?,
        };
        if ended > 0 {
            let subject = one.map_or_else(|| "all others".to_owned(), |id| id.to_string());
            let tenants = list_affected_tenants(tx, &operator)?;
            telling.record(tx, &tenants, "sign_in.ended", subject, json!({ "sign_ins_ended": ended }))?;
        }
        Ok(())
    };
    who.access.db.platform(OPERATORS).write(unit).await?;
    Ok(Redirect::to("/account/sign-ins").into_response())
}
