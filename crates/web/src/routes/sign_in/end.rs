//! `POST /account/sign-out`: this browser is nobody's again.

use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins;
use munshi_store::PlatformTx;
use serde_json::json;

use crate::account::cookies::{self, SIGN_IN};
use crate::account::fault::Fault;
use crate::account::form::{Nothing, Posted};
use crate::account::telling::{Telling, concerned};
use crate::error::ApiError;

pub(crate) async fn end_sign_in(posted: Posted<Nothing>) -> Result<Response, Fault> {
    let Posted { who, headers, .. } = posted;
    let (telling, operator, id) =
        (Telling::of(&who.api, who.operator.id), who.operator.clone(), who.sign_in.id);
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<(), ApiError> {
        if sign_ins::end(tx, operator.id, id)? {
            let tenants = concerned(tx, &operator)?;
            telling.tell(tx, &tenants, "sign_in.ended", id.to_string(), json!({}))?;
        }
        Ok(())
    };
    who.api.db.platform(OPERATORS).write(unit).await?;
    let mut response = Redirect::to("/account/sign-in").into_response();
    if let Some(header) = cookies::forget(SIGN_IN, who.api.account.is_secure(&headers)) {
        response.headers_mut().append(SET_COOKIE, header);
    }
    Ok(response)
}
