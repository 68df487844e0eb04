//! `POST /start/open`: makes a tenant that comes ready, for whoever sits at this machine.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::visitor::installation_access::Keeper;
use munshi_server::visitor::origin::PageOrigin;
use munshi_server::visitor::token::VisitorToken;
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::app::api::ApiState;
use crate::app::onboarding::OnboardingService;

/// The sample tenant to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReadyTenant)]
pub(crate) struct OpenTenantRequest {
    #[schema(value_type = String, example = "kirana")]
    tenant: TenantName,
}

/// Where to continue.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Opened)]
pub(crate) struct OpenTenantResponse {
    #[schema(example = "/c/kirana-counter")]
    page: String,
}

/// Create a tenant from a sample in the binary, owned by this browser. An existing tenant is unchanged.
#[utoipa::path(post, path = "/start/open", tag = "start",
    responses((status = 200, description = "The tenant exists.", body = OpenTenantResponse)))]
pub(crate) async fn open_start(
    State(app): State<App>,
    _keeper: Keeper,
    headers: HeaderMap,
    Json(wish): Json<OpenTenantRequest>,
) -> Result<Response, ApiError> {
    let api = app.api()?;
    let none = || {
        ApiError::new(ApiErrorCode::NotFound, "No such sample tenant.")
            .hint("Create one from a folder with `munshi apply DIR`.")
    };
    let starting = api.visitor_services.starting.as_ref().ok_or_else(none)?;
    if !starting.has_ready_tenant(&wish.tenant) {
        return Err(none());
    }
    let line = PageOrigin::from_headers(&headers)
        .with_security(api.account.connection_security(&headers))
        .connection_security();
    let token = owners_token(api, starting.as_ref(), VisitorToken::from_cookie(&headers, line)).await?;
    let address = token.address().map_err(ApiError::internal)?;
    let opened = starting.create_tenant(&wish.tenant, &address).await?.ok_or_else(|| {
        ApiError::new(ApiErrorCode::Conflict, "The tenant already exists and has an owner.")
            .hint("Open its page and sign in.")
    })?;
    let mut response = Json(OpenTenantResponse { page: format!("/c/{opened}") }).into_response();
    response.headers_mut().extend(token.cookie(line).map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

/// A fresh one: whatever the browser has may have been planted by a page on another port of this machine. Only who owns a
/// ready tenant by it already keeps it, or they would lose that.
async fn owners_token(
    api: &ApiState,
    starting: &dyn OnboardingService,
    sent: Option<VisitorToken>,
) -> Result<VisitorToken, ApiError> {
    if let Some(token) = sent {
        let address = token.address().map_err(ApiError::internal)?;
        if starting.is_owner(&address).await? {
            return Ok(token);
        }
    }
    Ok(VisitorToken::random(api.random.as_ref()))
}
