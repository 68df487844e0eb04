//! `POST /start/key`: tries a model's key, and keeps nothing of it.

use axum::extract::State;
use axum::http::HeaderMap;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::page_phrases::PagePhrases;
use munshi_server::parameters::field_error;
use munshi_server::visitor::installation_access::Keeper;
use munshi_types::is_invisible;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::app::onboarding::{ModelKeyTrial, ModelKeyTrialResult};

/// A model key to test.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelKey {
    #[schema(example = "anthropic")]
    provider: String,
    #[schema(max_length = 200, example = "claude-sonnet-4-5")]
    model: String,
    #[schema(max_length = 500)]
    key: String,
}

/// Test a model key with one request and report the result in plain words. Nothing is stored.
#[utoipa::path(post, path = "/start/key", tag = "start",
    responses((status = 200, description = "The result.", body = ModelKeyTrialResult)))]
pub(crate) async fn try_start(
    State(app): State<App>,
    _keeper: Keeper,
    headers: HeaderMap,
    Json(wish): Json<ModelKey>,
) -> Result<Json<ModelKeyTrialResult>, ApiError> {
    let api = app.api()?;
    let none =
        || ApiError::new(ApiErrorCode::NotFound, "Testing model keys is not available on this server.");
    let starting = api.visitor_services.starting.as_ref().ok_or_else(none)?;
    let is_plain = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && !text.chars().any(|c| is_invisible(c) || c.is_whitespace())
    };
    let (model, key) = (wish.model.trim().to_owned(), wish.key.trim().to_owned());
    if !is_plain(&model, 200) {
        return Err(field_error("model", "use the model's name as its provider spells it"));
    }
    if !is_plain(&key, 500) {
        return Err(field_error("key", "must be one word without spaces: copy it again"));
    }
    if !starting.providers().iter().any(|(name, _)| *name == wish.provider) {
        return Err(field_error("provider", "choose a provider from the list"));
    }
    let wish = ModelKeyTrial { provider: wish.provider, model, key };
    Ok(Json(starting.try_key(wish, PagePhrases::from_headers(&headers).locale()).await?))
}
