//! `GET /v1/keys`: keys, newest first; never the keys themselves.

use munshi_identity::keys;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters, build_page_request};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::key::ApiKey;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListKeysQuery {
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List keys, newest first, including revoked and expired ones.
#[utoipa::path(get, path = "/v1/keys", tag = "keys", params(ListKeysQuery),
    responses((status = 200, description = "A page of keys.", body = ListResponse<ApiKey>)))]
pub(crate) async fn list_keys(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListKeysQuery>,
) -> Result<Json<ListResponse<ApiKey>>, ApiError> {
    let request = build_page_request(which.after, which.limit);
    let found = key.api.db.read(key.tenant(), move |tx| keys::list(tx, &request)).await?;
    Ok(Json(ListResponse::from_page(found, |key| Some(key.into()))))
}
