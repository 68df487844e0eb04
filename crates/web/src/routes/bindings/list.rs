//! `GET /v1/bindings`: whom one can write to.

use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters};
use munshi_tiers::history;
use munshi_types::{BindingId, Id};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::tier::BindingView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListBindingsQuery {
    /// The `next` of the previous page.
    after: Option<String>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List the bindings accessible with this key, by name, including archived ones.
#[utoipa::path(get, path = "/v1/bindings", tag = "bindings", params(ListBindingsQuery),
    responses((status = 200, description = "A page of bindings.", body = ListResponse<BindingView>)))]
pub(crate) async fn list_bindings(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListBindingsQuery>,
) -> Result<Json<ListResponse<BindingView>>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let reached = tiers.iter().filter(|tier| key.reaches(BindingId::from_uuid(tier.id.as_uuid())));
    let bindings: Vec<BindingView> = reached.filter_map(BindingView::of).collect();
    Ok(Json(ListResponse::paginate_by_name(bindings, which.after.as_deref(), which.limit, |one| {
        one.name.to_string()
    })))
}
