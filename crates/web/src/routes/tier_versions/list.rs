//! `GET /v1/tiers/{kind}/{name}/versions`: how a tier came about.

use munshi_tiers::history;
use munshi_types::tier::{TierKind, TierName};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::Key;
use crate::api::ask::{Asked, AtBoth, Limit, Listed};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::tier::TierVersion;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The `next` of the page before.
    after: Option<String>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// A tier's versions, the newest first, each with the keys that changed.
#[utoipa::path(get, path = "/v1/tiers/{kind}/{name}/versions", tag = "tier_versions",
    params(
        ("kind" = crate::routes::tiers::list::Kind, Path, description = "`human`, `team`, `agent` or `binding`."),
        ("name" = String, Path, description = "Which one.", max_length = 63, example = "meera"),
        Which,
    ),
    responses((status = 200, description = "Some of them.", body = Listed<TierVersion>)))]
pub(crate) async fn list_tier_versions(
    key: Key,
    AtBoth(kind, name): AtBoth<TierKind, TierName>,
    Asked(which): Asked<Which>,
) -> Result<Json<Listed<TierVersion>>, ApiError> {
    let tenant = key.api.tenant(key.tenant()).await?;
    let log = history::log(&key.api.db, &tenant.name, kind, &name).await?;
    // Numbers that fall, written so that they rise.
    let place = |entry: &history::Entry| format!("{:010}", u32::MAX - entry.version.version);
    let listed = Listed::by_name(log.versions, which.after.as_deref(), which.limit, place);
    Ok(Json(Listed { items: listed.items.into_iter().map(Into::into).collect(), next: listed.next }))
}
