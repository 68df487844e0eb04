//! `GET /account/sign-ins`: the browsers somebody is signed in with.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins::{self, How, SignIn};

use crate::account::fault::Fault;
use crate::account::frame::{Frame, moment, sent};
use crate::account::signed_in::SignedIn;

#[derive(Template)]
#[template(path = "account/sign_ins.html")]
struct SignInsPage {
    frame: Frame,
    items: Vec<Item>,
}

struct Item {
    id: String,
    browser: String,
    address: String,
    how: &'static str,
    since: String,
    seen: String,
    /// The one this page is shown in.
    own: bool,
}

impl Item {
    fn of(one: SignIn, own: bool) -> Self {
        let how = match one.how {
            How::Password => "with a password",
            How::Link => "with a one-time link",
            How::Oidc => "with another service",
        };
        let browser =
            if one.browser.is_empty() { "A browser without a name".to_owned() } else { one.browser };
        Self {
            id: one.id.to_string(),
            browser,
            address: one.address,
            how,
            since: moment(one.made_at),
            seen: moment(one.seen_at),
            own,
        }
    }
}

pub(crate) async fn list_sign_ins(who: SignedIn) -> Result<Response, Fault> {
    let (id, now) = (who.operator.id, who.api.clock.now());
    let found = who.api.db.platform(OPERATORS).read(move |tx| sign_ins::list(tx, id, now)).await?;
    let items = found.into_iter().map(|one| {
        let own = one.id == who.sign_in.id;
        Item::of(one, own)
    });
    let page = SignInsPage { items: items.collect(), frame: Frame::of(&who, "sign-ins", None).await? };
    Ok(sent(&page, StatusCode::OK))
}
