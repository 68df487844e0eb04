//! `POST /account/sign-in`: an e-mail and a password.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::Response;
use munshi_identity::login_backoff::{SignInAttempt, SignInThrottle};
use munshi_identity::operators::{self, OPERATORS, Operator};
use munshi_identity::passwords::{Password, PasswordHash};
use munshi_identity::sign_ins::{self, SignInMethod};
use munshi_server::access::Access;
use munshi_server::account::audit_context::AccountAuditContext;
use munshi_server::account::browser_sign_in::{BrowserSignInContext, SignInCookies};
use munshi_server::account::form::PublicForm;
use munshi_server::account::signed_in_operator::client_address;
use munshi_server::error::ApiError;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::local_path;
use munshi_server::options::Peer;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use munshi_store::PlatformTx;
use serde::Deserialize;
use serde_json::json;

use super::show::SignInPage;

/// After so many wrong tries, and again after as many more, the audit hears of it: not so often that it is flooded.
const TOLD_EVERY: u32 = 10;

#[derive(Deserialize)]
pub(crate) struct SignInForm {
    email: String,
    password: String,
    next: Option<String>,
}

/// What was found before the password is looked at. Somebody without an account takes the same way.
struct Candidate {
    who: Option<(Operator, Option<PasswordHash>)>,
    counted: SignInAttempt,
    begun: SignInThrottle,
}

pub(crate) async fn begin_sign_in(posted: PublicForm<SignInForm>) -> Result<Response, HtmlPageError> {
    let PublicForm { access, headers, extensions, form } = posted;
    let (words, next) =
        (PagePhrases::from_headers(&headers), local_path::sanitize(form.next.as_deref()).to_owned());
    let from = client_address(&access, &extensions, &headers);
    let arrival = BrowserSignInContext::new(&access, &headers, from, SignInMethod::Password);
    let counted = access.throttle_address(extensions.get::<Peer>(), &headers);
    // In memory first, so that a flood never reaches the database.
    if let Err(wait) = access.limits.check_sign_in(counted) {
        return render_wait(&access, words, (&form.email, &next), wait).await;
    }
    let candidate = load_candidate(&access, &form.email, &arrival, counted).await?;
    let failures = match candidate.begun {
        SignInThrottle::Go { failures } => failures,
        SignInThrottle::Wait(wait) => return render_wait(&access, words, (&form.email, &next), wait).await,
    };
    let (operator, hash) = candidate.who.unzip();
    let seen = hash.flatten();
    let right = access.account.passwords.verify(Password::new(&form.password), seen.clone()).await?;
    let came = match operator.filter(|_| right) {
        Some(operator) => sign_in(&access, operator, seen, candidate.counted, arrival).await?,
        None => None,
    };
    if let Some(came) = came {
        return Ok(came.redirect_to(&next));
    }
    if failures % TOLD_EVERY == 0 {
        record_failures(&access, failures).await?;
    }
    let told = PageNotice::failure(words.render("wrong"));
    let page = SignInPage::load(&access, words, (&form.email, &next), told).await?;
    Ok(render_uncached(&page, StatusCode::UNAUTHORIZED))
}

/// None, and nothing is written, where the password that was compared is not the account's any more.
async fn sign_in(
    access: &Access,
    operator: Operator,
    seen: Option<PasswordHash>,
    counted: SignInAttempt,
    arrival: BrowserSignInContext,
) -> Result<Option<SignInCookies>, ApiError> {
    let (inside, now) = (access.clone(), access.clock.now());
    let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        if !operators::lock_if_password_unchanged(tx, operator.id, seen.as_ref())? {
            return Ok(None);
        }
        counted.record_success(tx, now)?;
        arrival.sign_in(tx, &inside, &operator).map(Some)
    };
    access.db.platform(OPERATORS).write(unit).await
}

/// Who it may be, and whether they may try now; the try is counted.
async fn load_candidate(
    access: &Access,
    email: &str,
    arrival: &BrowserSignInContext,
    from: Option<std::net::IpAddr>,
) -> Result<Candidate, ApiError> {
    let (email, browser, now) = (email.to_owned(), arrival.browser.clone(), access.clock.now());
    let read = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> {
        let operator = operators::find_by_email(tx, &email)?;
        let hash = match &operator {
            Some(operator) => operators::find_password(tx, operator.id)?,
            None => None,
        };
        let known = match (&operator, &browser) {
            (Some(operator), Some(token)) => sign_ins::is_known_browser(tx, token, operator.id, now)?,
            _ => false,
        };
        let counted = match &browser {
            Some(token) if known => SignInAttempt::from_known_browser(&email, token),
            _ => SignInAttempt::new(&email, from),
        };
        let wait = counted.find_wait(tx, now)?;
        Ok((operator.map(|operator| (operator, hash)), counted, wait))
    };
    // Who has to wait is told so by reading alone: whoever tries on and on keeps nobody from writing.
    let (who, counted, wait) = access.db.platform(OPERATORS).read(read).await?;
    let begun = match wait {
        Some(wait) => SignInThrottle::Wait(wait),
        None => {
            let attempt = counted.clone();
            let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, ApiError> { Ok(attempt.begin(tx, now)?) };
            access.db.platform(OPERATORS).write(unit).await?
        }
    };
    Ok(Candidate { who, counted, begun })
}

async fn render_wait(
    access: &Access,
    words: PagePhrases,
    written: (&str, &str),
    wait: Duration,
) -> Result<Response, HtmlPageError> {
    let seconds = usize::try_from(wait.as_millis().div_ceil(1000).max(1)).unwrap_or(usize::MAX);
    let told = match seconds {
        90.. => words.render_count("wait-minutes", &seconds.div_ceil(60)),
        _ => words.render_count("wait-seconds", &seconds),
    };
    let page = SignInPage::load(access, words, written, PageNotice::failure(told)).await?;
    let mut response = render_uncached(&page, StatusCode::TOO_MANY_REQUESTS);
    if let Ok(value) = seconds.to_string().parse() {
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    Ok(response)
}

/// Whether there is such an account is not told even here: it would take longer for those there are.
async fn record_failures(access: &Access, failures: u32) -> Result<(), ApiError> {
    let telling = AccountAuditContext::for_system(access);
    let unit = move |tx: &mut PlatformTx<'_>| {
        telling.record(tx, &[], "sign_in.refused", "sign-in".to_owned(), json!({ "failures": failures }))
    };
    access.db.platform(OPERATORS).write(unit).await
}
