//! `GET /v1/models/{model}`: one binding, as a model.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};

use super::list::{ModelEntry, reached};
use crate::api::access::AuthorizedCaller;
use crate::json::Json;
use crate::openai::form::{self, CompletionRefusal};

/// One binding, as a model.
#[utoipa::path(get, path = "/v1/models/{model}", tag = "models",
    params(("model" = String, Path, description = "The binding's name.", max_length = 63, example = "counter")),
    responses((status = 200, description = "The binding.", body = ModelEntry)))]
pub(crate) async fn read_model(
    key: AuthorizedCaller,
    Path(name): Path<String>,
) -> Result<Response, CompletionRefusal> {
    let found = reached(&key).await?.into_iter().find(|model| model.id.as_str() == name);
    let mut response = Json(found.ok_or_else(|| CompletionRefusal::no_model(&name))?).into_response();
    form::count(&mut response, key.api.limits.left(&key.caller));
    Ok(response)
}
