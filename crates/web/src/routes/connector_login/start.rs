//! `POST /connectors/login/{token}`: somebody says yes to what a link is for, and is led to the connector's service.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::Response;
use munshi_connectors::login::{Back, LIFE};
use serde::Deserialize;

use super::show::{as_fault, led, logins};
use crate::account::cookies::{self, CONNECTOR};
use crate::account::fault::Fault;
use crate::account::form::Sent;
use crate::account::frame::sent;
use crate::account::opener::{self, Asked, Opener};
use crate::account::words::Words;
use crate::app::App;
use crate::error::{ApiError, Code};

#[derive(Deserialize)]
pub(crate) struct Yes {
    #[serde(default)]
    form: String,
}

/// Leads there by itself: a form of ours may not be answered with an address elsewhere.
#[derive(Template)]
#[template(path = "account/connector_going.html")]
struct GoingPage {
    words: Words,
    /// Who lets people in there.
    server: String,
    to: String,
}

pub(crate) async fn start_connector_login(
    State(app): State<App>,
    Path(token): Path<String>,
    posted: Sent<Yes>,
) -> Result<Response, Fault> {
    let Sent { api, headers, extensions, form } = posted;
    let (token, led) = led(&api, &token).await?;
    let asked = Asked { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    let opener = Opener::find(&app, &asked).await?.map_err(|_| opener::not_theirs())?;
    if opener.form(&token) != form.form {
        let words = "This form is from before you signed in, or from somewhere else.";
        let error = ApiError::new(Code::Forbidden, words).phrase("foreign-form");
        return Err(error.hint("Nothing was changed. Open the link again.").into());
    }
    let back = Back::to(&api.link(&headers, ""));
    let begun = logins(&api)?.follow(led, &back, opener.who).await.map_err(as_fault)?;
    let words = Words::of(&headers);
    let mut response = sent(&GoingPage { words, server: begun.issuer, to: begun.to.into() }, StatusCode::OK);
    let kept = cookies::keep(CONNECTOR, begun.token.reveal(), LIFE, api.account.is_secure(&headers));
    response.headers_mut().extend(kept.map(|header| (SET_COOKIE, header)));
    Ok(response)
}
