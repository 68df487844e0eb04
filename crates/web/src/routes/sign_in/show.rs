//! `GET /account/sign-in`: the door for operators.

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use munshi_identity::operators::{self, OPERATORS};
use munshi_server::access::AccessState;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::local_path;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;
use serde::Deserialize;

use crate::app::App;

#[derive(Template)]
#[template(path = "account/sign_in.html")]
pub(crate) struct SignInPage {
    pub(crate) words: PagePhrases,
    pub(crate) email: String,
    /// Where to go on, a path of ours.
    pub(crate) next: String,
    /// The other service's name, where one is set up.
    pub(crate) service: Option<String>,
    pub(crate) service_link: String,
    /// Nobody has an account yet.
    pub(crate) nobody: bool,
    pub(crate) told: Option<PageNotice>,
}

impl SignInPage {
    pub(crate) async fn load(
        access: &AccessState,
        words: PagePhrases,
        (email, next): (&str, &str),
        told: Option<PageNotice>,
    ) -> Result<Self, HtmlPageError> {
        let anybody = access.db.platform(OPERATORS).read(operators::has_any).await?;
        Ok(Self {
            words,
            email: email.to_owned(),
            service: access.account.oidc.as_ref().map(|service| service.name().to_owned()),
            service_link: format!("/account/oidc/start?next={}", local_path::percent_encode(next)),
            next: next.to_owned(),
            nobody: !anybody,
            told,
        })
    }
}

#[derive(Deserialize)]
pub(crate) struct ShowSignInQuery {
    next: Option<String>,
}

pub(crate) async fn show_sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    asked: Result<Query<ShowSignInQuery>, QueryRejection>,
) -> Result<Response, HtmlPageError> {
    let access = app.access()?;
    let asked = asked.ok().and_then(|Query(asked)| asked.next);
    let next = local_path::sanitize(asked.as_deref());
    if SignedInOperator::find(access, &headers).await?.is_some() {
        return Ok(Redirect::to(next).into_response());
    }
    Ok(render_uncached(
        &SignInPage::load(access, PagePhrases::from_headers(&headers), ("", next), None).await?,
        StatusCode::OK,
    ))
}
