//! `GET /v1/tiers`: humans, teams, agents and bindings.

use munshi_tiers::history;
use munshi_types::tier::TierKind;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::access::Key;
use crate::api::ask::{Asked, Limit, Listed};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::tier::Tier;

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Human,
    Team,
    Agent,
    Binding,
}

impl Kind {
    const fn kind(self) -> TierKind {
        match self {
            Self::Human => TierKind::Human,
            Self::Team => TierKind::Team,
            Self::Agent => TierKind::Agent,
            Self::Binding => TierKind::Binding,
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only these.
    kind: Option<Kind>,
    /// The `next` of the page before.
    after: Option<String>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<Limit>,
}

/// Humans, teams, agents and bindings, by kind and name, archived ones too.
#[utoipa::path(get, path = "/v1/tiers", tag = "tiers", params(Which),
    responses((status = 200, description = "Some of them.", body = Listed<Tier>)))]
pub(crate) async fn list_tiers(key: Key, Asked(which): Asked<Which>) -> Result<Json<Listed<Tier>>, ApiError> {
    let tenant = key.api.tenant(key.tenant()).await?;
    let tiers = history::tiers(&key.api.db, &tenant.name).await?;
    let wanted = which.kind.map(Kind::kind);
    let tiers: Vec<_> =
        tiers.into_iter().filter(|tier| wanted.is_none_or(|kind| tier.kind == kind)).collect();
    let titled = |tier: &munshi_tiers::plan::Stored| format!("{}.{}", tier.kind.as_str(), tier.name);
    let listed = Listed::by_name(tiers, which.after.as_deref(), which.limit, titled);
    Ok(Json(Listed { items: listed.items.iter().map(Tier::from).collect(), next: listed.next }))
}
