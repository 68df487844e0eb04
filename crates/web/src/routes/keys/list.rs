//! `GET /v1/keys`: keys, newest first; never the keys themselves.

use munshi_identity::keys;
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::api::ask::{ListLimit, ListResponse, UrlQueryParameters, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::key::ApiKey;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListKeysQuery {
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// Keys, newest first, those that were revoked or have ended too.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(ListKeysQuery),
    responses((status = 200, description = "Some of them.", body = ListResponse<ApiKey>)))]
pub(crate) async fn list_keys(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListKeysQuery>,
) -> Result<Json<ListResponse<ApiKey>>, ApiError> {
    let request = page(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| keys::list(tx, &request)).await?;
    Ok(Json(ListResponse::of(found, |key| Some(key.into()))))
}
