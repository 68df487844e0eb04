//! `GET /c/{place}`: the page of a binding.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_lang::Voice;
use munshi_tiers::Resolution;

use crate::account::words::Words;
use crate::api::ask::At;
use crate::app::App;
use crate::error::ApiError;
use crate::pages::{Face, Nobody, Page};
use crate::visitor::place;
use crate::visitor::words::{self, MENU};

/// The page of a binding: its chat.
#[utoipa::path(get, path = "/c/{place}", tag = "visits",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli")),
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        (status = 404, description = "Nobody is there; a page says so.", body = String, content_type = "text/html"),
        (status = 503, description = "Nobody answers for now; a page says so.", body = String, content_type = "text/html"),
    ))]
pub(crate) async fn show_visit(
    State(app): State<App>,
    At(name): At<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    match place::find(app.api()?, &name).await {
        Ok(place) => Ok(chat(&place, &headers)),
        Err(error) => Ok(Nobody::page(&error, Words::of(&headers))),
    }
}

pub(crate) fn chat(place: &Arc<Resolution>, headers: &HeaderMap) -> Response {
    let mut response = Page(ChatPage::of(place, words::greeting(place, headers))).into_response();
    let varies = HeaderValue::from_static("accept-language");
    response.headers_mut().append(axum::http::header::VARY, varies);
    response
}

#[derive(Template)]
#[template(path = "chat.html")]
pub(crate) struct ChatPage {
    lang: String,
    place: String,
    name: String,
    about: String,
    face: Face,
    voice: String,
    /// As JSON; the template escapes it.
    words: String,
    theme: String,
    language: String,
    menu: [(&'static str, &'static str); 11],
}

impl ChatPage {
    fn of(place: &Resolution, voice: Voice) -> Self {
        let words = words::all(voice);
        let said = |name: &str| words.get(name).cloned().unwrap_or_default();
        let name = place.human.body.name.clone();
        Self {
            lang: voice.code().replace("-latn", "-Latn"),
            place: place::name_of(place),
            about: said("about").replace("{name}", &name),
            face: Face::of(&name),
            voice: voice.code(),
            theme: said("theme"),
            language: said("language"),
            // A map of texts always becomes JSON.
            words: serde_json::to_string(&words).unwrap_or_default(),
            menu: MENU,
            name,
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(name: &str) -> Self {
        Self {
            lang: "en".to_owned(),
            place: name.to_owned(),
            about: name.to_owned(),
            face: Face::of(name),
            voice: "en".to_owned(),
            words: format!("{{\"hello\":{name:?}}}"),
            theme: name.to_owned(),
            language: name.to_owned(),
            menu: MENU,
            name: name.to_owned(),
        }
    }
}
