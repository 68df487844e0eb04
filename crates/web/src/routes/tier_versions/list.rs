//! `GET /v1/tiers/{kind}/{name}/versions`: how a tier came about.

use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlPathParameterPair, UrlQueryParameters};
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::tier::TierVersion;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListTierVersionsQuery {
    /// The `next` of the previous page.
    after: Option<String>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List a tier's versions, newest first, each with the keys that changed.
#[utoipa::path(get, path = "/v1/tiers/{kind}/{name}/versions", tag = "tier_versions",
    params(
        ("kind" = inline(crate::routes::tiers::list::TierKindParameter), Path, description = "`human`, `team`, `agent` or `binding`."),
        ("name" = String, Path, description = "The name of the tier.", max_length = 63, example = "meera"),
        ListTierVersionsQuery,
    ),
    responses((status = 200, description = "A page of versions.", body = ListResponse<TierVersion>)))]
pub(crate) async fn list_tier_versions(
    key: AuthorizedCaller,
    UrlPathParameterPair(kind, name): UrlPathParameterPair<TierKind, TierName>,
    UrlQueryParameters(which): UrlQueryParameters<ListTierVersionsQuery>,
) -> Result<Json<ListResponse<TierVersion>>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let log = history::load(&key.api.db, &tenant.name, kind, &name).await?;
    // Numbers that fall, written so that they rise.
    let place = |entry: &history::TierHistoryEntry| format!("{:010}", u32::MAX - entry.version.version);
    let listed = ListResponse::paginate_by_name(log.versions, which.after.as_deref(), which.limit, place);
    Ok(Json(ListResponse { items: listed.items.into_iter().map(Into::into).collect(), next: listed.next }))
}
