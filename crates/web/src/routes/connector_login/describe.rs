//! `GET /connectors/client.json`: who we are, for services that know their clients by the address of a document.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use munshi_connectors::login::OAuthReturnUrls;
use munshi_server::error::ApiError;
use serde_json::{Value, json};

use crate::app::App;

pub(crate) async fn describe_connector_client(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    let back = OAuthReturnUrls::from_base(&app.api()?.build_url(&headers, ""));
    let id =
        back.document.ok_or_else(|| ApiError::from_code(munshi_server::error::ApiErrorCode::NotFound))?;
    Ok(Json(json!({
        "client_id": id, "client_name": "Munshi", "redirect_uris": [back.redirect],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none", "application_type": "web",
    })))
}
