//! `POST /start/key`: tries a model's key, and keeps nothing of it.

use axum::extract::State;
use axum::http::HeaderMap;
use munshi_types::is_unseen;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::account::words::PagePhrases;
use crate::api::ask::invalid;
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::visitor::here::Keeper;
use crate::visitor::starting::{ModelKeyTrial, ModelKeyTrialResult};

/// A key to try.
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

/// Asks a model something with a key, once, and says in plain words what came of it. Nothing is kept.
#[utoipa::path(post, path = "/start/key", tag = "start",
    responses((status = 200, description = "What came of it.", body = ModelKeyTrialResult)))]
pub(crate) async fn try_start(
    State(app): State<App>,
    _keeper: Keeper,
    headers: HeaderMap,
    Json(wish): Json<ModelKey>,
) -> Result<Json<ModelKeyTrialResult>, ApiError> {
    let api = app.api()?;
    let none = || ApiError::new(ApiErrorCode::NotFound, "Keys can't be tried here.");
    let starting = api.visits.starting.as_ref().ok_or_else(none)?;
    let is_plain = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && !text.chars().any(|c| is_unseen(c) || c.is_whitespace())
    };
    let (model, key) = (wish.model.trim().to_owned(), wish.key.trim().to_owned());
    if !is_plain(&model, 200) {
        return Err(invalid("model", "write the model's name as its provider does"));
    }
    if !is_plain(&key, 500) {
        return Err(invalid("key", "a key is one word without spaces: copy it again"));
    }
    if !starting.providers().iter().any(|(name, _)| *name == wish.provider) {
        return Err(invalid("provider", "choose one of the list"));
    }
    let wish = ModelKeyTrial { provider: wish.provider, model, key };
    Ok(Json(starting.try_key(wish, PagePhrases::of(&headers).voice()).await?))
}
