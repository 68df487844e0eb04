//! `POST /account/password`: another password. Other browsers are signed out, and this one gets a new token.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use munshi_identity::SecretToken;
use munshi_identity::login_backoff::{SignInAttempt, SignInThrottle};
use munshi_identity::operators::{self, OPERATORS, Operator};
use munshi_identity::passwords::{Password, PasswordHash};
use munshi_identity::sign_ins;
use munshi_server::access::Access;
use munshi_server::account::audit_context::{AccountAuditContext, list_affected_tenants};
use munshi_server::account::browser_sign_in::redirect_with_token;
use munshi_server::account::form::SignedInForm;
use munshi_server::account::signed_in_operator::{SignInRedirect, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::PageNotice;
use munshi_server::page_error::HtmlPageError;
use munshi_store::PlatformTx;
use munshi_types::SignInId;
use serde::Deserialize;
use serde_json::json;

use super::show::render_page;

#[derive(Deserialize)]
pub(crate) struct ChangePasswordForm {
    #[serde(default)]
    current: String,
    new: String,
    again: String,
}

pub(crate) async fn change_password(
    posted: SignedInForm<ChangePasswordForm>,
) -> Result<Response, HtmlPageError> {
    let SignedInForm { who, headers, form } = posted;
    let not =
        async |told: Option<PageNotice>| render_page(&who, told, StatusCode::UNPROCESSABLE_ENTITY).await;
    if form.new != form.again {
        return not(PageNotice::failure(who.words.render("differ"))).await;
    }
    let new = Password::new(&form.new);
    if let Err(error) = new.validate_for(&who.operator.email, &who.operator.name) {
        return not(HtmlPageError::from(error).to_notice(who.words)).await;
    }
    let seen = match who.operator.has_password {
        true => match verify_current(&who, &form.current).await? {
            Some(hash) => Some(hash),
            None => return not(PageNotice::failure(who.words.render("current-wrong"))).await,
        },
        false => None,
    };
    let hash = who.access.account.passwords.hash(new).await?;
    let wanted = Wanted { operator: who.operator.clone(), sign_in: who.sign_in.id, seen, hash };
    let access = who.access.clone();
    let unit = move |tx: &mut PlatformTx<'_>| wanted.write(tx, &access);
    match who.access.db.platform(OPERATORS).write(unit).await? {
        Changed::Done(token) => {
            Ok(redirect_with_token(&who.access, &headers, &token, "/account/password?done=1"))
        }
        Changed::Meanwhile => not(PageNotice::failure(who.words.render("current-wrong"))).await,
        Changed::SignedOut => Ok(SignInRedirect::new("/account/password".to_owned()).into_response()),
    }
}

/// What was looked at, and what is to be written by it.
struct Wanted {
    operator: Operator,
    sign_in: SignInId,
    /// What the current password was compared with; none where there was none.
    seen: Option<PasswordHash>,
    hash: PasswordHash,
}

impl Wanted {
    /// The password and the sign-in may have ended while the hashes were made: then nothing is written.
    fn write(&self, tx: &mut PlatformTx<'_>, access: &Access) -> Result<Changed, ApiError> {
        let (operator, id) = (&self.operator, self.sign_in);
        let is_same = operators::lock_if_password_unchanged(tx, operator.id, self.seen.as_ref())?;
        if !sign_ins::exists(tx, operator.id, id)? {
            return Ok(Changed::SignedOut);
        }
        if !is_same {
            return Ok(Changed::Meanwhile);
        }
        operators::set_password(tx, operator.id, &self.hash)?;
        let ended = sign_ins::end_others(tx, operator.id, id)?;
        let token = sign_ins::rotate(tx, id, access.random.as_ref())?;
        let token =
            token.ok_or_else(|| ApiError::internal("the sign-in ended during the password change"))?;
        let tenants = list_affected_tenants(tx, operator)?;
        let payload = json!({ "sign_ins_ended": ended });
        let telling = AccountAuditContext::for_operator(access, operator.id);
        telling.record(tx, &tenants, "operator.password_changed", operator.id.to_string(), payload)?;
        Ok(Changed::Done(token))
    }
}

/// What came of it.
enum Changed {
    Done(SecretToken),
    /// The password is another than the one that was compared.
    Meanwhile,
    /// This browser is not signed in any more.
    SignedOut,
}

/// The hash that the given password fits; none where it is wrong. Whoever sits at somebody's open browser has no free tries
/// either.
async fn verify_current(who: &SignedInOperator, given: &str) -> Result<Option<PasswordHash>, HtmlPageError> {
    let (id, now, counted) =
        (who.operator.id, who.access.clock.now(), SignInAttempt::new(&who.operator.email, None));
    let begin = counted.clone();
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        Ok((begin.begin(tx, now)?, operators::find_password(tx, id)?))
    };
    let (begun, hash) = who.access.db.platform(OPERATORS).write(unit).await?;
    if let SignInThrottle::Wait(wait) = begun {
        return Err(ApiError::from_code(ApiErrorCode::TooManyRequests).retry_after(wait).into());
    }
    let fits = who.access.account.passwords.verify(Password::new(given), hash.clone()).await?;
    if fits {
        let unit = move |tx: &mut PlatformTx<'_>| counted.record_success(tx, now);
        who.access.db.platform(OPERATORS).write(unit).await?;
    }
    Ok(hash.filter(|_| fits))
}
