//! `GET /account`: who is signed in, and what they look after.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;

use crate::account::fault::Fault;
use crate::account::frame::{Frame, sent};
use crate::account::signed_in::{SignedIn, Workspace};

#[derive(Template)]
#[template(path = "account/show.html")]
struct AccountPage {
    frame: Frame,
    workspaces: Vec<Workspace>,
    keeper: bool,
}

pub(crate) async fn show_account(who: SignedIn) -> Result<Response, Fault> {
    let page = AccountPage {
        frame: Frame::of(&who, "", None).await?,
        workspaces: who.workspaces().await?,
        keeper: who.operator.keeper,
    };
    Ok(sent(&page, StatusCode::OK))
}
