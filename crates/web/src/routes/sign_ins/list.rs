//! `GET /account/sign-ins`: the browsers somebody is signed in with.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use munshi_identity::operators::OPERATORS;
use munshi_identity::sign_ins::{self, How, SignIn};
use munshi_lang::Fill;

use crate::account::fault::Fault;
use crate::account::frame::{Frame, sent};
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
    /// How and since when they are signed in, and when they were seen last.
    line: String,
    /// The one this page is shown in.
    own: bool,
}

impl Item {
    fn of(one: SignIn, own: bool, frame: &Frame) -> Self {
        let words = frame.words;
        let how = words.say(match one.how {
            How::Password => "by-password",
            How::Link => "by-link",
            How::Oidc => "by-service",
        });
        let (since, seen) = (frame.moment(one.made_at), frame.moment(one.seen_at));
        let fills = [("how", Fill::Text(&how)), ("since", Fill::Text(&since)), ("seen", Fill::Text(&seen))];
        Self {
            id: one.id.to_string(),
            browser: if one.browser.is_empty() { words.say("no-browser") } else { one.browser },
            address: one.address,
            line: words.filled("browser-line", &fills),
            own,
        }
    }
}

pub(crate) async fn list_sign_ins(who: SignedIn) -> Result<Response, Fault> {
    let (id, now) = (who.operator.id, who.api.clock.now());
    let found = who.api.db.platform(OPERATORS).read(move |tx| sign_ins::list(tx, id, now)).await?;
    let frame = Frame::of(&who, "sign-ins", None).await?;
    let items = found.into_iter().map(|one| {
        let own = one.id == who.sign_in.id;
        Item::of(one, own, &frame)
    });
    let page = SignInsPage { items: items.collect(), frame };
    Ok(sent(&page, StatusCode::OK))
}
