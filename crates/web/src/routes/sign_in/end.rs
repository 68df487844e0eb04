//! `POST /account/sign-out`: this browser is nobody's again.

use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::operators::OPERATORS;
use munshi_identity::{persons, sign_ins};
use munshi_server::account::audit_context::{AccountAuditContext, list_affected_tenants};
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::cookies::{self, SIGN_IN};
use munshi_server::error::ApiError;
use munshi_server::page_error::HtmlPageError;
use munshi_server::visitor::token::VisitorToken;
use munshi_store::{PlatformTx, Tx};
use serde_json::json;

pub(crate) async fn end_sign_in(posted: SignedInForm<EmptyForm>) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, .. } = posted;
    let (telling, operator, id) = (
        AccountAuditContext::for_operator(&who.access, who.operator.id),
        who.operator.clone(),
        who.sign_in.id,
    );
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<(), ApiError> {
        if sign_ins::end(tx, operator.id, id)? {
            let tenants = list_affected_tenants(tx, &operator)?;
            telling.record(tx, &tenants, "sign_in.ended", id.to_string(), json!({}))?;
        }
        Ok(())
    };
    who.access.db.platform(OPERATORS).write(unit).await?;
    let line = who.access.account.connection_security(&headers);
    if let Some(token) = VisitorToken::from_cookie(&headers, line) {
        revoke_visitor_token(&who, &token).await?;
    }
    let mut response = Redirect::to("/account/sign-in").into_response();
    if let Some(header) = cookies::build_expired(SIGN_IN, who.access.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    response.headers_mut().extend(VisitorToken::expired_cookie(line).map(|header| (SET_COOKIE, header)));
    Ok(response)
}

/// Somebody who opened the business in this browser was known by its visitor's token, with a role: it opens nothing more,
/// wherever it was copied to.
async fn revoke_visitor_token(who: &SignedInOperator, token: &VisitorToken) -> Result<(), ApiError> {
    let address = token.address().map_err(ApiError::internal)?;
    for workspace in who.list_workspaces().await? {
        let address = address.clone();
        let unit = move |tx: &mut Tx<'_>| -> Result<(), ApiError> {
            match persons::find_by_address(tx, &address)? {
                Some(person) if person.role.is_some() => {
                    Ok(persons::remove_address(tx, person.id, &address)?)
                }
                _ => Ok(()),
            }
        };
        who.access.db.write(workspace.tenant.id, unit).await?;
    }
    Ok(())
}
