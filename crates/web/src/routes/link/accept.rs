//! `POST /account/link/{token}/accept`: somebody who has an account takes an invitation.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::sign_ins;
use munshi_server::account::browser_sign_in::redirect_with_token;
use munshi_server::account::form::{EmptyForm, SignedInForm};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;

use super::redeem::{apply_invitation, record_link_used};
use super::show::find_valid_link;

pub(crate) async fn accept_link(
    Path(text): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, .. } = posted;
    let gone =
        || ApiError::new(ApiErrorCode::Conflict, "This link was used or has expired.").phrase("link-used");
    let token = SecretToken::parse(&text).ok_or_else(gone)?;
    let (access, operator, id) = (who.access.clone(), who.operator.clone(), who.sign_in.id);
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let opened = find_valid_link(tx, &token, &access)?.ok_or_else(gone)?;
        let LinkPurpose::Invitation { email, place } = opened.link.purpose else { return Err(gone()) };
        if email != operator.email {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "This invitation is for another account."));
        }
        if !links::redeem(tx, opened.link.id, access.clock.now())? {
            return Err(gone());
        }
        // What this browser is good for changes: it gets another token, and stays signed in.
        let token = sign_ins::rotate(tx, id, access.random.as_ref())?;
        match place {
            InvitationScope::Everywhere => operators::make_keeper(tx, operator.id)?,
            InvitationScope::Workspace { .. } => apply_invitation(tx, &access, &operator, place)?,
        }
        record_link_used(tx, &access, &operator, opened.link.id)?;
        Ok(token)
    };
    let token = who.access.db.platform(OPERATORS).write(unit).await?;
    Ok(match token {
        Some(token) => redirect_with_token(&who.access, &headers, &token, "/account"),
        None => Redirect::to("/account/sign-in").into_response(),
    })
}
