//! `GET /v1/models/{model}`: one binding, as a model.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use munshi_server::json::Json;

use super::list::{ModelEntry, list_reachable};
use crate::api::access::AuthorizedCaller;
use crate::openai::errors::{self, CompletionRefusal};

/// Get a binding in OpenAI's model format.
#[utoipa::path(get, path = "/v1/models/{model}", tag = "models",
    params(("model" = String, Path, description = "The binding's name.", max_length = 63, example = "counter")),
    responses((status = 200, description = "The model.", body = ModelEntry)))]
pub(crate) async fn read_model(
    key: AuthorizedCaller,
    Path(name): Path<String>,
) -> Result<Response, CompletionRefusal> {
    let found = list_reachable(&key).await?.into_iter().find(|model| model.id.as_str() == name);
    let mut response = Json(found.ok_or_else(|| CompletionRefusal::no_model(&name))?).into_response();
    errors::set_rate_limit_headers(&mut response, key.api.limits.key_status(&key.caller));
    Ok(response)
}
