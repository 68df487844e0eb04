//! `GET /v1/keys/{id}`: one key, but not its text.

use munshi_identity::keys;
use munshi_server::error::ApiError;
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_types::KeyId;

use crate::api::access::AuthorizedCaller;
use crate::views::key::ApiKey;

/// Get a key, without its text.
#[utoipa::path(get, path = "/v1/keys/{id}", tag = "keys",
    params(("id" = uuid::Uuid, Path, description = "The key.")),
    responses((status = 200, description = "The key.", body = ApiKey)))]
pub(crate) async fn read_key(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<KeyId>,
) -> Result<Json<ApiKey>, ApiError> {
    let found = key.api.db.read(key.tenant(), move |tx| keys::find(tx, id)).await?;
    found.map(|found| Json(found.into())).ok_or_else(|| not_found_error("key", &id.to_string()))
}
