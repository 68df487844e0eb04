//! `GET /v1/tiers/{kind}/{name}`: one tier at one version.

use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{UrlPathParameterPair, UrlQueryParameters};
use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::views::tier::TierDetailView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowTierQuery {
    /// Default: the current version.
    #[param(minimum = 1)]
    version: Option<u32>,
}

/// Get a tier with every value, including defaults; for an agent, with everything it extends.
#[utoipa::path(get, path = "/v1/tiers/{kind}/{name}", tag = "tiers",
    params(
        ("kind" = inline(crate::routes::tiers::list::TierKindParameter), Path, description = "`human`, `team`, `agent` or `binding`."),
        ("name" = String, Path, description = "The name of the tier.", max_length = 63, example = "meera"),
        ShowTierQuery,
    ),
    responses((status = 200, description = "The tier.", body = TierDetailView)))]
pub(crate) async fn read_tier(
    key: AuthorizedCaller,
    UrlPathParameterPair(kind, name): UrlPathParameterPair<TierKind, TierName>,
    UrlQueryParameters(which): UrlQueryParameters<ShowTierQuery>,
) -> Result<Json<TierDetailView>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    Ok(Json(history::show(&key.api.db, &tenant.name, kind, &name, which.version).await?.into()))
}
