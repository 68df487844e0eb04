//! `POST /start/open`: makes a tenant that comes ready, for whoever sits at this machine.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::ApiState;
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::visitor::here::Keeper;
use crate::visitor::origin::PageOrigin;
use crate::visitor::starting::OnboardingService;
use crate::visitor::token::VisitorToken;

/// Which one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReadyTenant)]
pub(crate) struct OpenTenantRequest {
    #[schema(value_type = String, example = "kirana")]
    tenant: TenantName,
}

/// Where to go on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Opened)]
pub(crate) struct OpenTenantResponse {
    #[schema(example = "/c/kirana-counter")]
    page: String,
}

/// Makes a tenant that comes ready in the binary, owned by this browser. One that is there already is left alone.
#[utoipa::path(post, path = "/start/open", tag = "start",
    responses((status = 200, description = "It is there.", body = OpenTenantResponse)))]
pub(crate) async fn open_start(
    State(app): State<App>,
    _keeper: Keeper,
    headers: HeaderMap,
    Json(wish): Json<OpenTenantRequest>,
) -> Result<Response, ApiError> {
    let api = app.api()?;
    let none = || {
        ApiError::new(ApiErrorCode::NotFound, "No such tenant comes ready.")
            .hint("`munshi apply DIR` brings one of a folder.")
    };
    let starting = api.visits.starting.as_ref().ok_or_else(none)?;
    if !starting.has(&wish.tenant) {
        return Err(none());
    }
    let line = PageOrigin::of(&headers).over(api.account.line(&headers)).line();
    let token = owners_token(api, starting.as_ref(), VisitorToken::of_cookie(&headers, line)).await?;
    let address = token.address().map_err(ApiError::internal)?;
    let opened = starting.open(&wish.tenant, &address).await?.ok_or_else(|| {
        ApiError::new(ApiErrorCode::Conflict, "It is there already, and somebody owns it.")
            .hint("Open its page, and sign in.")
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
