//! `POST /account/password`: another password. Other browsers are signed out, and this one gets a new token.

use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::operators::{self, OPERATORS};
use munshi_identity::passwords::Password;
use munshi_identity::pauses::{Begun, Try};
use munshi_identity::sign_ins;
use munshi_store::PlatformTx;
use serde::Deserialize;
use serde_json::json;

use super::show::page;
use crate::account::come_in::renewed;
use crate::account::fault::Fault;
use crate::account::form::Posted;
use crate::account::frame::Told;
use crate::account::signed_in::SignedIn;
use crate::account::telling::{Telling, concerned};
use crate::error::{ApiError, Code};

#[derive(Deserialize)]
pub(crate) struct Change {
    #[serde(default)]
    current: String,
    new: String,
    again: String,
}

pub(crate) async fn change_password(posted: Posted<Change>) -> Result<Response, Fault> {
    let Posted { who, headers, form } = posted;
    let not = async |told: Option<Told>| page(&who, told, StatusCode::UNPROCESSABLE_ENTITY).await;
    if form.new != form.again {
        return not(Told::not_done(who.words.say("differ"))).await;
    }
    let new = Password::new(&form.new);
    if let Err(error) = new.fit_for(&who.operator.email, &who.operator.name) {
        return not(Fault::from(error).told(who.words)).await;
    }
    if who.operator.has_password && !is_current(&who, &form.current).await? {
        return not(Told::not_done(who.words.say("current-wrong"))).await;
    }
    let hash = who.api.account.passwords.hash(new).await?;
    let (api, operator, id) = (who.api.clone(), who.operator.clone(), who.sign_in.id);
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        operators::set_password(tx, operator.id, &hash)?;
        let ended = sign_ins::end_others(tx, operator.id, id)?;
        let token = sign_ins::rotate(tx, id, api.random.as_ref())?;
        let tenants = concerned(tx, &operator)?;
        let payload = json!({ "sign_ins_ended": ended });
        let telling = Telling::of(&api, operator.id);
        telling.tell(tx, &tenants, "operator.password_changed", operator.id.to_string(), payload)?;
        Ok(token)
    };
    let token = who.api.db.platform(OPERATORS).write(unit).await?;
    let token = token.ok_or_else(|| ApiError::internal("a sign-in ended while its password was changed"))?;
    Ok(renewed(&who.api, &headers, &token, "/account/password?done=1"))
}

/// Whoever sits at somebody's open browser has no free tries either.
async fn is_current(who: &SignedIn, given: &str) -> Result<bool, Fault> {
    let (id, now, counted) = (who.operator.id, who.api.clock.now(), Try::of(&who.operator.email, None));
    let begin = counted.clone();
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        Ok((begin.begin(tx, now)?, operators::password_of(tx, id)?))
    };
    let (begun, hash) = who.api.db.platform(OPERATORS).write(unit).await?;
    if let Begun::Wait(wait) = begun {
        return Err(ApiError::plain(Code::TooManyRequests).retry_after(wait).into());
    }
    let fits = who.api.account.passwords.fits(Password::new(given), hash).await?;
    if fits {
        let unit = move |tx: &mut PlatformTx<'_>| counted.right(tx, now);
        who.api.db.platform(OPERATORS).write(unit).await?;
    }
    Ok(fits)
}
