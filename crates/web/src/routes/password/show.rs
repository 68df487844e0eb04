//! `GET /account/password`

use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use munshi_identity::passwords::SHORTEST;
use munshi_server::account::frame::AccountFrame;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::html_page::{PageNotice, render_uncached};
use munshi_server::page_error::HtmlPageError;

#[derive(Template)]
#[template(path = "account/password.html")]
struct PasswordPage {
    frame: AccountFrame,
    shortest: usize,
    /// There is one to be given before another is set.
    has_password: bool,
}

pub(crate) async fn show_password(who: SignedInOperator, uri: Uri) -> Result<Response, HtmlPageError> {
    let done = uri.query() == Some("done=1");
    let told = if done { PageNotice::success(who.words.render("password-changed")) } else { None };
    render_page(&who, told, StatusCode::OK).await
}

pub(super) async fn render_page(
    who: &SignedInOperator,
    told: Option<PageNotice>,
    status: StatusCode,
) -> Result<Response, HtmlPageError> {
    let frame = AccountFrame::load(who, "password", told).await?;
    Ok(render_uncached(
        &PasswordPage { frame, shortest: SHORTEST, has_password: who.operator.has_password },
        status,
    ))
}
