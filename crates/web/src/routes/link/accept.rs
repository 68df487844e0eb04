//! `POST /account/link/{token}/accept`: somebody who has an account takes an invitation.

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use munshi_identity::links::{self, InvitationScope, LinkPurpose};
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::sign_ins;
use munshi_store::PlatformTx;

use super::show::open;
use super::use_up::{accept, tell_used};
use crate::account::come_in::renewed;
use crate::account::fault::HtmlPageError;
use crate::account::form::{EmptyForm, SignedInForm};
use crate::error::{ApiError, ApiErrorCode};

pub(crate) async fn accept_link(
    Path(text): Path<String>,
    posted: SignedInForm<EmptyForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, .. } = posted;
    let gone = || {
        ApiError::new(ApiErrorCode::Conflict, "This link was used, or its time is over.").phrase("link-used")
    };
    let token = SecretToken::parse(&text).ok_or_else(gone)?;
    let (api, operator, id) = (who.api.clone(), who.operator.clone(), who.sign_in.id);
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let opened = open(tx, &token, &api)?.ok_or_else(gone)?;
        let LinkPurpose::Invitation { email, place } = opened.link.purpose else { return Err(gone()) };
        if email != operator.email {
            return Err(ApiError::new(ApiErrorCode::Forbidden, "This invitation is for another account."));
        }
        if !links::use_up(tx, opened.link.id, api.clock.now())? {
            return Err(gone());
        }
        // What this browser is good for changes: it gets another token, and stays signed in.
        let token = sign_ins::rotate(tx, id, api.random.as_ref())?;
        match place {
            InvitationScope::Everywhere => operators::make_keeper(tx, operator.id)?,
            InvitationScope::Workspace { .. } => accept(tx, &api, &operator, place)?,
        }
        tell_used(tx, &api, &operator, opened.link.id)?;
        Ok(token)
    };
    let token = who.api.db.platform(OPERATORS).write(unit).await?;
    Ok(match token {
        Some(token) => renewed(&who.api, &headers, &token, "/account"),
        None => Redirect::to("/account/sign-in").into_response(),
    })
}
