//! `GET /`: what this is, for a person or a program that found the port.

use std::collections::BTreeMap;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::header::{ACCEPT, HOST, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_identity::operators::{self, OPERATORS};
use munshi_server::error::ApiError;
use munshi_server::html_page::HtmlPage;
use munshi_server::json::Json;
use munshi_server::options::Peer;
use munshi_server::page_phrases::PagePhrases;
use munshi_server::visitor::binding_lookup;
use munshi_server::visitor::installation_access::is_keeper;
use munshi_server::visitor::origin::strip_port;
use serde::Serialize;
use utoipa::ToSchema;

use super::binding_links::{self, BindingLink};
use crate::app::App;
use crate::app::onboarding::OnboardingService;
use crate::pages::{LetterAvatar, TONES};
use crate::routes::visits::show::render_chat;

#[derive(Serialize, ToSchema)]
#[schema(as = Home)]
pub(crate) struct HomeResponse {
    name: &'static str,
    version: &'static str,
    /// Links to continue from.
    links: BTreeMap<&'static str, &'static str>,
}

/// Home page: HTML for browsers, JSON for other clients. On a binding's host, the binding's page.
#[utoipa::path(get, path = "/", tag = "home", responses(
    (status = 200, description = "The home page.", content((HomeResponse = "application/json"), (String = "text/html"))),
))]
pub(crate) async fn show_home(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut response = if accepted.contains("text/html") {
        render_page(&app, peer.map(|Extension(peer)| peer), &headers).await?
    } else {
        Json(home()).into_response()
    };
    response.headers_mut().append(VARY, HeaderValue::from_static("accept, accept-language, cookie, host"));
    Ok(response)
}

fn home() -> HomeResponse {
    let links = BTreeMap::from([
        ("health", "/healthz"),
        ("metrics", "/metrics"),
        ("openapi", "/openapi.json"),
        ("readiness", "/readyz"),
    ]);
    HomeResponse { name: "Munshi", version: env!("CARGO_PKG_VERSION"), links }
}

async fn render_page(app: &App, peer: Option<Peer>, headers: &HeaderMap) -> Result<Response, ApiError> {
    let words = PagePhrases::from_headers(headers);
    let Ok(api) = app.api() else { return Ok(HtmlPage(HomePage::for_strangers(words)).into_response()) };
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).map(strip_port).unwrap_or_default();
    if let Some(place) = binding_lookup::find_by_host(api, host).await? {
        return render_chat(api, &place, (peer.as_ref(), headers)).await;
    }
    if !is_keeper(api, peer.as_ref(), headers).await? {
        return Ok(HtmlPage(HomePage::for_strangers(words)).into_response());
    }
    let (doors, tenants) = binding_links::list_all(api).await?;
    let starting = api.visitor_services.starting.as_deref();
    let ready = starting.map(|starting| starting.list_ready_tenants(words.locale())).unwrap_or_default();
    let ready = ready.into_iter().filter(|one| !tenants.contains(&one.tenant));
    let has_accounts = api.db.platform(OPERATORS).read(operators::has_any).await?;
    Ok(HtmlPage(HomePage {
        words,
        is_keeper: true,
        has_accounts,
        doors,
        ready: ready.zip(0..).map(|(one, at)| ReadyCard::new(one.tenant.as_str(), one.about, at)).collect(),
        providers: starting.map(OnboardingService::providers).unwrap_or_default(),
        has_models: starting.is_some_and(OnboardingService::has_models),
        version: env!("CARGO_PKG_VERSION"),
    })
    .into_response())
}

/// A tenant that can be made at once.
struct ReadyCard {
    tenant: String,
    /// As people write it.
    name: String,
    about: String,
    face: LetterAvatar,
}

impl ReadyCard {
    /// Beside each other they differ in colour.
    fn new(tenant: &str, about: String, at: u32) -> Self {
        let face = LetterAvatar { tone: at % TONES, ..LetterAvatar::of(tenant) };
        let name = format!("{}{}", face.letter, tenant.chars().skip(1).collect::<String>());
        Self { tenant: tenant.to_owned(), name, about, face }
    }
}

#[derive(Template)]
#[template(path = "home.html")]
pub(crate) struct HomePage {
    words: PagePhrases,
    is_keeper: bool,
    /// Whether there is anybody who could sign in.
    has_accounts: bool,
    doors: Vec<BindingLink>,
    ready: Vec<ReadyCard>,
    providers: Vec<(String, String)>,
    has_models: bool,
    version: &'static str,
}

impl HomePage {
    /// Who is not known learns nothing of who is here.
    fn for_strangers(words: PagePhrases) -> Self {
        Self {
            words,
            is_keeper: false,
            has_accounts: true,
            doors: Vec::new(),
            ready: Vec::new(),
            providers: Vec::new(),
            has_models: false,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(text: &str) -> Self {
        Self {
            words: PagePhrases::from_headers(&HeaderMap::new()),
            is_keeper: true,
            has_accounts: true,
            doors: vec![BindingLink::sample(text)],
            ready: vec![ReadyCard::new(text, text.to_owned(), 0)],
            providers: vec![(text.to_owned(), text.to_owned())],
            has_models: true,
            version: "1",
        }
    }
}
