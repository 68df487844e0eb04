//! `GET /v1/tiers/{kind}/{name}`: one tier at one version.

use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, AtBoth};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::tier::TierShown;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The one in force without it.
    #[param(minimum = 1)]
    version: Option<u32>,
}

/// One tier with every value, defaults filled in; an agent with all that it extends.
#[utoipa::path(get, path = "/v1/tiers/{kind}/{name}", tag = "tiers",
    params(
        ("kind" = crate::routes::tiers::list::Kind, Path, description = "`human`, `team`, `agent` or `binding`."),
        ("name" = String, Path, description = "Which one.", max_length = 63, example = "meera"),
        Which,
    ),
    responses((status = 200, description = "The tier.", body = TierShown)))]
pub(crate) async fn read_tier(
    key: Key,
    AtBoth(kind, name): AtBoth<TierKind, TierName>,
    Asked(which): Asked<Which>,
) -> Result<Json<TierShown>, ApiError> {
    let tenant = key.api.tenant(key.tenant()).await?;
    Ok(Json(history::show(&key.api.db, &tenant.name, kind, &name, which.version).await?.into()))
}
