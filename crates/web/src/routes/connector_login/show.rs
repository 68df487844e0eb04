//! `GET /connectors/login/{token}`: where a link leads, for whoever may go there. Looking changes nothing: what shows a
//! preview of a link, or opens it again, begins no login.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use munshi_connectors::Error;
use munshi_connectors::login::{ConnectorLoginLink, ConnectorLogins};
use munshi_identity::SecretToken;
use munshi_lang::PlaceholderValue;

use crate::account::fault::HtmlPageError;
use crate::account::frame::sent;
use crate::account::opener::{self, ConnectorAuthorizer, ConnectorLinkRefusal, ConnectorLinkRequest};
use crate::account::signed_in::SignInRedirect;
use crate::account::words::PagePhrases;
use crate::api::ApiState;
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};

/// What somebody hears in their own language who was not let in.
pub(super) const NOT_IN: &str = "connector-not-in";

#[derive(Template)]
#[template(path = "account/connector_ask.html")]
struct AskPage {
    words: PagePhrases,
    connector: String,
    server: String,
    /// Whose connector it is.
    place: String,
    path: String,
    form: String,
}

impl AskPage {
    fn about(&self) -> String {
        let fills = [("place", &self.place), ("name", &self.connector), ("server", &self.server)];
        self.words
            .filled("connector-ask-why", &fills.map(|(slot, text)| (slot, PlaceholderValue::Text(text))))
    }
}

/// For somebody whom this browser is not known to be of.
#[derive(Template)]
#[template(path = "account/connector_prove.html")]
struct ProvePage {
    words: PagePhrases,
    /// What to send in the conversation, once it was asked for.
    code: Option<String>,
    path: String,
    sign_in: String,
}

impl ProvePage {
    fn of(api: &ApiState, led: &ConnectorLoginLink, headers: &HeaderMap, path: String) -> Self {
        let browser = opener::opened(api, headers);
        let code = browser.and_then(|browser| led.code_of(&browser, api.clock.now()).map(apart));
        let sign_in = SignInRedirect::then(path.clone()).address();
        Self { words: PagePhrases::of(headers), code, path, sign_in }
    }
}

/// Three and three, as people read them out.
fn apart(code: &str) -> String {
    code.split_at_checked(3).map_or_else(|| code.to_owned(), |(one, other)| format!("{one} {other}"))
}

pub(crate) async fn show_connector_login(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
    extensions: Extensions,
) -> Result<Response, HtmlPageError> {
    let (token, led) = led(app.api()?, &token).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    let path = path(&token);
    let opener = match ConnectorAuthorizer::find(&app, &asked).await? {
        Ok(opener) => opener,
        Err(_) if opener::can_be_shown(&app, &asked).await? => {
            return Ok(sent(&ProvePage::of(app.api()?, &led, &headers, path), StatusCode::OK));
        }
        Err(ConnectorLinkRefusal::Unknown) => return Ok(SignInRedirect::then(path).into_response()),
        Err(ConnectorLinkRefusal::NotTheirs) => return Err(opener::not_theirs().into()),
    };
    let page = AskPage {
        words: PagePhrases::of(&headers),
        place: opener::place(&app, led.tenant).await?,
        form: opener.form(&token),
        connector: led.connector,
        server: led.server,
        path,
    };
    Ok(sent(&page, StatusCode::OK))
}

pub(super) fn path(token: &SecretToken) -> String {
    format!("/connectors/login/{}", token.reveal())
}

/// The link of a text, and where it leads.
pub(super) async fn led(
    api: &ApiState,
    text: &str,
) -> Result<(SecretToken, ConnectorLoginLink), HtmlPageError> {
    let logins = logins(api)?;
    let over = || {
        let error = ApiError::new(
            ApiErrorCode::NotFound,
            "This link is over: somebody has signed in, or its day has passed.",
        );
        error
            .phrase("link-used")
            .hint("Ask again in the conversation it came from; `munshi connector login NAME` makes another.")
    };
    let token = SecretToken::parse(text).ok_or_else(over)?;
    let led = logins.led(&token).await.map_err(as_fault)?.ok_or_else(over)?;
    Ok((token, led))
}

pub(super) fn logins(api: &ApiState) -> Result<&ConnectorLogins, ApiError> {
    let missing =
        || ApiError::new(ApiErrorCode::NotFound, "Nobody can sign in at a connector's service here.");
    api.logins.as_ref().ok_or_else(missing)
}

/// What a person hears; the rest is for the log.
pub(super) fn as_fault(error: Error) -> HtmlPageError {
    match error {
        Error::NoLogin(words) => {
            ApiError::new(ApiErrorCode::Forbidden, format!("The sign-in came to nothing: {words}."))
                .phrase(NOT_IN)
                .hint("Open the link once more, or ask for another.")
                .into()
        }
        error @ (Error::Unreachable(_) | Error::TooSlow(_)) => {
            ApiError::new(ApiErrorCode::Unavailable, "The service to sign in with can't be reached just now.")
                .caused_by(error)
                .into()
        }
        Error::Store(error) => ApiError::from(error).into(),
        error @ (Error::Safety(_) | Error::Invalid(_) | Error::WantsLogin(_)) => {
            ApiError::internal(error).into()
        }
    }
}
