//! `GET /account/password`

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use crate::account::fault::Fault;
use crate::account::frame::{Frame, Told, sent};
use crate::account::signed_in::SignedIn;

#[derive(Template)]
#[template(path = "account/password.html")]
struct PasswordPage {
    frame: Frame,
    /// There is one to be given before another is set.
    has_password: bool,
}

pub(crate) async fn show_password(who: SignedIn) -> Result<Response, Fault> {
    page(&who, None, StatusCode::OK).await
}

pub(super) async fn page(who: &SignedIn, told: Option<Told>, status: StatusCode) -> Result<Response, Fault> {
    let frame = Frame::of(who, "password", told).await?;
    Ok(sent(&PasswordPage { frame, has_password: who.operator.has_password }, status))
}
