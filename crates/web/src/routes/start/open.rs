//! `POST /start/open`: makes a tenant that comes ready, for whoever sits at this machine.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use munshi_types::TenantName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::Inner;
use crate::app::App;
use crate::error::{ApiError, Code};
use crate::json::Json;
use crate::visitor::here::Keeper;
use crate::visitor::origin::Origin;
use crate::visitor::starting::Starting;
use crate::visitor::token::Token;

/// Which one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadyTenant {
    #[schema(value_type = String, example = "kirana")]
    tenant: TenantName,
}

/// Where to go on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Opened {
    #[schema(example = "/c/kirana-counter")]
    page: String,
}

/// Makes a tenant that comes ready in the binary, owned by this browser. One that is there already is left alone.
#[utoipa::path(post, path = "/start/open", tag = "start",
    responses((status = 200, description = "It is there.", body = Opened)))]
pub(crate) async fn open_start(
    State(app): State<App>,
    _keeper: Keeper,
    headers: HeaderMap,
    Json(wish): Json<ReadyTenant>,
) -> Result<Response, ApiError> {
    let api = app.api()?;
    let none = || {
        ApiError::new(Code::NotFound, "No such tenant comes ready.")
            .hint("`munshi apply DIR` brings one of a folder.")
    };
    let starting = api.visits.starting.as_ref().ok_or_else(none)?;
    if !starting.has(&wish.tenant) {
        return Err(none());
    }
    let line = Origin::of(&headers).over(api.account.line(&headers)).line();
    let token = owners_token(api, starting.as_ref(), Token::of_cookie(&headers, line)).await?;
    let address = token.address().map_err(ApiError::internal)?;
    let opened = starting.open(&wish.tenant, &address).await?.ok_or_else(|| {
        ApiError::new(Code::Conflict, "It is there already, and somebody owns it.")
            .hint("Open its page, and sign in.")
    })?;
    let mut response = Json(Opened { page: format!("/c/{opened}") }).into_response();
    response.headers_mut().extend(token.cookie(line).map(|cookie| (SET_COOKIE, cookie)));
    Ok(response)
}

/// A fresh one: whatever the browser has may have been planted by a page on another port of this machine. Only who owns a
/// ready tenant by it already keeps it, or they would lose that.
async fn owners_token(api: &Inner, starting: &dyn Starting, sent: Option<Token>) -> Result<Token, ApiError> {
    if let Some(token) = sent {
        let address = token.address().map_err(ApiError::internal)?;
        if starting.is_owner(&address).await? {
            return Ok(token);
        }
    }
    Ok(Token::random(api.random.as_ref()))
}
