//! `GET /account/password`

use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use munshi_identity::passwords::SHORTEST;

use crate::account::fault::Fault;
use crate::account::frame::{Frame, Told, sent};
use crate::account::signed_in::SignedIn;

#[derive(Template)]
#[template(path = "account/password.html")]
struct PasswordPage {
    frame: Frame,
    shortest: usize,
    /// There is one to be given before another is set.
    has_password: bool,
}

pub(crate) async fn show_password(who: SignedIn, uri: Uri) -> Result<Response, Fault> {
    let done = uri.query() == Some("done=1");
    let told = if done { Told::done(who.words.say("password-changed")) } else { None };
    page(&who, told, StatusCode::OK).await
}

pub(super) async fn page(who: &SignedIn, told: Option<Told>, status: StatusCode) -> Result<Response, Fault> {
    let frame = Frame::of(who, "password", told).await?;
    Ok(sent(&PasswordPage { frame, shortest: SHORTEST, has_password: who.operator.has_password }, status))
}
