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
use munshi_server::account::signed_in_operator::SignInRedirect;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::html_page::render_uncached;
use munshi_server::page_error::HtmlPageError;
use munshi_server::page_phrases::PagePhrases;

use crate::account::connector_authorizer::{
    self, ConnectorAuthorizer, ConnectorLinkRefusal, ConnectorLinkRequest,
};
use crate::app::App;
use crate::app::api::ApiState;

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
        self.words.render_filled(
            "connector-ask-why",
            &fills.map(|(slot, text)| (slot, PlaceholderValue::Text(text))),
        )
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
    fn new(api: &ApiState, led: &ConnectorLoginLink, headers: &HeaderMap, path: String) -> Self {
        let browser = connector_authorizer::read_proof_cookie(api, headers);
        let code = browser.and_then(|browser| led.find_code(&browser, api.clock.now()).map(split_code));
        let sign_in = SignInRedirect::new(path.clone()).to_url();
        Self { words: PagePhrases::from_headers(headers), code, path, sign_in }
    }
}

/// Three and three, as people read them out.
fn split_code(code: &str) -> String {
    code.split_at_checked(3).map_or_else(|| code.to_owned(), |(one, other)| format!("{one} {other}"))
}

pub(crate) async fn show_connector_login(
    State(app): State<App>,
    Path(token): Path<String>,
    headers: HeaderMap,
    extensions: Extensions,
) -> Result<Response, HtmlPageError> {
    let (token, led) = load_link(app.api()?, &token).await?;
    let asked =
        ConnectorLinkRequest { headers: &headers, extensions: &extensions, tenant: led.tenant, to: led.to };
    let path = login_path(&token);
    let opener = match ConnectorAuthorizer::find(&app, &asked).await? {
        Ok(opener) => opener,
        Err(_) if connector_authorizer::can_prove_in_chat(&app, &asked).await? => {
            return Ok(render_uncached(&ProvePage::new(app.api()?, &led, &headers, path), StatusCode::OK));
        }
        Err(ConnectorLinkRefusal::Unknown) => return Ok(SignInRedirect::new(path).into_response()),
        Err(ConnectorLinkRefusal::NotTheirs) => return Err(connector_authorizer::forbidden_error().into()),
    };
    let page = AskPage {
        words: PagePhrases::from_headers(&headers),
        place: connector_authorizer::load_tenant_name(&app, led.tenant).await?,
        form: opener.form_token(&token),
        connector: led.connector,
        server: led.server,
        path,
    };
    Ok(render_uncached(&page, StatusCode::OK))
}

pub(super) fn login_path(token: &SecretToken) -> String {
    format!("/connectors/login/{}", token.reveal())
}

/// The link of a text, and where it leads.
pub(super) async fn load_link(
    api: &ApiState,
    text: &str,
) -> Result<(SecretToken, ConnectorLoginLink), HtmlPageError> {
    let logins = get_logins(api)?;
    let over = || {
        let error = ApiError::new(ApiErrorCode::NotFound, "This link was used or has expired.");
        error
            .phrase("link-used")
            .hint("Ask again in the conversation it came from, or run `munshi connector login NAME` for a new link.")
    };
    let token = SecretToken::parse(text).ok_or_else(over)?;
    let led = logins.find_link(&token).await.map_err(to_page_error)?.ok_or_else(over)?;
    Ok((token, led))
}

pub(super) fn get_logins(api: &ApiState) -> Result<&ConnectorLogins, ApiError> {
    let missing = || ApiError::new(ApiErrorCode::NotFound, "Connector sign-in is not set up on this server.");
    api.logins.as_ref().ok_or_else(missing)
}

/// What a person hears; the rest is for the log.
pub(super) fn to_page_error(error: Error) -> HtmlPageError {
    match error {
        Error::NoLogin(words) => ApiError::new(ApiErrorCode::Forbidden, format!("Sign-in failed: {words}."))
            .phrase(NOT_IN)
            .hint("Open the link again, or ask for a new one.")
            .into(),
        error @ (Error::Unreachable(_) | Error::TooSlow(_)) => {
            ApiError::new(ApiErrorCode::Unavailable, "The sign-in service is temporarily unreachable.")
                .caused_by(error)
                .into()
        }
        Error::Store(error) => ApiError::from(error).into(),
        error @ (Error::Safety(_) | Error::Invalid(_) | Error::WantsLogin(_)) => {
            ApiError::internal(error).into()
        }
    }
}
