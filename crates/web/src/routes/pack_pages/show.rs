//! `GET /pages/{tenant}/{pack}/{path}`: a page that a pack brings.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::REFERRER_POLICY;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use munshi_identity::{Principal, PrincipalStanding, authorize};
use munshi_pack::{PackFormKeys, PackPageBody, PackPageContent, PackPageHandler, PackPageRequest};
use munshi_safety::policy;
use munshi_server::account::signed_in_operator::SignedInOperator;
use munshi_server::error::ApiError;
use munshi_server::html_page::render_uncached;
use munshi_server::json::Json;
use munshi_server::local_path;
use munshi_server::page_phrases::PagePhrases;
use munshi_store::{PlatformTx, Tx, tenants};
use munshi_types::{RunId, Tenant, TenantId, TenantName, TenantStatus};

use crate::app::App;
use crate::app::api::Api;

/// The pack's part of a page; the pack has escaped what others wrote.
#[derive(Template)]
#[template(path = "pack_page.html")]
pub(crate) struct PackPage {
    title: String,
    body: String,
    /// Whether it has a heading of its own.
    headed: bool,
}

/// For whoever may not see a page. It is the same whether there is such a page or not.
#[derive(Template)]
#[template(path = "closed_page.html")]
pub(crate) struct ClosedPage {
    words: PagePhrases,
    /// Where to sign in; empty for those who are.
    sign_in: String,
}

pub(crate) async fn show_first_page(
    state: State<App>,
    Path((tenant, pack)): Path<(String, String)>,
    query: RawQuery,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    show_pack_page(state, Path((tenant, pack, String::new())), query, headers, uri).await
}

pub(crate) async fn show_pack_page(
    State(app): State<App>,
    Path((tenant, pack, path)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, ApiError> {
    let api = app.api()?;
    let who = SignedInOperator::find(api, &headers).await?;
    let closed = || ClosedPage::respond(who.is_some(), &headers, &uri);
    let Some(tenant) = find_tenant(api, &tenant).await? else { return Ok(closed()) };
    let Some((page, rest)) = api.visitor_services.packs.find_page(&pack, &path) else { return Ok(closed()) };
    let visit = PackPageRequest {
        principal: find_principal(who.as_ref(), &tenant).await?,
        rest: rest.to_owned(),
        query: serde_urlencoded::from_str(query.as_deref().unwrap_or_default()).unwrap_or_default(),
        language: None,
        now: api.clock.now(),
        zone: tenant.zone.clone(),
        form: who
            .as_ref()
            .map(|who| PackFormKeys::new(who.form_token(), api.ids.next::<RunId>().to_string())),
    };
    match find_content(api, tenant.id, (&pack, page), visit).await? {
        Some(shown) => Ok(render_content(shown)),
        None => Ok(closed()),
    }
}

/// By its name, as people write it, or by its id, as links have it. One that is not open has no pages.
pub(super) async fn find_tenant(api: &Api, text: &str) -> Result<Option<Tenant>, ApiError> {
    let (id, name) = (text.parse::<TenantId>(), text.parse::<TenantName>());
    let read = move |tx: &mut PlatformTx<'_>| match (id, name) {
        (Ok(id), _) => tenants::find(tx, id),
        (Err(_), Ok(name)) => tenants::find_by_name(tx, &name),
        (Err(_), Err(_)) => Ok(None),
    };
    let found = api.db.platform(tenants::TENANTS).read(read).await?;
    Ok(found.filter(|tenant| tenant.status == TenantStatus::Active))
}

/// An operator in the role they have here; everybody else is nobody, whatever they are elsewhere.
pub(super) async fn find_principal(
    who: Option<&SignedInOperator>,
    tenant: &Tenant,
) -> Result<Principal, ApiError> {
    let role = match who {
        Some(who) => who.find_workspace(tenant.id).await?.map(|workspace| workspace.role),
        None => None,
    };
    let nobody = Principal::anonymous(tenant.id);
    Ok(match role {
        Some(role) => Principal { standing: PrincipalStanding::Member(role), ..nobody },
        None => nobody,
    })
}

/// The page, for those whom the policy or a key of the page's own lets see it.
async fn find_content(
    api: &Api,
    tenant: TenantId,
    (pack, page): (&str, &Arc<dyn PackPageHandler>),
    visit: PackPageRequest,
) -> Result<Option<PackPageContent>, ApiError> {
    let (pack, page) = (pack.to_owned(), page.clone());
    let read = move |tx: &mut Tx<'_>| -> munshi_safety::Result<Option<PackPageContent>> {
        let (_, policy) = policy::load_current(tx)?;
        let may = authorize(&visit.principal, &policy.roles, page.scope(), false, page.reach()).is_ok();
        if !policy.packs.has(&pack) || (!may && !page.allows_link_access(tx, &visit)?) {
            return Ok(None);
        }
        Ok(page.show(tx, &visit)?)
    };
    api.db.read(tenant, read).await.map_err(ApiError::from)
}

pub(super) fn render_content(shown: PackPageContent) -> Response {
    let mut response = match shown.body {
        PackPageBody::Html(html) => {
            let body = html.as_str().to_owned();
            let headed = body.contains("<h1>");
            render_uncached(&PackPage { title: shown.title, body, headed }, StatusCode::OK)
        }
        PackPageBody::Json(value) => Json(value).into_response(),
    };
    // The address may hold a key: it is told to nobody.
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

impl ClosedPage {
    pub(super) fn respond(is_signed_in: bool, headers: &HeaderMap, uri: &Uri) -> Response {
        let back = uri.path_and_query().map_or("/account", |path| path.as_str());
        let sign_in = match is_signed_in {
            true => String::new(),
            false => format!("/account/sign-in?next={}", local_path::percent_encode(back)),
        };
        render_uncached(&Self { words: PagePhrases::from_headers(headers), sign_in }, StatusCode::NOT_FOUND)
    }

    #[cfg(test)]
    pub(crate) fn sample(text: &str) -> Self {
        Self { words: PagePhrases::from_headers(&HeaderMap::new()), sign_in: text.to_owned() }
    }
}

#[cfg(test)]
impl PackPage {
    pub(crate) fn sample(text: &str) -> Self {
        #[derive(Template)]
        #[template(ext = "html", source = "<p>{{ text }}</p>")]
        struct Body<'a> {
            text: &'a str,
        }
        let body = Body { text }.render().unwrap_or_default();
        Self { title: text.to_owned(), body, headed: false }
    }
}
