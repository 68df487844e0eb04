//! `GET /c/{place}`: the page of a binding.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_lang::Locale;
use munshi_server::error::ApiError;
use munshi_server::html_page::HtmlPage;
use munshi_server::options::Peer;
use munshi_server::page_phrases::PagePhrases;
use munshi_server::parameters::UrlPathParameter;
use munshi_server::phrases::{self, MENU};
use munshi_server::visitor::binding_lookup;
use munshi_tiers::BindingResolution;

use crate::app::App;
use crate::app::api::Api;
use crate::pages::{LetterAvatar, UnavailablePage};
use crate::visitor::page_visitor;

/// Get the chat page of a binding.
#[utoipa::path(get, path = "/c/{place}", tag = "visits",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli")),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 404, description = "No such binding, as a page.", body = String, content_type = "text/html"),
        (status = 503, description = "The binding is temporarily unavailable, as a page.", body = String, content_type = "text/html"),
    ))]
pub(crate) async fn show_visit(
    State(app): State<App>,
    UrlPathParameter(name): UrlPathParameter<String>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    match binding_lookup::resolve(app.api()?, &name).await {
        Ok(binding) => render_chat(app.api()?, &binding, (peer.as_deref(), &headers)).await,
        Err(error) => Ok(UnavailablePage::respond(&error, PagePhrases::from_headers(&headers))),
    }
}

pub(crate) async fn render_chat(
    api: &Api,
    binding: &Arc<BindingResolution>,
    (peer, headers): (Option<&Peer>, &HeaderMap),
) -> Result<Response, ApiError> {
    let open = !binding_lookup::is_members_only(binding)
        || page_visitor::is_known_member(api, binding, (peer, headers)).await?;
    let name = binding_lookup::display_name(binding, open);
    let mut response =
        HtmlPage(ChatPage::new(binding, name, phrases::choose_locale(binding, headers))).into_response();
    let varies = HeaderValue::from_static("accept-language, cookie");
    response.headers_mut().append(axum::http::header::VARY, varies);
    Ok(response)
}

#[derive(Template)]
#[template(path = "chat.html")]
pub(crate) struct ChatPage {
    lang: String,
    place: String,
    name: String,
    about: String,
    face: LetterAvatar,
    voice: String,
    /// As JSON; the template escapes it.
    words: String,
    theme: String,
    language: String,
    menu: [(&'static str, &'static str); 11],
}

impl ChatPage {
    fn new(binding: &BindingResolution, name: &str, voice: Locale) -> Self {
        let words = phrases::render_all(voice);
        let said = |name: &str| words.get(name).cloned().unwrap_or_default();
        Self {
            lang: voice.code().replace("-latn", "-Latn"),
            place: binding_lookup::public_name(binding),
            about: said("about").replace("{name}", name),
            face: LetterAvatar::of(name),
            voice: voice.code(),
            theme: said("theme"),
            language: said("language"),
            // A map of texts always becomes JSON.
            words: serde_json::to_string(&words).unwrap_or_default(),
            menu: MENU,
            name: name.to_owned(),
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(name: &str) -> Self {
        Self {
            lang: "en".to_owned(),
            place: name.to_owned(),
            about: name.to_owned(),
            face: LetterAvatar::of(name),
            voice: "en".to_owned(),
            words: format!("{{\"hello\":{name:?}}}"),
            theme: name.to_owned(),
            language: name.to_owned(),
            menu: MENU,
            name: name.to_owned(),
        }
    }
}
