//! Somebody comes in: a new token, whatever the browser held before.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{SET_COOKIE, USER_AGENT};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::SecretToken;
use munshi_identity::operators::Operator;
use munshi_identity::sign_ins::{self, SignInMethod, SignInOrigin};
use munshi_store::PlatformTx;
use serde_json::json;

use crate::access::{Access, AccessState};
use crate::account::audit_context::{AccountAuditContext, list_affected_tenants};
use crate::cookies::{self, BROWSER, ELSEWHERE, SIGN_IN};
use crate::error::ApiError;

/// From where they come, and what their browser brought.
#[derive(Clone, Debug)]
pub struct BrowserSignInContext {
    pub how: SignInMethod,
    from: SignInOrigin,
    /// The sign-in that was open in this browser: it ends, so that nobody comes in by a token they planted.
    before: Option<SecretToken>,
    /// What shows that they were here before.
    pub browser: Option<SecretToken>,
    secure: bool,
}

/// What the browser is to keep.
#[derive(Debug)]
pub struct SignInCookies {
    sign_in: SecretToken,
    browser: Option<SecretToken>,
    secure: bool,
}

impl BrowserSignInContext {
    pub fn new(
        access: &AccessState,
        headers: &HeaderMap,
        address: Option<IpAddr>,
        how: SignInMethod,
    ) -> Self {
        let secure = access.account.is_secure(headers);
        let token = |name| cookies::read(headers, name, secure).and_then(SecretToken::parse);
        let browser = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let address = address.map(|address| address.to_string()).unwrap_or_default();
        Self {
            how,
            from: SignInOrigin { address, browser: browser.to_owned() },
            before: token(SIGN_IN),
            browser: token(BROWSER),
            secure,
        }
    }

    /// Signs them in, in the transaction of what let them in, and tells the audit: last in it.
    pub fn sign_in(
        &self,
        tx: &mut PlatformTx<'_>,
        access: &AccessState,
        operator: &Operator,
    ) -> Result<SignInCookies, ApiError> {
        let telling = AccountAuditContext::for_operator(access, operator.id);
        let now = telling.now;
        if let Some((before, _)) =
            self.before.as_ref().map(|token| sign_ins::find(tx, token, now)).transpose()?.flatten()
        {
            sign_ins::end(tx, before.operator, before.id)?;
        }
        let random = access.random.as_ref();
        let (id, sign_in) =
            sign_ins::begin(tx, &access.ids, random, operator.id, (self.how, &self.from), now)?;
        let known = match &self.browser {
            Some(token) => sign_ins::is_known_browser(tx, token, operator.id, now)?,
            None => false,
        };
        let browser =
            if known { None } else { Some(sign_ins::remember_browser(tx, random, operator.id, now)?) };
        let tenants = list_affected_tenants(tx, operator)?;
        let payload = json!({ "how": self.how, "known_browser": known });
        telling.record(tx, &tenants, "sign_in.began", id.to_string(), payload)?;
        Ok(SignInCookies { sign_in, browser, secure: self.secure })
    }
}

impl SignInCookies {
    /// Goes on to a path of ours, with the cookies.
    pub fn redirect_to(&self, path: &str) -> Response {
        let mut response = Redirect::to(path).into_response();
        let kept = cookies::build(SIGN_IN, self.sign_in.reveal(), sign_ins::LIFE, self.secure);
        let browser = self.browser.as_ref();
        let known =
            browser.and_then(|token| cookies::build(BROWSER, token.reveal(), sign_ins::KNOWN, self.secure));
        let forgotten = cookies::build_expired(ELSEWHERE, self.secure);
        for header in [kept, known, forgotten].into_iter().flatten() {
            response.headers_mut().append(SET_COOKIE, header);
        }
        response
    }
}

/// Another token for the browser they have, after what it is good for has changed.
pub fn redirect_with_token(
    access: &Access,
    headers: &HeaderMap,
    token: &SecretToken,
    path: &str,
) -> Response {
    SignInCookies { sign_in: token.clone(), browser: None, secure: access.account.is_secure(headers) }
        .redirect_to(path)
}
